# SPDX-License-Identifier: Apache-2.0
"""Rows that processes share in addition to groups and members: tasks, plans,
boots, bindings, refusals and others."""
