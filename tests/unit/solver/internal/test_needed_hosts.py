# SPDX-License-Identifier: Apache-2.0
"""The best plan of a part is among the hosts that it needs, for any prices."""

from dataclasses import replace
from fractions import Fraction
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity, SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.limits.current import limits, using
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.shared_hosts.needed_hosts import NeededHosts
from nova_holistic.solver.shared_hosts.part_program import PartProgram
from nova_holistic.solver.small_groups.domain_program import DomainProgram
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time

CASES = max(60, times(100))
POLICIES = (
    (), (AntiAffinity(),), (Affinity(level='rack'),),
    (AntiAffinity(level='rack'),), (Spread(level='az', max_skew=1),),
    (Affinity(level='az'), AntiAffinity()), (SoftAffinity(level='rack'),),
    (Spread(level='rack', min_domains=2),), (Spread(max_skew=0, weight=1.0),))


def _part(wanted, snapshot):
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        'spread').for_group(bound), 1e-6)
    return PartProgram.of(known, ('VCPU',), {}, Fraction(0), in_time().check)


def _random_part(chance):
    sides = [servers(name, chance.randint(1, 2), vcpus=chance.choice((1, 2)))
             for name in 'ab'[:chance.randint(1, 2)]]
    hosts = [host(f'h{n:02d}', f'az{n * 2 // 60}', f'r{n // 3}', inventories={
        'VCPU': Inventory(16, used=chance.randrange(17))}) for n in range(60)]
    return _part(group(*sides, policies=list(chance.choice(POLICIES))),
                 cloud(*hosts, levels=('az', 'rack', 'host')))


def _limited(spare):
    return using(replace(limits(), shared_hosts=replace(
        limits().shared_hosts, spare_hosts=spare)))


def _all(part, costs, factor=None):
    """The program of all hosts."""
    rules = part.problem.rules
    return DomainProgram(
        rules, costs[rules.leaves], part.problem.factor if factor is None
        else factor, in_time().check)


def _program(needed, priced, costs=None):
    costs = needed.part.problem.costs if costs is None else costs
    return needed.program(np.array(priced, dtype=np.int64),
                          costs.__getitem__, in_time().check)


def _leaves(needed, priced):
    """The hosts of the program for these prices. The first program for a set
    of prices may have all hosts."""
    _program(needed, priced)
    return {*_program(needed, priced).rules.leaves.tolist()}


def _cost(program):
    found = program.optimum()
    return np.inf if found is None else found.cost


def test_the_optimum_is_that_of_all_hosts():
    """Prices rise on more and more hosts, first on those of the best plan."""
    fewer = above = 0
    for seed in range(CASES):
        chance = random.Random(seed)
        part = _random_part(chance)
        with _limited(chance.randint(0, 2)):
            needed = NeededHosts(part)
            least = _cost(_all(part, part.problem.costs))
            priced = np.zeros(0, dtype=np.int64)
            for _ in range(8):
                found = _all(part, part.problem.costs, 0.0).optimum()
                fresh = [] if found is None else [*found.hosts]
                priced = np.union1d(priced, [*fresh, chance.randrange(60)])
                costs = part.problem.costs.copy()
                costs[priced.astype(np.int64), 1:] += np.array([
                    [chance.choice((0.0, chance.random()))]
                    for _ in priced])
                program = _program(needed, priced, costs)
                fewer += len(program.rules.leaves) < 60
                for factor in {0.0, part.problem.factor}:
                    best = _cost(_all(part, costs, factor))
                    assert _cost(program.with_factor(factor)) == (
                        pytest.approx(best, abs=1e-12)), seed
                assert _cost(program) == pytest.approx(
                    _cost(_all(part, costs)), abs=1e-12), seed
                above += least + 1e-9 < _cost(program) < np.inf
    assert min(fewer, above) > CASES


def _apart():
    """Two members on different hosts of 100."""
    return _part(group(servers('m', 2), policies=[AntiAffinity()]), cloud(*(
        host(f'h{n:03d}', 'r', inventories={'VCPU': Inventory(200, used=n)})
        for n in range(100))))


def test_few_hosts_remain_of_a_large_cloud():
    """The members need two hosts without a price, and as many more as may get
    prices."""
    with _limited(3):
        leaves = _leaves(NeededHosts(_apart()), [50, 70])
    assert len(leaves) == 2 + 2 + 3
    assert {50, 70} <= leaves


def test_hosts_are_chosen_again_when_too_many_have_prices():
    with _limited(1):
        needed = NeededHosts(_apart())
        first = _leaves(needed, [70])
        assert len(first) == 1 + 2 + 1
        one, two, three = sorted(first - {70})
        assert _leaves(needed, [one, 70]) == first
        second = _leaves(needed, [one, two, 70])
        assert len(second) == 3 + 2 + 1
        assert {one, two, 70} <= second
        assert _leaves(needed, [one, two, three, 70]) == second


def test_an_even_spread_over_hosts_needs_all_of_them():
    snapshot = cloud(*(host(f'h{n:02d}', 'r', inventories={
        'VCPU': Inventory(200, used=n)}) for n in range(30)))
    part = _part(group(servers('m', 30), policies=[
        Spread(level='host', max_skew=0)]), snapshot)
    with _limited(0):
        assert len(_leaves(NeededHosts(part), [0])) == 30
