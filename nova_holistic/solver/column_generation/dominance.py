# SPDX-License-Identifier: Apache-2.0
"""Kinds that ask the same of hosts, but for being kept together.

Patterns that hold the same number of both together differ only in which
members are in the cohesive set. The pattern of the highest worth is enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.problem.kinds import Kinds

Pair = tuple[int, int]
"""A kind in the cohesive set, and the equal kind outside of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Dominance:
    """
    :ivar sets: pairs that differ by the same amounts, and these
    """

    sets: tuple[tuple[tuple[Pair, ...], np.ndarray], ...]

    @classmethod
    def of(cls, kinds: Kinds, amounts: np.ndarray) -> 'Dominance':
        """:param amounts: [kind, resource]"""
        found: dict[tuple[int, ...], list[Pair]] = {}
        every = [kind.requirements for kind in kinds.kinds]
        for one, mine in enumerate(every):
            for other, theirs in enumerate(every):
                more = amounts[one] - amounts[other]
                some = more[more != 0]
                if mine == theirs and len(some) and some[0] > 0:
                    found.setdefault(tuple(more.tolist()), []).append(
                        (one, other))
        return cls(tuple((tuple(pairs), np.array(more))
                         for more, pairs in found.items()))

    def dominated(self, members: np.ndarray, free: np.ndarray,
                  room: np.ndarray, fine: np.ndarray, prices: np.ndarray,
                  to_come: Sequence[int]) -> np.ndarray:
        """Which patterns are no better, whoever is added to them, than one
        that is not among these.

        :param members: [pattern, kind]
        :param free: [pattern, resource]: what they leave
        :param room: [pattern, kind]: of the host
        :param fine: the same: whether the room is no less than what members
            that fit would ask for
        :param prices: of kinds
        :param to_come: kinds that may still be added
        """
        found = np.zeros(len(members), dtype=bool)
        later = set(to_come)
        for pairs, more in self.sets:
            rank = sorted(pairs, key=lambda pair: (
                prices[pair[1]] - prices[pair[0]], pair))
            for place, (one, other) in enumerate(rank):
                if later & {one, other}:
                    continue
                # Here one of the pair could take the other's place.
                open_ = (members[:, other] > 0) & (
                    members[:, one] < room[:, one])
                for third, fourth in rank[place + 1:]:
                    # For those who gain less by it.
                    found |= open_ & (members[:, third] > 0) & (
                        fine[:, fourth])
                rest = [pair for pair in rank[place + 1:] if pair[0] in later]
                if prices[one] >= prices[other] and not any(
                        pair[0] in later for pair in rank[:place]):
                    # Who comes later does not need that place.
                    found |= open_ & (free >= more).all(axis=1) & fine[
                        :, [pair[1] for pair in rest]].all(axis=1)
        return found
