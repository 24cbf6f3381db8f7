# SPDX-License-Identifier: Apache-2.0
"""The placement table: the database of groups, their members, and the work of
engines.

``changes`` writes groups and members, ``coordination`` other rows that
processes share, and ``history`` events. ``queries`` reads groups.
"""
