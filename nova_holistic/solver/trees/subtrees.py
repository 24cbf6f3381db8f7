# SPDX-License-Identifier: Apache-2.0
"""Groups whose providers must be in one subtree of a host.

As Placement's ``same_subtree``: the provider of one group of the set is the
provider of the others, or above them.
"""

from collections.abc import Collection, Sequence
from collections import Counter
from dataclasses import dataclass

from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.trees.demand import Demand, Part


@dataclass(frozen=True, slots=True)
class Subtree:
    """Sets of groups that do not differ in what they request.

    :ivar groups: how often the set requests each group
    """

    groups: tuple[tuple[Demand, int], ...]

    @property
    def title(self) -> str:
        """What it requests, as error messages say it."""
        groups = ', '.join(f'{number} x ({demand.title})'
                           for demand, number in self.groups)
        return f'{groups} of one subtree'

    def amount(self, wanted: Requirements) -> int:
        """How many such sets a member requests that share no group."""
        used: set[str] = set()
        number = 0
        for suffixes in wanted.same_subtree:
            if _set_of(suffixes, wanted) == self and not used & suffixes:
                used |= suffixes
                number += 1
        return number

    def capacity(self, parts: Sequence[Part]) -> int:
        """How many such sets a host can serve at most."""
        return sum(
            min(sum(part.most(demand) for part in parts
                    if top in part.above) // number
                for demand, number in self.groups)
            for top, provider in enumerate(parts)
            # It gives at least one group itself.
            if any(provider.most(demand) for demand, _ in self.groups))


def subtrees(requirements: Collection[Requirements]) -> tuple[Subtree, ...]:
    """The sets of these members that differ."""
    return tuple(dict.fromkeys(
        _set_of(suffixes, each) for each in requirements
        for suffixes in each.same_subtree))


def _set_of(suffixes: frozenset[str], wanted: Requirements) -> Subtree:
    counts = Counter(Demand.of(each) for each in wanted.request_groups
                     if each.suffix in suffixes)
    return Subtree(tuple(sorted(
        counts.items(), key=lambda item: item[0].title)))
