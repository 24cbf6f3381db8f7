# SPDX-License-Identifier: Apache-2.0
"""Groups, topologies, snapshots and plans.

Immutable values made of the standard library alone: nothing here knows JSON,
SQL, RPC or a solver.
"""
