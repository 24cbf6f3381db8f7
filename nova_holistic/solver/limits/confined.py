# SPDX-License-Identifier: Apache-2.0
"""Limits of bounds and plans of sets of members in one domain."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConfinedLimits:
    """Limits of bounds and plans of sets of members that policies keep in one
    domain.

    :ivar share: smallest share of the members that policies of a level must
        keep in one domain each. With few such members, bounds without these
        policies are as good.
    :ivar kinds: kinds of members, in turn: with fewer kinds, similar members
        form one kind, if the other limits are exceeded.
    :ivar patterns: patterns of members on hosts times host types.
    :ivar choices: numbers of sets of each type in one domain times classes of
        domains.
    :ivar work: hosts times patterns times numbers of members in a domain, for
        the costs of all domains; and columns times numbers of sets, for the
        best division of the sets. With half the value, sets of six types in 30
        racks have gaps of 5 to 21 % instead of 0.
    :ivar overhead: fixed part of the work of a column, in numbers of sets.
    :ivar policies: policies of groups around the sets that limit the sets in a
        domain.
    :ivar rounds: rounds of column generation.
    :ivar columns: columns of the first linear program.
    :ivar whole_columns: columns of the program of whole numbers.
    :ivar nodes: nodes of the search tree of this program.
    """

    share: float = 0.3
    kinds: tuple[int, ...] = (6, 3, 1)
    patterns: int = 2_000_000
    choices: int = 600_000
    work: int = 600_000_000
    overhead: int = 5_000
    policies: int = 500
    rounds: int = 40
    columns: int = 20_000
    whole_columns: int = 4_000
    nodes: int = 500
