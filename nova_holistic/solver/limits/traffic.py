# SPDX-License-Identifier: Apache-2.0
"""Limits of bounds and plans for traffic."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrafficLimits:
    """Limits of bounds and plans for traffic. A number is the largest one
    unless the text says otherwise.

    :ivar level_domains: domains of a level up to which its policies bound the
        counts. Not measured.
    :ivar price_discount: share by which prices are lowered while members are
        placed. Not measured.
    :ivar fixed_patterns: patterns that are fixed in turn. Not measured.
    :ivar integer_nodes: nodes of the search tree for whole numbers of members.
        Not measured.
    :ivar least_pattern_traffic: traffic of a pattern below which it is not
        fixed. Not measured.
    :ivar tried_places: other places in which a pattern is tried. Not measured.
    :ivar spare_hosts: spare hosts for members without traffic, as a share of
        the hosts that they need. Not measured.
    :ivar host_divisor: divisor of the members that a host may hold, for the
        first try. Not measured.
    :ivar cell_variables: variables of cells, above which policies are left
        out. Not measured.
    :ivar aggregate_pairs: pairs of counts of two nodes in an aggregate of
        domains. Not measured.
    :ivar rounds: rounds of pricing. Not measured.
    :ivar gap: share of the traffic by which a bound, whole numbers of members,
        or a fixed pattern may be worse. Not measured.
    :ivar branches: combinations of alternative domains that are solved. Not
        measured.
    :ivar branching_share: share of the members with traffic from which on
        alternatives of their domains are solved separately. Not measured.
    """

    level_domains: int = 1000
    price_discount: float = 0.01
    fixed_patterns: int = 24
    integer_nodes: int = 200
    least_pattern_traffic: float = 1e-3
    tried_places: int = 8
    spare_hosts: float = 0.5
    host_divisor: int = 2
    cell_variables: int = 5000
    aggregate_pairs: int = 90_000
    rounds: int = 40
    gap: float = 1e-3
    branches: int = 12
    branching_share: float = 0.02
