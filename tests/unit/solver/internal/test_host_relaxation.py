# SPDX-License-Identifier: Apache-2.0
"""The bound without policies on domains does not exceed the value of any plan.
"""

from dataclasses import replace
from fractions import Fraction
import random

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.phases import better_plan, chosen_hosts
from nova_holistic.solver.phases import closed_hosts, host_relaxation
from nova_holistic.solver.phases.host_relaxation import (
    late_bound, relax_policies)
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.proved_bounds import (
    preferred_bound, unlimited_bound)
from tests.unit.solver import oracle, test_oracle_policies
from tests.unit.solver.scenario import plan

OBJECTIVES = ('spread', 'stack', 'fewest-hosts')
UNITS = (1, 7, 10 ** 3, 10 ** 9)
CASES = times(60)


def _bound(*problem):
    """Return the bound that ``relax_policies`` proves."""
    return unlimited_bound(relax_policies, *problem)


def _scaled(wanted, snapshot, unit):
    """Return the same problem with all amounts in a smaller unit."""
    def group_of(each):
        return replace(each, groups=tuple(map(group_of, each.groups)),
                       members=tuple(replace(m, requirements=replace(
                           m.requirements, resources=FrozenMapping({
                               name: amount * unit for name, amount
                               in m.requirements.resources.items()})))
                           for m in each.members))

    return group_of(wanted), replace(snapshot, hosts=tuple(
        replace(each, inventories=FrozenMapping({
            name: Inventory(has.total * unit, used=has.used * unit)
            for name, has in each.inventories.items()}))
        for each in snapshot.hosts))


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_no_plan_is_below_the_bound(objective):
    """The bound holds even for plans with violated preferences."""
    proved = 0
    for seed in range(9000, 9000 + CASES):
        wanted, snapshot, placed = test_oracle_policies.random_case(seed)
        wanted, snapshot = _scaled(wanted, snapshot, random.Random(
            seed).choice(UNITS))
        values = [oracle.value(objective, wanted, snapshot, placed, where)
                  for where in oracle.placements(wanted, snapshot, placed)
                  if oracle.violations(wanted, snapshot, placed, where)
                  is not None]
        bound = _bound(wanted, snapshot, placed, objective)
        assert bound <= min(values, default=float('inf')) + 1e-7, seed
        proved += bound > 0
    assert proved > CASES / 3


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_no_plan_without_violations_is_below_its_bound(objective):
    higher = 0
    for seed in range(9000, 9000 + CASES):
        wanted, snapshot, placed = test_oracle_policies.random_case(seed)
        values = [oracle.value(objective, wanted, snapshot, placed, where)
                  for where in oracle.placements(wanted, snapshot, placed)
                  if oracle.violations(wanted, snapshot, placed, where) == 0]
        bound = preferred_bound(relax_policies, wanted, snapshot, placed,
                                objective)
        assert bound <= min(values, default=float('inf')) + 1e-7, seed
        higher += bound > _bound(wanted, snapshot, placed, objective)
    assert higher


def _exclusive(number):
    """Return a group that shares no host with others, with at most two members
    per host."""
    return group(servers('m', 4), name=f'alone{number}', policies=[
        Exclusive(), AntiAffinity(max_per_domain=2)])


@pytest.mark.parametrize('objective, least', [
    ('fewest-hosts', 3), ('stack', 3), ('spread', 0)])
def test_exclusive_members_have_hosts_of_their_own(objective, least):
    """Two exclusive groups and other members use three hosts, although one
    host has room for all of them."""
    wanted = group(groups=[_exclusive(1), _exclusive(2), group(
        servers('m', 2), name='others')])
    snapshot = cloud(*(host(f'h{n}', 'r1', inventories={
        'VCPU': Inventory(32)}) for n in range(8)))
    bound = _bound(wanted, snapshot, {}, objective)
    assert bound >= least - 1e-6
    assert bound > 0


def test_hosts_with_other_servers_do_not_count_for_exclusive_members():
    """The empty hosts have the largest free shares, and therefore the highest
    costs."""
    wanted = group(groups=[_exclusive(1), group(
        servers('m', 1), name='others')])
    snapshot = cloud(*(host(f'h{n}', 'r1', servers=int(n > 3), inventories={
        'VCPU': Inventory(32, used=24 if n > 3 else 0)}) for n in range(8)))
    assert _bound(wanted, snapshot, {}, 'stack') >= 1.25 - 1e-6


def test_a_member_that_stays_keeps_its_group_in_the_relaxation():
    wanted = group(groups=[_exclusive(1), group(
        servers('m', 1), name='others')])
    snapshot = cloud(*(host(f'h{n}', 'r1', inventories={
        'VCPU': Inventory(32, used=n == 0)}) for n in range(4)))
    placed = {'alone1/m-0': 'h0'}
    assert _bound(wanted, snapshot, placed, 'fewest-hosts') <= 3


@pytest.mark.parametrize('policy', [
    Spread(level='zone', min_domains=3),
    AntiAffinity(level='host', max_per_domain=Fraction(3, 5))])
def test_exclusive_members_count_for_a_policy_of_the_whole_group(policy):
    """Three hosts hold all members: one host for each exclusive member, and
    one for the others. Without the exclusive members, the policy would require
    three hosts for the others alone."""
    wanted = group(servers('m', 3), policies=[policy], groups=[group(
        servers('e', 2), name='alone', policies=[
            Exclusive(level='host'), AntiAffinity(level='host')])])
    snapshot = cloud(*(host(f'z{zone}h{number}', f'z{zone}')
                       for zone in range(3) for number in range(2)),
                     levels=('zone', 'host'))
    by_name = snapshot.by_name()
    known = Incumbent(bind(wanted, snapshot), snapshot, {},
                      load_objective('fewest-hosts'), 0.01)
    assert known.offer({path: by_name[name] for path, name in {
        'alone/e-0': 'z0h0', 'alone/e-1': 'z1h0', 'm-0': 'z2h0',
        'm-1': 'z2h0', 'm-2': 'z2h0'}.items()})
    assert _bound(wanted, snapshot, {}, 'fewest-hosts') <= 3


def test_a_diverse_group_is_bounded_by_patterns_without_policies(monkeypatch):
    """Each host has room for one member, but fractions of two kinds fill it
    with one and a half members. If the relaxation with policies proves nothing
    in time, patterns without policies prove that each member needs a host."""
    def late(*arguments, **options):
        raise OutOfTime

    for phases in chosen_hosts, better_plan:
        monkeypatch.setattr(phases, 'large', late)
    snapshot = cloud(*(host(f'h{number}', f'r{number % 5}', inventories={
        'VCPU': Inventory(3), 'MEMORY_MB': Inventory(9)})
        for number in range(60)))
    pairs = [group(servers('a', vcpus=2), MemberDescription(
        'b', Requirements(FrozenMapping({'VCPU': 2, 'MEMORY_MB': 1}))),
        name=f'pair{number}', policies=[Affinity(level='rack')])
        for number in range(20)]
    found = plan(snapshot, group(groups=pairs), objective='fewest-hosts',
                 settings=Settings(timer=standing)).objective
    assert (found.value, found.bound) == (40, 40)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_no_plan_is_below_a_late_bound(objective):
    """Of each case, any plan is known without a bound."""
    proved = 0
    for seed in range(12_000, 12_000 + CASES):
        wanted, snapshot, placed = test_oracle_policies.random_case(seed)
        plans = [where for where in oracle.placements(
            wanted, snapshot, placed) if oracle.violations(
                wanted, snapshot, placed, where) is not None]
        if not plans or len(placed) == len(wanted.all_members()):
            continue
        hosts = snapshot.by_name()

        def prove(known, deadline):
            known.offer({path: hosts[name] for path, name in random.Random(
                seed).choice(plans).items()})
            late_bound(known, deadline)

        bound = unlimited_bound(prove, wanted, snapshot, placed, objective)
        assert bound <= 1e-7 + min(oracle.value(
            objective, wanted, snapshot, placed, where) for where in plans)
        proved += bound > 0
    assert proved > CASES / 4


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_a_large_group_has_a_bound_if_its_plan_takes_all_the_time(
        objective, monkeypatch):
    clock, construct = [0.0], chosen_hosts.first_plan

    def slow(*how, **options):
        construct(*how, **options)
        clock[0] = 9.5

    monkeypatch.setattr(chosen_hosts, 'first_plan', slow)
    snapshot = cloud(*(host(f'h{n}', f'r{n % 5}', vcpus=3)
                       for n in range(401)))
    pairs = [group(servers('a', vcpus=2), servers('b', vcpus=2),
                   name=f'pair{number}', policies=[Affinity(level='rack')])
             for number in range(10)]
    found = plan(snapshot, group(groups=pairs), objective=objective,
                 settings=Settings(time_limit=10.0, timer=lambda: clock[0]))
    assert 0 < found.objective.bound <= found.objective.value


def test_members_with_24_different_requests_need_whole_hosts():
    """Each host has room for one of the members, and costs 1. Fractions of
    members would use 17 hosts."""
    wanted = group(*(MemberDescription(f'm{number}', Requirements(
        FrozenMapping({'VCPU': 3 + number % 2, 'MEMORY_MB': 100 + number})))
        for number in range(24)))
    snapshot = cloud(*(host(f'h{n}', 'r1', inventories={
        'VCPU': Inventory(5), 'MEMORY_MB': Inventory(900)})
        for n in range(60)))
    assert 23 < _bound(wanted, snapshot, {}, 'stack') <= 24


def test_a_few_policies_on_a_small_cloud_do_not_prevent_a_proof():
    """Each rack has one host that costs 0.25 and two that cost 1, with room
    for one member each. Ten groups of three members, each in one rack, cost
    10 x 2.25. Without the policies, all members would use the hosts that cost
    0.25."""
    snapshot = cloud(*(host(f'r{rack}h{number}', f'r{rack}', inventories={
        'VCPU': Inventory(1) if number else Inventory(4, used=3)})
        for rack in range(30) for number in range(3)))
    triples = [group(servers('m', 3), name=f'triple{number}', policies=[
        Affinity(level='rack')]) for number in range(10)]
    found = plan(snapshot, group(groups=triples), objective='stack',
                 settings=Settings(timer=standing)).objective
    assert (found.value, found.gap) == (22.5, 0)


def _half_used(*policies, number=4):
    """Return a group of exclusive members and one other member, and a cloud
    with room for three of the exclusive members on each empty host."""
    wanted = group(groups=[
        group(servers('m', number), name='alone', policies=policies),
        group(servers('m', 1), name='others')])
    return wanted, cloud(*(host(f'h{n}', 'r1', servers=int(n > 3),
                                inventories={'VCPU': Inventory(
                                    8 if n > 3 else 3, used=4 * (n > 3))})
                           for n in range(8)))


def test_exclusive_members_use_whole_hosts():
    """Two empty hosts hold the four exclusive members, and each costs 1: a
    host for three members and a third of another one are not sufficient. The
    other member uses a host of which half is in use."""
    wanted, snapshot = _half_used(Exclusive())
    assert _bound(wanted, snapshot, {}, 'stack') >= 2.5 - 1e-6


def test_exclusive_members_keep_the_limit_of_a_host():
    wanted, snapshot = _half_used(Exclusive(), AntiAffinity())
    assert _bound(wanted, snapshot, {}, 'stack') >= 4.5 - 1e-6


def test_a_plan_without_violations_needs_one_relaxation(monkeypatch):
    """Its bound does not count plans with violations. A plan with violations
    also has a bound of all plans. If every plan is known to have violations,
    this is the only one."""
    wanted, snapshot = _half_used(
        Exclusive(weight=1.0), AntiAffinity(weight=1.0))
    by_name = snapshot.by_name()
    apart = [by_name[f'h{n}'] for n in range(4)]
    numbers = []
    for hosts, least in (
            (apart, 0), ([by_name['h4']] * 4, 0), ([by_name['h4']] * 4, 1)):
        solved = []
        monkeypatch.setattr(
            host_relaxation, 'HostAggregation',
            lambda *those: solved.append(those) or HostAggregation(*those))
        known = Incumbent(bind(wanted, snapshot), snapshot, {},
                          load_objective('stack'), 0.01)
        assert known.offer({'others/m-0': by_name['h5'], **{
            f'alone/m-{n}': host for n, host in enumerate(hosts)}})
        known.prove_least(least)
        relax_policies(known, in_time())
        numbers.append(len(solved))
    assert numbers == [1, 2, 1]


def test_preferences_count_as_hard_policies_for_plans_without_violations():
    """A plan that violates no preference costs as much as if the preferences
    were hard; other plans cost less."""
    wanted, snapshot = _half_used(
        Exclusive(weight=1.0), AntiAffinity(weight=1.0))
    known = Incumbent(bind(wanted, snapshot), snapshot, {},
                      load_objective('stack'), 0.01)
    by_name = snapshot.by_name()
    together = {f'alone/m-{n}': by_name['h4'] for n in range(4)}
    assert known.offer({**together, 'others/m-0': by_name['h5']})
    relax_policies(known, in_time())
    assert 0 < known.bound <= 1
    assert known.offer({**{f'alone/m-{n}': by_name[f'h{n}']
                           for n in range(4)}, 'others/m-0': by_name['h4']})
    assert known.plan_cost == (0, 4.5)
    assert 4.5 - 1e-6 <= known.bound <= 4.5


def _racks_with_one_empty_host(number):
    """Return a cloud. Each rack has one empty host, on which a member costs
    0.01, and two half-used hosts, on which it costs 0.11."""
    return cloud(*(host(f'r{rack}h{n}', f'r{rack}', inventories={
        'VCPU': Inventory(10, used=5 * (n > 0))})
        for rack in range(number) for n in range(3)))


def test_members_of_one_rack_do_not_use_the_best_hosts_of_all_racks():
    """The members of each triple are on different hosts of one rack and cost
    0.01 + 0.11 + 0.11; two other members cost 0.01 each."""
    wanted = group(servers('m', 2), groups=[group(
        servers('m', 3), name=f'triple{number}', policies=[
            Affinity(level='rack'), AntiAffinity()]) for number in range(2)])
    bound = _bound(wanted, _racks_with_one_empty_host(8), {}, 'spread')
    assert 0.48 - 1e-6 <= bound <= 0.48


def test_members_of_one_host_share_it():
    """Three members on one empty host cost 0.01 + 0.03 + 0.05."""
    wanted = group(servers('m', 1), groups=[group(
        servers('m', 3, vcpus=1), name='packed', policies=[Affinity()])])
    bound = _bound(wanted, _racks_with_one_empty_host(8), {}, 'spread')
    assert bound >= 0.1 - 0.04 - 1e-6


def test_a_set_with_a_member_that_stays_has_no_bound_of_its_own():
    """The other two members may be on the empty host of their rack."""
    wanted = group(servers('m', 1), groups=[group(
        servers('m', 3), name='triple', policies=[Affinity(level='rack')])])
    bound = _bound(wanted, _racks_with_one_empty_host(8),
                   {'triple/m-0': 'r0h1'}, 'spread')
    assert bound <= 0.01 + 0.03 + 0.01


def test_costs_that_fall_with_utilisation_do_not_add_up():
    """Both members of the pair and the other member share one host."""
    wanted = group(servers('m', 1), groups=[group(
        servers('m', 2), name='pair', policies=[Affinity()])])
    bound = _bound(wanted, _racks_with_one_empty_host(2), {}, 'stack')
    assert bound <= 0.5 + 1e-9


@pytest.mark.parametrize('number', [1, 6])
def test_all_policies_are_listed_once_for_any_number_of_closed_hosts(
        number, monkeypatch):
    """A search of all policies for each part that closes its hosts would take
    the time of other bounds of a group of thousands of members."""
    listed = []
    list_all = closed_hosts.scoped_policies

    def counted(wanted):
        listed.append(wanted)
        return list_all(wanted)

    monkeypatch.setattr(closed_hosts, 'scoped_policies', counted)
    wanted = group(servers('m', 2), groups=[
        group(servers('m', 2), name=f'alone{n}', policies=[
            Exclusive(), Spread(level='rack', max_skew=0)])
        for n in range(number)])
    snapshot = cloud(*(host(f'h{n}', f'r{n % 2}') for n in range(20)))
    # Each part needs a host in each rack, and so do the others together.
    assert _bound(wanted, snapshot, {}, 'fewest-hosts') > 2 * number
    assert len(listed) == 2
