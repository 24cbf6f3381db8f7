# SPDX-License-Identifier: Apache-2.0
"""Bounds and plans of groups of independent parts that share hosts, if the
costs of hosts are convex."""
