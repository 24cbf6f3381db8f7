# SPDX-License-Identifier: Apache-2.0
"""Decides on which hosts the members of a group are placed."""
