# SPDX-License-Identifier: Apache-2.0
"""Writes allocations to Placement: the holds that reserve capacity for planned
members, and their exchange for the allocations of servers."""
