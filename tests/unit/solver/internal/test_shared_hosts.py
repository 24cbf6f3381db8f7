# SPDX-License-Identifier: Apache-2.0
"""Bounds and plans of independent parts that share hosts, compared with all
plans of the group."""

from dataclasses import replace
import functools
import itertools
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.construct.batches import batches
from nova_holistic.solver.limits.current import limits, using
from nova_holistic.solver.numerics.dual_bounds import DualBounds
from nova_holistic.solver.numerics.host_duals import HostDuals
from nova_holistic.solver.numerics.member_prices import MemberPrices
from nova_holistic.solver.phases.domain_plan import plan_by_domains
from nova_holistic.solver.phases.host_relaxation import relax_policies
from nova_holistic.solver.phases.part_plans import replan_parts
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.shared_hosts.price_hosts import price_hosts
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.test_part_bounds import random_case
from tests.unit.solver import oracle

CASES = max(40, times(80))


def _known(wanted, snapshot, where=None, gap=1e-6):
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        'spread').for_group(bound), gap)
    if where is not None:
        by_name = snapshot.by_name()
        assert known.offer({path: by_name[name]
                            for path, name in where.items()})
    return known


def _plans(wanted, snapshot):
    """Return (cost of the preferences, objective value, places) of each plan.
    """
    return [(cost, oracle.value('spread', wanted, snapshot, {}, where), where)
            for where in oracle.placements(wanted, snapshot, {})
            if (cost := oracle.violations(
                wanted, snapshot, {}, where)) is not None]


@functools.cache
def _random_plans(seed):
    """Return the plans of a random case; none if the case has many members."""
    wanted, snapshot, _ = random_case(seed)
    return [] if len(wanted.all_members()) > 7 else _plans(wanted, snapshot)


def _no_duals(known, chance, plans):
    """The prices start at 0."""


def _relaxed(known, chance, plans):
    """The prices start at the dual values of a relaxation."""
    relax_policies(known, in_time())
    before = known.bound
    duals = known.host_duals
    assert duals is None or (np.diff(duals.hosts) > 0).all()
    known._bounds = DualBounds()
    return before


def _random_duals(known, chance, plans):
    """The prices start at any values: the bound is valid for all of them."""
    hosts = len(known.snapshot.hosts)
    classes = ('VCPU', 'MEMORY_MB', 'OTHER')
    known.host_duals = HostDuals(
        np.arange(hosts),
        np.array([chance.random() for _ in range(hosts)]),
        np.array([2 * chance.random() for _ in range(hosts)]), classes,
        np.array([[chance.choice((0, chance.random() / 100)) for _ in classes]
                  for _ in range(hosts)]))


def _random_member_prices(known, chance, plans):
    """The prices start at any prices of members."""
    price = {m.path: chance.choice((0.0, chance.random() / 2))
             for m in known.members}
    hosts = known.snapshot.by_name()
    gains = dict.fromkeys(hosts, 0.0)
    inside = {(name, frozenset(path for path in where if where[path] == name))
              for _, _, where in plans
              for name in where.values()}
    for name, some in {(name, some) for name, paths in inside
                       for number in range(len(paths))
                       for some in itertools.combinations(
                           sorted(paths), number + 1)}:
        members = [m for m in known.members if m.path in some]
        cost = oracle.OBJECTIVES['spread'](
            known.members, members, dict.fromkeys(some, name), hosts)
        gains[name] = max(gains[name], sum(map(price.get, some)) - cost)
    every = [host.name for host in known.snapshot.hosts]
    some = [n for n, name in enumerate(every) if gains[name]]
    known.member_prices = MemberPrices(price, np.array(some, dtype=np.int64), (
        np.array([gains[every[n]] for n in some])), chance.choice((
            known.plan_cost[0], float('inf'))))


@pytest.mark.parametrize('start', [_no_duals, _relaxed, _random_duals,
                                   _random_member_prices])
def test_no_plan_is_below_the_bound_and_no_plan_gets_worse(start):
    proved = better = best = 0
    for seed in range(CASES):
        wanted, snapshot, _ = random_case(seed)
        plans = _random_plans(seed)
        if not plans:
            continue
        chosen = random.Random(seed).choice(plans)
        known = _known(wanted, snapshot, chosen[2])
        before = known.plan_cost
        start(known, random.Random(seed), plans)
        price_hosts(known, batches(known, 1), in_time())
        where = {path: each.name for path, each in known.where.items()}
        assert oracle.violations(wanted, snapshot, {}, where) is not None, seed
        assert known.plan_cost <= before, seed
        for bound, limit in known._bounds._known:
            least = min(value for cost, value, _ in plans if cost <= limit)
            assert bound <= least + 1e-12, seed
            proved += bound > 0
        better += known.plan_cost < before
        cost, value, _ = min(plans, key=lambda each: each[:2])
        best += known.plan_cost <= (cost, value + 1e-9)
    assert min(proved, better, best) > CASES / 8


def _tier(name, *policies, number=2, vcpus=1):
    return group(servers('m', number, vcpus=vcpus), name=name,
                 policies=policies)


def _rising_costs():
    """Return a cloud in which a member costs 0.01, 0.03, 0.05, ... on the
    hosts a, b, c, ..., and 0.02 more if another member is on the host."""
    return cloud(*(host(name, f'r{n}', inventories={
        'VCPU': Inventory(10, used=n)}) for n, name in enumerate('abcdef')))


def test_parts_that_want_the_same_hosts_have_an_exact_bound():
    """Four members that do not share a host with members of the same tier:
    a for 0.01 and 0.03, b for 0.03 and 0.05. Each tier alone costs 0.04, and
    both together cost 0.12."""
    wanted = group(groups=[_tier(name, AntiAffinity()) for name in 'xy'])
    known = _known(wanted, _rising_costs(), {
        'x/m-0': 'e', 'x/m-1': 'f', 'y/m-0': 'd', 'y/m-1': 'e'})
    price_hosts(known, batches(known, 1), in_time())
    assert known.plan_cost[1] == pytest.approx(0.12)
    assert known.bound == pytest.approx(0.12)


def test_the_first_prices_prove_the_bound_of_the_relaxation():
    """Two tiers of three members, each on one host, cost 0.24. Each of them
    alone costs 0.09, and the six cheapest places cost 0.22."""
    wanted = group(groups=[
        _tier(name, Affinity(level='rack'), number=3) for name in 'xy'])
    where = {f'{tier}/m-{n}': host for tier, host in zip('xy', 'ef')
             for n in range(3)}
    bounds = []
    for starts in (_no_duals, _relaxed):
        known = _known(wanted, _rising_costs(), where)
        relaxed = starts(known, None, None)
        with using(replace(limits(), shared_hosts=replace(
                limits().shared_hosts, rounds=0))):
            price_hosts(known, batches(known, 1), in_time())
        bounds.append(known.bound)
    assert bounds == pytest.approx([0.18, 0.22])
    assert relaxed == pytest.approx(0.22)


def test_prices_of_members_prove_the_cost_of_two_sides_in_one_rack():
    """Two sides have the four places of the only rack with four hosts, for
    0.03 and three times 0.05. Six other members cost 0.01 each on the empty
    hosts of other racks. A relaxation without the relationship gives one of
    these hosts to the sides."""
    snapshot = cloud(
        *(host(f'f{n}', f'r{n + 2}', inventories={'VCPU': Inventory(10)})
          for n in range(7)),
        *(host(name, 'r1', inventories={'VCPU': Inventory(10, used=used)})
          for name, used in (('a', 1), ('b', 2), ('c', 2), ('d', 2))))
    sides = group(groups=[_tier(side) for side in 'ab'], name='x', policies=[
        AntiAffinity()], relationships=[
            RelationshipAffinity(between=('a', 'b'), level='rack')])
    wanted = group(groups=[sides, _tier('y', AntiAffinity(), number=6)])
    known = _known(wanted, snapshot, {
        'x/a/m-0': 'a', 'x/a/m-1': 'b', 'x/b/m-0': 'c', 'x/b/m-1': 'd',
        **{f'y/m-{n}': f'f{n}' for n in range(6)}})
    assert known.plan_cost == (0, pytest.approx(0.24))
    assert _relaxed(known, None, None) < 0.2
    price_hosts(known, batches(known, 1), in_time())
    assert known.bound == pytest.approx(0.24)


def test_no_other_member_uses_the_hosts_of_exclusive_members():
    """The exclusive members have the two cheapest hosts, or the others have
    them: 0.01 + 0.03 + 0.05 + 0.07, in any order."""
    wanted = group(groups=[
        _tier('x', Exclusive(), AntiAffinity()), _tier('y', AntiAffinity())])
    snapshot = cloud(*(host(name, 'r', servers=0, inventories={
        'VCPU': Inventory(10, reserved=n)}) for n, name in enumerate('abcd')))
    where = {'x/m-0': 'c', 'x/m-1': 'd', 'y/m-0': 'a', 'y/m-1': 'b'}
    known = _known(wanted, snapshot, where)
    best = min(_plans(wanted, snapshot), key=lambda each: each[:2])
    price_hosts(known, batches(known, 1), in_time())
    assert known.plan_cost[1] == pytest.approx(best[1])
    assert known.bound <= best[1] + 1e-12
    assert known.bound == pytest.approx(best[1], rel=0.1)


def test_parts_that_request_different_classes_keep_their_hosts():
    """The utilisation of a host depends on both classes, so no part has
    a program alone."""
    wanted = group(groups=[_tier('x', AntiAffinity()), group(
        MemberDescription('m', Requirements(FrozenMapping({'MEMORY_MB': 1})),
                          2), name='y', policies=[AntiAffinity()])])
    snapshot = cloud(*(host(name, 'r', inventories={
        'VCPU': Inventory(10, used=n), 'MEMORY_MB': Inventory(10, used=n)})
        for n, name in enumerate('abcd')))
    known = _known(wanted, snapshot, {
        'x/m-0': 'a', 'x/m-1': 'b', 'y/m-0': 'c', 'y/m-1': 'd'})
    before = known.plan_cost
    replan_parts(known, in_time())
    assert known.plan_cost == before


def test_members_beyond_the_capacity_use_other_hosts():
    """Each host has room for one of the three tiers."""
    wanted = group(groups=[_tier(name, Affinity(), vcpus=4)
                           for name in 'xyz'])
    snapshot = cloud(*(host(name, 'r', inventories={
        'VCPU': Inventory(100, used=used)})
        for name, used in (('a', 85), ('b', 90), ('c', 92))))
    known = _known(wanted, snapshot, {
        f'{tier}/m-{n}': name for tier, name in zip('xyz', 'cba')
        for n in range(2)})
    best = min(_plans(wanted, snapshot), key=lambda each: each[:2])
    price_hosts(known, batches(known, 1), in_time())
    assert known.plan_cost[1] == pytest.approx(best[1])
    assert known.bound == pytest.approx(best[1], rel=0.1)


def test_violated_preferences_are_part_of_the_bound():
    """No host has the trait, so the first tier violates its preference for
    each of its members, in every plan."""
    wanted = group(groups=[
        _tier('x', Traits(has=frozenset('T'), weight=3.0), AntiAffinity()),
        _tier('y', AntiAffinity())])
    known = _known(wanted, _rising_costs(), {
        'x/m-0': 'e', 'x/m-1': 'f', 'y/m-0': 'd', 'y/m-1': 'e'})
    price_hosts(known, batches(known, 1), in_time())
    assert known.plan_cost == (6, pytest.approx(0.12))
    assert known.bound == pytest.approx(0.12)


def test_a_plan_with_avoidable_violations_has_a_bound():
    """Both tiers prefer the hosts e and f. The plan violates the preference of
    x. Plans that violate at most this may violate that of y instead. Each tier
    alone costs 0.04 on a and b, so the bound is at least 0.08."""
    trait = Traits(has=frozenset('T'), weight=1.0)
    wanted = group(groups=[_tier(name, trait, AntiAffinity())
                           for name in 'xy'])
    snapshot = cloud(*(host(name, f'r{n}', inventories={
        'VCPU': Inventory(10, used=n)}, traits=frozenset(
            'T' if name in 'ef' else '')) for n, name in enumerate('abcdef')))
    known = _known(wanted, snapshot, {
        'x/m-0': 'c', 'x/m-1': 'd', 'y/m-0': 'e', 'y/m-1': 'f'})
    assert known.plan_cost[0] == 2
    price_hosts(known, batches(known, 1), in_time())
    assert max(bound for bound, limit in known._bounds._known
               if limit == 2) >= 0.08 - 1e-9


def test_prices_of_members_that_are_valid_for_fewer_violations_are_ignored():
    """The prices hold for plans without violated preferences, but the plan
    violates one. The bound may not exceed the cost of the best plan."""
    trait = Traits(has=frozenset('T'), weight=1.0)
    wanted = group(groups=[_tier('x', trait, AntiAffinity()),
                           _tier('y', AntiAffinity())])
    known = _known(wanted, _rising_costs(), {
        'x/m-0': 'e', 'x/m-1': 'f', 'y/m-0': 'd', 'y/m-1': 'e'})
    known.member_prices = MemberPrices(
        {m.path: 1.0 for m in known.members}, np.arange(6), np.zeros(6), 0.0)
    price_hosts(known, batches(known, 1), in_time())
    assert known.plan_cost[0] == 2
    assert known.bound == pytest.approx(0.12)


def _sides(name):
    return group(groups=[
        group(servers('m', 2), name=side, policies=[AntiAffinity()])
        for side in 'ab'], name=name, relationships=[
            Bandwidth(between=('a', 'b'), mbps=100, level='rack')])


def _two_free_uplinks():
    """Return a cloud of eight racks with two hosts each. The hosts of the
    last two racks have higher costs, but only their uplinks are free."""
    return cloud(*(host(f'h{rack}{n}', f'r{rack}', inventories={
        'VCPU': Inventory(10, used=2 * (rack > 5) + (n + rack) % 2)})
        for rack in range(8) for n in range(2)), links=[
            Link((f'r{rack}',), 400 if rack > 5 else 100)
            for rack in range(8)])


def test_members_with_traffic_use_free_uplinks_or_one_rack():
    """Two hosts of one rack hold one member of each side each, at 0.01 and
    0.03, and 0.03 and 0.05. In different racks, the members would cost 0.04,
    but no uplink is free."""
    snapshot = _two_free_uplinks()
    known = _known(_sides('x'), snapshot)
    plan_by_domains(known, in_time())
    assert known.plan_cost == (0, pytest.approx(0.12))


def test_parts_with_traffic_move_to_better_hosts():
    wanted = group(groups=[_sides('x'), _tier('y', Affinity(level='rack'))])
    known = _known(wanted, _two_free_uplinks(), {
        'x/a/m-0': 'h60', 'x/a/m-1': 'h61', 'x/b/m-0': 'h60',
        'x/b/m-1': 'h61', 'y/m-0': 'h70', 'y/m-1': 'h71'})
    replan_parts(known, in_time())
    assert known.plan_cost == (0, pytest.approx(0.16))
    assert known.bound == pytest.approx(0.16)
