# SPDX-License-Identifier: Apache-2.0
"""Kinds with equal requirements that differ only in a cohesive set.

Patterns with the same total of both kinds differ only in the members of the
cohesive set. It is sufficient to keep the pattern of the highest value.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.problem.kinds import Kinds

Pair = tuple[int, int]
"""A kind in the cohesive set, and the equal kind outside it."""


@dataclass(frozen=True, slots=True, eq=False)
class Dominance:
    """Pairs of kinds with equal requirements, of which one requests more.

    :ivar sets: pairs with the same difference of amounts, and the difference
    """

    sets: tuple[tuple[tuple[Pair, ...], np.ndarray], ...]

    @classmethod
    def of(cls, kinds: Kinds, amounts: np.ndarray) -> 'Dominance':
        """Find the pairs of kinds with equal requirements.

        :param amounts: [kind, resource]
        """
        found: dict[tuple[int, ...], list[Pair]] = {}
        every = [kind.requirements for kind in kinds.kinds]
        for one, requirements in enumerate(every):
            for other, others in enumerate(every):
                more = amounts[one] - amounts[other]
                some = more[more != 0]
                if requirements == others and len(some) and some[0] > 0:
                    found.setdefault(tuple(more.tolist()), []).append(
                        (one, other))
        return cls(tuple((tuple(pairs), np.array(more))
                         for more, pairs in found.items()))

    def dominated(self, members: np.ndarray, free: np.ndarray,
                  room: np.ndarray, fine: np.ndarray, prices: np.ndarray,
                  to_come: Sequence[int]) -> np.ndarray:
        """Mask of dominated patterns: for any members that are added later, a
        pattern that is not dominated is at least as good.

        :param members: [pattern, kind]
        :param free: [pattern, resource]: amounts that remain free
        :param room: [pattern, kind]: maximum on the host
        :param fine: [pattern, kind]: whether the room is at least the number
            of members that fit into the free amounts of the host
        :param prices: [kind]
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
                # A member of the first kind could replace a member of the
                # other kind.
                open_ = (members[:, other] > 0) & (
                    members[:, one] < room[:, one])
                for third, fourth in rank[place + 1:]:
                    # This pair gains less from the cohesive set.
                    found |= open_ & (members[:, third] > 0) & (
                        fine[:, fourth])
                rest = [pair for pair in rank[place + 1:] if pair[0] in later]
                if prices[one] >= prices[other] and not any(
                        pair[0] in later for pair in rank[:place]):
                    # Members that are added later do not need that place.
                    found |= open_ & (free >= more).all(axis=1) & fine[
                        :, [pair[1] for pair in rest]].all(axis=1)
        return found
