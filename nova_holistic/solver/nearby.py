# SPDX-License-Identifier: Apache-2.0
"""Better plans near the best one so far: some classes may go wherever they
can, the others stay on their hosts."""

from collections.abc import Iterator
import random

import numpy as np

from nova_holistic.solver.case import Case, Counts

_SEED = 1

PLACES = 1_000
"""Places (class and host) of the classes that may move at once."""


def nearby(case: Case, best: Counts) -> Iterator[np.ndarray]:
    """[class, host]: where some of the classes may go, for each part of them.
    Who would like something better is in each part, and all others in one.

    :param best: the plan of which preferences are looked at
    """
    room = case.open_room() > 0
    sizes = room.sum(axis=1)
    chance = random.Random(_SEED)
    order = list(range(len(case.classes)))
    chance.shuffle(order)
    first = _unhappy(case, best)
    start = 0
    while start < len(order):
        mask = np.zeros(room.shape, dtype=bool)
        free, places = [], 0
        while start < len(order) and (
                not free or places + sizes[order[start]] <= PLACES):
            free.append(order[start])
            places += int(sizes[order[start]])
            start += 1
        mask[free] = room[free]
        mask[first] = room[first]
        yield mask


def stay(mask: np.ndarray, best: Counts) -> np.ndarray:
    """The mask, with leave for everyone to stay where they are."""
    for c, here in enumerate(best):
        mask[c, list(here)] = True
    return mask


def _unhappy(case: Case, best: Counts) -> list[int]:
    """Classes below preferences that are not met."""
    where = case.placement(best)
    paths = {
        member.path for each in case.policies if not each.policy.hard
        and each.policy.check(each.scope, where, case.snapshot).count
        for member in each.scope.members}
    return [c for c, each in enumerate(case.classes)
            if any(m.path in paths for m in each.members)]
