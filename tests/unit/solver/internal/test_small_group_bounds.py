# SPDX-License-Identifier: Apache-2.0
"""Bounds of small groups of many policies: from whole hosts, from the domains
that members with exclusive hosts need, and from limits of hosts."""

from fractions import Fraction
import random

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.phases import all_hosts
from nova_holistic.solver.phases.all_hosts import search_needed_hosts
from nova_holistic.solver.phases.host_relaxation import relax_policies
from nova_holistic.solver.phases.part_bounds import bound_without_policies
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import task
from tests.unit.solver.internal.limited import limited
from tests.unit.solver.internal.proved_bounds import unlimited_bound
from tests.unit.solver import oracle

CASES = times(40)
ZONES = ('zone', 'rack', 'host')


def _bound(*problem):
    """Return the bound that ``relax_policies`` proves."""
    return unlimited_bound(relax_policies, *problem)


def _zones(zones=3, racks=2, hosts=2, **fields):
    """Return a cloud. All hosts are empty."""
    return cloud(*(host(f'z{z}r{r}h{h}', f'z{z}', f'z{z}r{r}', **fields)
                   for z in range(zones) for r in range(racks)
                   for h in range(hosts)), levels=ZONES)


def _incumbent(wanted, snapshot, objective, **where):
    by_name = snapshot.by_name()
    known = Incumbent(bind(wanted, snapshot), snapshot, {},
                      load_objective(objective), 0.001)
    assert known.offer({path.replace('_', '-'): by_name[name]
                        for path, name in where.items()})
    return known


def _with_others(*policies, outer=()):
    """Return four members with policies, and another member."""
    return group(groups=[
        group(name='outer', policies=outer, groups=[group(
            servers('m', 4), name='alone', policies=policies)]),
        group(servers('m'), name='others')])


@pytest.mark.parametrize('objective', ['stack', 'fewest-hosts'])
@pytest.mark.parametrize('policy, least', [
    (Spread(level='zone', max_skew=1), 3), (Spread(
        level='rack', min_domains=4), 4), (Affinity(level='zone'), 1)])
def test_exclusive_members_need_a_host_in_each_domain(objective, policy,
                                                      least):
    """Each empty host costs 1 and has room for all members."""
    wanted = _with_others(Exclusive(), policy)
    assert _bound(wanted, _zones(), {}, objective) == pytest.approx(least + 1)


def test_an_outer_policy_limits_the_domains_of_exclusive_members():
    """An even spread over the two racks of one zone needs two hosts. Over the
    racks of all zones it would need four."""
    wanted = _with_others(Exclusive(), Spread(level='rack', max_skew=1),
                          outer=[Affinity(level='zone')])
    snapshot = _zones()
    found = solve(wanted, snapshot, objective='fewest-hosts')
    assert isinstance(found, Plan)
    assert found.objective.value == 3
    assert _bound(wanted, snapshot, {}, 'fewest-hosts') <= 3 + 1e-6


def _random_group(chance):
    def policies(*levels):
        level = chance.choice(levels)
        return chance.choice((
            lambda: [Spread(level=level, max_skew=chance.choice((0, 1, 2)))],
            lambda: [Spread(level=level, min_domains=chance.choice((1, 2)))],
            lambda: [AntiAffinity(level=level, max_per_domain=chance.choice(
                (1, 2, Fraction(1, 2))))],
            lambda: [Affinity(level='zone')], lambda: []))()

    return group(servers('free', chance.choice((1, 2))), groups=[group(
        name='outer', policies=policies('zone', 'rack'), groups=[group(
            servers('m', chance.choice((1, 2, 3))), name='inner', policies=[
                *chance.choices(([Exclusive()], []), (3, 1))[0],
                *policies(*ZONES), *policies(*ZONES)])])])


@pytest.mark.parametrize('objective', ['stack', 'fewest-hosts', 'spread'])
def test_no_plan_is_below_the_bound_of_exclusive_members(objective):
    proved = 0
    for seed in range(CASES):
        chance = random.Random(seed)
        wanted = _random_group(chance)
        snapshot = cloud(*(host(
            f'z{z}r{r}h{h}', f'z{z}', f'z{z}r{r}', servers=chance.choice(
                (0, 0, 1)), inventories={'VCPU': Inventory(
                    4, used=chance.choice((0, 0, 1, 3)))})
            for z in range(2) for r in range(chance.choice((1, 2)))
            for h in range(2)), levels=ZONES)
        values = [oracle.value(objective, wanted, snapshot, {}, where)
                  for where in oracle.placements(wanted, snapshot, {})
                  if oracle.violations(wanted, snapshot, {}, where)
                  is not None]
        bound = _bound(wanted, snapshot, {}, objective)
        assert bound <= min(values, default=float('inf')) + 1e-7, seed
        proved += bool(values) and bound > 0
    assert proved > CASES / 4


def _unequal_hosts(room, single, small):
    """Return a cloud of two large hosts, hosts that are empty, and nearly full
    hosts with a trait.

    :param room: free VCPUs of each large host, of 16
    :param single: VCPUs of each empty host
    :param small: number of hosts with the trait and one free VCPU of 10
    """
    return cloud(
        *(host(f'large{n}', 'r1', inventories={'VCPU': Inventory(
            16, used=16 - room)}) for n in range(2)),
        *(host(f'single{n}', 'r1', vcpus=vcpus)
          for n, vcpus in enumerate(single)),
        *(host(f'small{n}', 'r1', traits=frozenset('T'), inventories={
            'VCPU': Inventory(10, used=9)}) for n in range(small)))


def test_members_that_must_be_apart_do_not_fill_the_best_hosts():
    """Two hosts with room for four members cost 0.5 each, and hosts with room
    for one member cost 1. Of four members on different hosts, two therefore
    cost 1 each, although the large hosts have room for all members. Four hosts
    of other members cost 0.1 each, so that the number of hosts proves nothing.
    """
    wanted = group(groups=[
        group(servers('m', 4, vcpus=2), name='apart', policies=[
            AntiAffinity()]),
        group(servers('m', 4, vcpus=2), name='free'),
        group(servers('m', 4), name='small', policies=[
            AntiAffinity(), Traits(has=frozenset('T'))])])
    snapshot = _unequal_hosts(8, [2] * 8, 4)
    assert 3.4 - 1e-6 <= _bound(wanted, snapshot, {}, 'stack') <= 3.4 + 1e-6


def test_a_limit_for_members_of_several_kinds_is_a_limit_of_each_host():
    """A host takes one member of the pair. Without this limit, three members
    use the two hosts with room for two of them."""
    wanted = group(groups=[
        group(name='pair', policies=[AntiAffinity()], groups=[
            group(servers('m', 2, vcpus=2), name='a'),
            group(servers('m', 1, vcpus=3), name='b')]),
        group(servers('m', 3), name='small', policies=[
            AntiAffinity(), Traits(has=frozenset('T'))])])
    snapshot = _unequal_hosts(6, [3] * 4, 3)
    least = 2 * 0.375 + 1 + 3 * 0.1
    assert least - 1e-6 <= _bound(wanted, snapshot, {}, 'stack') <= least


@pytest.mark.parametrize('policy, most', [
    (Spread(level='rack', min_domains=3), 3),
    (Spread(level='rack', min_domains=9), 1),
    (Spread(level='rack', max_skew=1), None),
    (Spread(level='rack', min_domains=3, weight=1.0), None)])
def test_members_in_several_domains_limit_each_host(policy, most):
    scope = next(group(servers('m', 5), policies=[policy]).scopes())
    assert policy.most_on_a_host(scope) == most


def _nearly_full(hosts):
    """Return a cloud. Few hosts have room for members, ten of them each."""
    return cloud(*(host(f'h{n:03}', f'r{n % 20}', inventories={
        'VCPU': Inventory(16, used=6 if n < 8 else 16)})
        for n in range(hosts)))


def _forty(*policies):
    return group(servers('m', 40), policies=policies)


def _on_eight():
    return {f'm_{n}': f'h{n % 8:03}' for n in range(40)}


def test_a_program_of_the_few_hosts_with_room_is_optimal():
    known = _incumbent(_forty(), _nearly_full(100), 'fewest-hosts',
                       **_on_eight())
    search_needed_hosts(task(known))
    assert (known.plan_cost, known.bound) == ((0, 4), 4)


def test_no_program_is_built_for_many_hosts_with_room():
    known = _incumbent(_forty(), _nearly_full(100), 'fewest-hosts',
                       **_on_eight())
    with limited('milp', exact_variables=8):
        search_needed_hosts(task(known))
    assert known.plan_cost == (0, 8)


def test_a_program_begins_with_hard_policies_if_no_preference_is_violated(
        monkeypatch):
    weights = []

    def search(task, case):
        weights.append({each.policy.weight for each in case.policies})

    monkeypatch.setattr(all_hosts, 'search_all_hosts', search)
    for most in (5, 4):
        known = _incumbent(
            _forty(AntiAffinity(max_per_domain=most, weight=2.0)),
            _nearly_full(100), 'fewest-hosts', **_on_eight())
        search_needed_hosts(task(known))
    assert weights == [{None}, {2.0}]


@pytest.mark.parametrize('members, bound', [(100, 4), (4, 0)])
def test_a_small_group_of_few_policies_has_a_bound_without_policies(members,
                                                                    bound):
    known = _incumbent(
        _with_others(Exclusive(), Spread(level='zone', max_skew=1)), _zones(),
        'stack', **{f'outer/alone/m_{n}': f'z{n % 3}r0h0' for n in range(4)},
        **{'others/m': 'z0r1h0'})
    with limited('small_groups', pattern_members=members):
        bound_without_policies(
            task(known), False)
    assert known.bound == pytest.approx(bound)
