# SPDX-License-Identifier: Apache-2.0
"""One choice of each part, from fractions of choices."""

import itertools
import random

import numpy as np

from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.shared_hosts.dive import dive
from tests.effort import times
from tests.unit.solver.internal.deadlines import in_time


def _program(parts, costs, uses, room):
    """Return a program of choices.

    :param uses: [choice]: the host that the choice fills
    :param room: [host]: number of choices
    """
    size = len(parts)
    program = Linear(np.array(costs, float), np.ones(size))
    program.add(np.array(parts), np.arange(size), np.ones(size), 1.0, 1.0,
                max(parts) + 1)
    program.add(np.array(uses), np.arange(size), np.ones(size), -np.inf,
                np.array(room, float), len(room))
    return program


def _dive(parts, *args):
    return dive(_program(parts, *args).loaded(), np.array(parts), 1000.0,
                in_time().check)


def test_each_part_has_its_cheapest_choice_if_all_fit():
    assert sorted(_dive([0, 0, 1, 1], [3, 1, 2, 5], [0, 1, 2, 3],
                        [1, 1, 1, 1])) == [1, 2]


def test_two_parts_do_not_use_the_same_room():
    """The second part loses less than the first one on its other host."""
    assert sorted(_dive([0, 0, 1, 1], [1, 9, 1, 3], [0, 1, 0, 2],
                        [1, 1, 1])) == [0, 3]


def test_a_part_that_does_not_fit_has_no_choice():
    assert _dive([0, 1], [5, 1], [0, 0], [1]) == [1]


def test_the_choices_fit_and_most_parts_have_one():
    """Compared with all combinations: no part lacks a choice that fits."""
    complete = 0
    for seed in range(times(60)):
        chance = random.Random(seed)
        parts = [part for part in range(4)
                 for _ in range(chance.randint(1, 3))]
        uses = [chance.randrange(3) for _ in parts]
        room = [chance.randint(0, 2) for _ in range(3)]
        found = _dive(parts, [chance.randint(1, 9) for _ in parts], uses, room)
        assert len({parts[each] for each in found}) == len(found), seed
        here = np.bincount([uses[each] for each in found], minlength=3)
        assert (here <= room).all(), seed
        for choice, part in enumerate(parts):
            assert part in {parts[each] for each in found} or (
                here[uses[choice]] == room[uses[choice]]), seed
        most = max(
            len(some) for number in range(5)
            for some in itertools.combinations(range(len(parts)), number)
            if len({parts[each] for each in some}) == number and (
                np.bincount([uses[each] for each in some],
                            minlength=3) <= room).all())
        complete += len(found) == most
    assert complete > 0.9 * times(60)
