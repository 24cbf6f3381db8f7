# SPDX-License-Identifier: Apache-2.0
"""Request groups whose providers must be in one subtree of a host.

This is Placement's ``same_subtree``: the provider of one group of the set is
also the provider of each other group, or is above that provider.
"""

from collections.abc import Collection, Sequence
from collections import Counter
from dataclasses import dataclass

from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.trees.demand import Demand, Part


@dataclass(frozen=True, slots=True)
class Subtree:
    """A set of request groups that need one subtree, or several equal sets.

    :ivar groups: each demand of the set, and its number of groups
    """

    groups: tuple[tuple[Demand, int], ...]

    @property
    def title(self) -> str:
        """The request in words, for error messages."""
        groups = ', '.join(f'{number} x ({demand.title})'
                           for demand, number in self.groups)
        return f'{groups} of one subtree'

    def amount(self, wanted: Requirements) -> int:
        """Number of such sets in the requirements of a member, without sets
        that share a group with an earlier set."""
        used: set[str] = set()
        number = 0
        for suffixes in wanted.same_subtree:
            if _set_of(suffixes, wanted) == self and not used & suffixes:
                used |= suffixes
                number += 1
        return number

    def capacity(self, parts: Sequence[Part]) -> int:
        """An upper limit on the number of such sets that a host can serve.

        :param parts: the providers of the host
        """
        return sum(
            min(sum(part.most(demand) for part in parts
                    if top in part.above) // number
                for demand, number in self.groups)
            for top, provider in enumerate(parts)
            # The topmost provider of a set serves at least one group itself.
            if any(provider.most(demand) for demand, _ in self.groups))


def subtrees(requirements: Collection[Requirements]) -> tuple[Subtree, ...]:
    """The distinct sets in the requirements of these members."""
    return tuple(dict.fromkeys(
        _set_of(suffixes, each) for each in requirements
        for suffixes in each.same_subtree))


def _set_of(suffixes: frozenset[str], wanted: Requirements) -> Subtree:
    counts = Counter(Demand.of(each) for each in wanted.request_groups
                     if each.suffix in suffixes)
    return Subtree(tuple(sorted(
        counts.items(), key=lambda item: item[0].title)))
