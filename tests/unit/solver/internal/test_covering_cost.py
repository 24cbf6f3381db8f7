# SPDX-License-Identifier: Apache-2.0
"""The minimum cost of hosts with room for a number of members, compared with
all sets of hosts."""

from dataclasses import replace
import itertools
import random

import numpy as np
import pytest

from nova_holistic.solver.evaluation.covering_cost import covering_cost
from nova_holistic.solver.limits.current import limits, using
from tests.effort import times

CASES = times(400)


def _random_hosts(seed):
    """Return the room and the cost of some hosts, and a number of members."""
    chance = random.Random(seed)
    number = chance.randint(1, 12)
    hosts = range(chance.randint(1, 7))
    return (np.array([chance.randint(0, 6) for _ in hosts]),
            np.array([chance.choice((0, 1, 2, 0.5, chance.random()))
                      for _ in hosts]), number)


def _least(room, cost, number):
    """The cost of the cheapest set of hosts with enough room; None if all
    hosts together have too little."""
    sets = itertools.chain.from_iterable(
        itertools.combinations(range(len(room)), size)
        for size in range(len(room) + 1))
    return min((sum(cost[host] for host in chosen) for chosen in sets
                if sum(room[host] for host in chosen) >= number),
               default=None)


def test_whole_hosts_cost_what_the_cheapest_set_of_hosts_costs():
    enough = 0
    for seed in range(CASES):
        room, cost, number = _random_hosts(seed)
        least = _least(room, cost, number)
        assert covering_cost(room, cost, number) == pytest.approx(
            least or 0.0), seed
        enough += least is not None
    assert enough > CASES / 3


def test_fractions_of_hosts_cost_no_more_than_whole_hosts():
    """Above the limit of members, the bound counts fractions of hosts."""
    fractions = replace(limits(), problem=replace(
        limits().problem, covered_members=0))
    below = 0
    for seed in range(CASES):
        room, cost, number = _random_hosts(seed)
        whole = covering_cost(room, cost, number)
        with using(fractions):
            bound = covering_cost(room, cost, number)
        assert bound <= whole + 1e-12, seed
        below += bound < whole - 1e-3
    assert below > CASES / 10
