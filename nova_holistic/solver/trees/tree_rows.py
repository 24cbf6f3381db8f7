# SPDX-License-Identifier: Apache-2.0
"""The maximum capacity of provider trees, as resource classes.

Such a resource class exists only in the problem of the solver. Its capacity on
a host is the maximum that all providers of the host can serve, such as a
number of request groups. A member needs the corresponding number for the
groups that it requests.

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
from nova_holistic.solver.trees.demand import (
    Demand, demands, Part, ProviderTraits)
from nova_holistic.solver.trees.subtrees import subtrees

Wanted = Mapping[Requirements, Mapping[Demand, int]]
"""Requirements of members to their demands, each with its number."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One resource class of the solver's problem.

    :ivar name: name of the class, which error messages contain
    :ivar amount: returns the amount that a member with these requirements
        needs
    :ivar capacity: returns the amount that a host with these providers has
    """

    name: str
    amount: Callable[[Requirements], int]
    capacity: Callable[[Sequence[Part]], int]


def tree_rows(requirements: Collection[Requirements],
              classes: Collection[str],
              known: ProviderTraits = ProviderTraits()
              ) -> tuple[TreeRow, ...]:
    """Return the resource classes that represent provider trees.

    :param requirements: requirements of all members
    :param classes: the result of ``demand.tree_classes``
    """
    wanted = {each: demands(each, classes, known) for each in requirements}
    kinds: defaultdict[frozenset[str], dict[Demand, None]] = defaultdict(dict)
    for counts in wanted.values():
        for demand in counts:
            kinds[frozenset(demand.resources)][demand] = None
    return (
        *(_set_row(chosen, wanted) for alike in kinds.values()
          for chosen in _subsets(tuple(alike))),
        *(_total_row(name, wanted) for name in sorted(classes)
          if _needs_total(name, wanted)),
        *(_isolation_row(each) for each in wanted
          if each.group_policy == ISOLATE and len(each.request_groups) > 1),
        *(TreeRow(each.title, each.amount, each.capacity)
          for each in subtrees(requirements)))


def _subsets(alike: Sequence[Demand]) -> Sequence[Sequence[Demand]]:
    """All non-empty sets of demands. If the number of demands exceeds the
    limit, only the single demands and the set of all of them."""
    if len(alike) > tree_limits().subsets_of:
        return [*((each,) for each in alike), alike]
    return [chosen for number in range(1, len(alike) + 1)
            for chosen in itertools.combinations(alike, number)]


def _set_row(chosen: Sequence[Demand], wanted: Wanted) -> TreeRow:
    """The number of request groups of some demands that one host can serve."""
    return TreeRow(
        f'({" or ".join(sorted(each.title for each in chosen))}) of one '
        'provider',
        lambda each: sum(wanted[each][demand] for demand in chosen),
        lambda parts: sum(part.most_of_any(chosen) for part in parts))


def _needs_total(name: str, wanted: Wanted) -> bool:
    """Whether the class needs a row for its total, because some demand for it
    requests more than one unit or another class as well."""
    return any(demand.resources != {name: 1}
               for counts in wanted.values() for demand in counts
               if name in demand.resources)


def _total_row(name: str, wanted: Wanted) -> TreeRow:
    """The free amount of a class on all providers of a host."""
    return TreeRow(
        f'{name} of all providers',
        lambda each: sum(demand.resources.get(name, 0) * number
                         for demand, number in wanted[each].items()),
        lambda parts: sum(
            max(0, part.inventories[name].free) for part in parts
            if name in part.inventories))


def _most(part: Part, chosen: Sequence[Demand]) -> int:
    """Maximum number of request groups of some demands that a provider can
    serve. Demands for different resource classes use separate capacity.

    An upper bound if a demand requests several classes.
    """
    found: defaultdict[frozenset[str], list[Demand]] = defaultdict(list)
    for demand in chosen:
        found[frozenset(demand.resources)].append(demand)
    return sum(map(part.most_of_any, found.values()))


def _most_isolated(most: Sequence[int], groups: int) -> int:
    """Maximum number of members with some request groups each, if each
    provider serves at most one group of a member.

    :param most: for each provider, the number of groups that it can serve
    :param groups: number of request groups of each member
    """
    number = sum(most) // groups
    while number and sum(
            min(each, number) for each in most) < number * groups:
        number -= 1
    return number


def _isolation_row(isolated: Requirements) -> TreeRow:
    """The number of members with these requirements that a host can take if
    the groups of each member need different providers."""
    own = [Demand.of(each) for each in isolated.request_groups]
    numbers = {demand: own.count(demand) for demand in own}
    subsets = [(chosen, sum(numbers[demand] for demand in chosen))
               for chosen in _subsets(tuple(numbers))]

    def capacity(parts: Sequence[Part]) -> int:
        return min(_most_isolated([_most(part, chosen) for part in parts],
                                  groups) for chosen, groups in subsets)

    titles = ', '.join(f'{number} x ({demand.title})'
                       for demand, number in numbers.items())
    return TreeRow(f'{titles} of different providers',
                   lambda each: int(each == isolated), capacity)
