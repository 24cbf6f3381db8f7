# SPDX-License-Identifier: Apache-2.0
"""Hosts in a Placement, a placement table, and holds, for tests to use."""
