# SPDX-License-Identifier: Apache-2.0
"""Classes that may move in one step of fix and optimise, while all other
classes stay on their hosts."""

from collections.abc import Callable, Iterator
import random

from nova_holistic.solver.limits.current import milp as limits
from nova_holistic.solver.problem.case import Case, Counts


def free_classes(case: Case, best: Callable[[], Counts],
                 turn: int = 0) -> Iterator[set[int]]:
    """Yield sets of classes that may move at the same time. Each set contains
    the classes below violated preferences. Every other class is in one of the
    sets.

    :param best: returns the current plan, whose preferences are checked
    :param turn: number of the round; each round has different sets
    """
    sizes = (case.open_room() > 0).sum(axis=1)
    order = list(range(len(case.classes)))
    random.Random(limits().seed + turn).shuffle(order)
    start = 0
    while start < len(order):
        free: set[int] = set()
        places = 0
        while start < len(order) and (
                not free or places + sizes[order[start]]
                <= limits().free_places):
            free.add(order[start])
            places += int(sizes[order[start]])
            start += 1
        yield free.union(_below_violated(case, best()))


def _below_violated(case: Case, best: Counts) -> list[int]:
    """Classes below violated preferences."""
    where = case.placement(best)
    paths = {
        member.path for each in case.policies if not each.policy.hard
        and each.policy.check(each.scope, where, case.snapshot).count
        for member in each.scope.members}
    return [c for c, each in enumerate(case.classes)
            if any(m.path in paths for m in each.members)]
