# SPDX-License-Identifier: Apache-2.0
"""Limits of exact methods for small groups."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SmallGroupsLimits:
    """Limits of exact methods for small groups: of dynamic programs, and of
    programs of patterns. Each number is a maximum. Chosen by
    benchmarks/small_groups.py, and those of patterns by the smallest plain and
    related groups of benchmarks/grid.py.

    :ivar pairs: pairs of states that one domain can hold together. With half
        the value, two related tiers of 15 members have gaps of 10 to 93 %.
    :ivar places: states times hosts, so that the costs take 80 MB at most.
    :ivar ranges: combinations of ranges of the counts of even spreads. With a
        tenth of the value, 30 members with preferences that contradict each
        other have gaps of 90 %.
    :ivar costs: costs of pairs that are computed at the same time, which
        limits the memory. With a quarter and with four times the value, no
        effect on the time.
    :ivar pattern_members: members up to which a program of patterns closes the
        gap, bounds without policies are also proved for groups that are not
        diverse, and a program of the few hosts with room is solved.
    :ivar pattern_cells: cells of its relaxation, which has more of them than
        that of large groups.
    :ivar patterns: patterns that are enumerated. If they are more, each of
        them is kept on the cheapest hosts only.
    :ivar program_patterns: patterns of the integer program.
    :ivar partial_patterns: unfinished patterns that are kept at a time.
    :ivar compared_patterns: patterns that are compared with each other.
    :ivar pattern_states: states of members times patterns up to which dynamic
        programming replaces the integer program.
    :ivar types: host types whose patterns are enumerated together.
    :ivar cutoffs: times that the enumeration begins, each time with half of
        the distance to the cutoff.
    """

    pairs: int = 20_000
    places: int = 10_000_000
    ranges: int = 1000
    costs: int = 100_000
    pattern_members: int = 100
    pattern_cells: int = 500
    patterns: int = 30_000
    program_patterns: int = 8000
    partial_patterns: int = 200_000
    compared_patterns: int = 8000
    pattern_states: int = 100_000_000
    types: int = 200
    cutoffs: int = 5
