# SPDX-License-Identifier: Apache-2.0
"""Groups, topologies, snapshots and plans.

They are immutable, and use only the standard library: neither JSON, SQL and
RPC nor a solver.
"""
