# SPDX-License-Identifier: Apache-2.0
"""What a group, a topology, a snapshot and a plan are.

Immutable values made of the standard library alone: nothing here knows JSON,
SQL, RPC or a solver.
"""
