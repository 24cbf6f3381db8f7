# SPDX-License-Identifier: Apache-2.0
"""Limits of bounds and plans for traffic."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrafficLimits:
    """Limits of bounds and plans for traffic.

    :ivar fixed_patterns: patterns that are fixed in turn. Without it the plan
        is worse on 2 and better on 1 of 22 points of benchmarks/ablation.py.
    :ivar tried_places: other places in which a pattern is tried. With 0, the
        traffic of 128 members on 1,149 hosts is 12,400 instead of 9,840 Mbit/s
        (point 146002007 of the network family of benchmarks/grid_cases.py).
    :ivar host_divisor: divisor of the members that a host may hold, for the
        first try. With 1, 1 of 6 plans is worse.
    :ivar aggregate_pairs: pairs of counts of two nodes in an aggregate of
        domains. The table of two nodes of 300 members each takes 0.1 seconds
        of processor time; that of 1,200 members each would take 9 seconds.
    :ivar nested_patterns: sizes of the tables of an aggregate of nested
        domains, times the patterns of one domain. Without such aggregates the
        bound is worse on 6 of 15 network groups of benchmarks/grid.py.
    :ivar gap: share of the traffic by which a bound, whole numbers of members,
        or a fixed pattern may be worse; traffic of a pattern below which it is
        not fixed.
    :ivar branches: combinations of alternative domains that are solved.
        Without it the bound is worse on 6 and better on 1 of 26 points of
        benchmarks/ablation.py.
    :ivar branching_share: share of the members with traffic from which on
        alternatives of their domains are solved separately. With four times
        the value, 1 of 8 plans is worse.
    :ivar cells: cells that hosts are divided into, unless the policies relate
        domains of more cells. Chosen by the network groups of
        benchmarks/grid.py.
    :ivar joint_patterns: numbers of members of all nodes in a domain up to
        which all of them are enumerated for a bound. Chosen by the smallest
        network groups of benchmarks/grid.py.
    """

    fixed_patterns: int = 24
    tried_places: int = 8
    host_divisor: int = 2
    aggregate_pairs: int = 90_000
    nested_patterns: int = 50_000_000
    gap: float = 1e-3
    branches: int = 12
    branching_share: float = 0.02
    cells: int = 8
    joint_patterns: int = 5000
