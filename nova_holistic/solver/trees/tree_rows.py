# SPDX-License-Identifier: Apache-2.0
"""The maximum that the trees of hosts can give, as resource classes.

Such a class exists in the solver's problem only. A host has as much of it as
its providers can give together, and a member needs as much as it requests.

These rows are necessary. If every group requests one unit of one class, they
are also sufficient: the providers of a host can serve the members if and only
if they can serve every set of demands alone (Hall's theorem).
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
import itertools

from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import ISOLATE
from nova_holistic.solver.limits.current import trees as tree_limits
from nova_holistic.solver.trees.demand import Demand, demands, Part
from nova_holistic.solver.trees.subtrees import subtrees

Wanted = Mapping[Requirements, Mapping[Demand, int]]
"""How often each member requests each group."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One resource class of the solver's problem.

    :ivar name: of the class, as error messages show it
    :ivar amount: amount that a member with these requirements needs
    :ivar capacity: amount that a host with these providers has
    """

    name: str
    amount: Callable[[Requirements], int]
    capacity: Callable[[Sequence[Part]], int]


def tree_rows(requirements: Collection[Requirements],
              classes: Collection[str]) -> tuple[TreeRow, ...]:
    """
    :param requirements: of all members
    :param classes: see ``demand.tree_classes``
    """
    wanted = {each: demands(each, classes) for each in requirements}
    kinds: defaultdict[frozenset[str], dict[Demand, None]] = defaultdict(dict)
    for counts in wanted.values():
        for demand in counts:
            kinds[frozenset(demand.resources)][demand] = None
    return (
        *(_set_row(chosen, wanted) for alike in kinds.values()
          for chosen in _subsets(tuple(alike))),
        *(_total_row(name, wanted) for name in sorted(classes)
          if _needs_total(name, wanted)),
        *(_isolation_row(each, counts) for each, counts in wanted.items()
          if each.group_policy == ISOLATE and len(each.request_groups) > 1),
        *(TreeRow(each.title, each.amount, each.capacity)
          for each in subtrees(requirements)))


def _subsets(alike: Sequence[Demand]) -> Sequence[Sequence[Demand]]:
    if len(alike) > tree_limits().subsets_of:
        return [*((each,) for each in alike), alike]
    return [chosen for number in range(1, len(alike) + 1)
            for chosen in itertools.combinations(alike, number)]


def _set_row(chosen: Sequence[Demand], wanted: Wanted) -> TreeRow:
    """How many groups of some demands one host can give."""
    return TreeRow(
        f'({" or ".join(sorted(each.title for each in chosen))}) of one '
        'provider',
        lambda each: sum(wanted[each][demand] for demand in chosen),
        lambda parts: sum(max(part.most(demand) for demand in chosen)
                          for part in parts))


def _needs_total(name: str, wanted: Wanted) -> bool:
    """Whether the sets of demands do not limit the class exactly."""
    return any(demand.resources != {name: 1}
               for counts in wanted.values() for demand in counts
               if name in demand.resources)


def _total_row(name: str, wanted: Wanted) -> TreeRow:
    """How much of a class all providers of a host have together."""
    return TreeRow(
        f'{name} of all providers',
        lambda each: sum(demand.resources.get(name, 0) * number
                         for demand, number in wanted[each].items()),
        lambda parts: sum(
            max(0, part.inventories[name].free) for part in parts
            if name in part.inventories))


def _isolation_row(isolated: Requirements,
                   counts: Mapping[Demand, int]) -> TreeRow:
    """How many members a host can take whose groups come from different
    providers."""
    own = [Demand.of(each) for each in isolated.request_groups]
    numbers = {demand: own.count(demand) for demand in own}

    def capacity(parts: Sequence[Part]) -> int:
        most = [max(part.most(demand) for demand in numbers)
                for part in parts]
        number = sum(most) // len(own)
        # Each provider gives at most one group to each member.
        while number and sum(
                min(each, number) for each in most) < number * len(own):
            number -= 1
        return number

    titles = ', '.join(f'{number} x ({demand.title})'
                       for demand, number in numbers.items())
    return TreeRow(f'{titles} of different providers',
                   lambda each: int(each == isolated), capacity)
