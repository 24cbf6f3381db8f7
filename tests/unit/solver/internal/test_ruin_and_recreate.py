# SPDX-License-Identifier: Apache-2.0
"""Ruin and recreate: costs agree with the objective, plans satisfy all
policies, and plans never get worse."""

import random

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity, SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.greedy import any_plan
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import no_limit
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.subproblem import Subproblem
from nova_holistic.solver.ruin_recreate.part_search import (
    ruin_and_recreate)
from nova_holistic.solver.ruin_recreate.placement_costs import placement_costs
from nova_holistic.solver.ruin_recreate.ruin_and_recreate import (
    RuinAndRecreate)
from nova_holistic.solver.ruin_recreate.ruins import Ruins
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited
from tests.unit.solver import (
    test_bounds, test_oracle_policies, test_oracle_relationships)

OBJECTIVES = ('spread', 'stack', 'fewest-hosts', 'network')


def _problem(case, objective):
    wanted, snapshot, *placed = case
    placed = placed[0] if placed else {}
    reduced = snapshot.without_servers(placed.values())
    bound = bind(wanted, reduced)
    return Incumbent(bound, reduced, placed, load_objective(
        objective).for_group(bound), 0.0)


def _case(known):
    return Case.of(known.group, known.snapshot, known.placed,
                   part=Subproblem(constructs=True))


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_costs_agree_with_the_objective(objective):
    """The cost of each member on any host agrees, with and without the other
    members."""
    for seed in range(20):
        known = _problem(test_bounds.random_case(seed, objective), objective)
        case, chance = _case(known), random.Random(seed)
        counts = any_plan(case, in_time())
        if counts is None:
            continue
        costs = placement_costs(case, known.objective, known.members)
        places = [(c, h) for c, here in enumerate(counts)
                  for h, n in here.items() for _ in range(n)]
        chance.shuffle(places)
        for c, h in places:
            before = costs.value
            # The only member without a host pays for the whole host.
            cost = costs.of(c, {c: 1})[h]
            costs.move(c, h, 1)
            assert costs.value - before == pytest.approx(cost, abs=1e-9)
        value = known.plan_cost_of(case.placement(counts))[1]
        assert costs.value == pytest.approx(value, abs=1e-9), seed
        for c, h in places:
            costs.move(c, h, -1)
        assert costs.value == pytest.approx(0, abs=1e-9), seed


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_a_plan_with_uneven_loads_guides_to_fewer_hosts(objective):
    """Eight members on two hosts. If the objective is the number of hosts, the
    plan with one member on the second host is closer to a plan with one."""
    known = _problem((group(servers('m', 8)), _racks(lambda n: 0)), objective)
    case = _case(known)

    def costs(*numbers):
        found = placement_costs(case, known.objective, known.members)
        for place, number in enumerate(numbers):
            for _ in range(number):
                found.move(0, place, 1)
        return found

    even, uneven = (costs(4, 4), costs(7, 1)) if costs() else (None, None)
    if objective == 'network':
        assert even is None or even.guide == even.value
    elif objective != 'fewest-hosts':
        assert even.guide == even.value and uneven.guide == uneven.value
    else:
        assert even.value == pytest.approx(uneven.value)
        assert uneven.guide < even.guide
        assert even.guide > costs(8).guide
        # The guide of a plan does not depend on the steps that led to it.
        uneven.move(0, 0, -3)
        uneven.move(0, 1, 3)
        assert uneven.guide == pytest.approx(even.guide)


def test_plans_keep_all_policies_and_never_get_worse():
    """Every plan of the steps is valid, not only the best one."""
    improved, number = 0, times(60)
    for seed in range(4000, 4000 + number):
        for cases in (test_oracle_policies, test_oracle_relationships):
            known = _problem(cases.random_case(seed), OBJECTIVES[seed % 4])
            case = _case(known)
            counts = any_plan(case, in_time())
            costs = counts and placement_costs(case, known.objective,
                                               known.members)
            if not costs or not case.classes:
                continue
            search = RuinAndRecreate(case, counts, costs, random.Random(seed),
                                     no_limit)
            before = search.plan_cost
            improved += search.run(30, in_time())
            assert search.plan_cost <= before, seed
            placement = case.placement(search.best)
            assert check(known.group, known.snapshot, {
                path: host.name for path, host in placement.items()},
                known.placed) == (), seed
            cost, value = known.plan_cost_of(placement)
            first = known.plan_cost_of(case.placement(counts))[1]
            assert cost == search.plan_cost[0], seed
            # Hosts of placed members cost the same in all plans.
            assert value - first == pytest.approx(
                search.plan_cost[1] - before[1], abs=1e-7), seed
    assert improved >= number // 4


def test_steps_without_a_gain_end_the_search():
    """The hosts that the members may use are in use by a member that stays, so
    the members cost nothing. Sums of costs are slightly below 0 because of
    rounding. Such a value does not count as a gain, even if no step was taken.
    """
    known = _problem((group(servers('m', 3)), cloud(
        host('h1', 'r'), host('h2', 'r', enabled=False)), {'m-0': 'h1'}),
        'stack')
    case = _case(known)
    counts = any_plan(case, in_time())
    for rounding in (0.0, -1e-17, 1e-17):
        costs = placement_costs(case, known.objective, known.members)
        costs.value = rounding
        search = RuinAndRecreate(case, counts, costs, random.Random(1),
                                 no_limit)
        assert search.plan_cost[1] == pytest.approx(0.0, abs=1e-15)
        for steps in (0, 5):
            assert not search.run(steps, in_time()), rounding


def _racks(used):
    return cloud(*(host(f'h{n}', f'r{n // 4}', inventories={
        'VCPU': Inventory(8, used=used(n))}) for n in range(24)))


def _tiers(*policies):
    return group(groups=[group(servers('m', 4), name=f'g{n}',
                               policies=policies) for n in range(6)])


@pytest.mark.parametrize('members', [1, 8, 100])
def test_parts_of_any_size_reach_the_optimum(members):
    """Twenty-four members of one unit fill three empty hosts."""
    known = _problem((_tiers(AntiAffinity(max_per_domain=2)), _racks(
        lambda n: 0)), 'fewest-hosts')
    assert known.offer({m.path: known.snapshot.hosts[n]
                        for n, m in enumerate(known.members)})
    with limited('improve', part_members=members):
        ruin_and_recreate(known, in_time(), 1)
    if members == 100:
        assert known.plan_cost == (0, 3)
    # Members of other parts stay, so an additional host may remain in use.
    assert known.plan_cost <= (0, 6)


def test_members_of_a_preference_move_to_one_domain_together():
    """A move of a single member cannot improve the plan."""
    known = _problem((_tiers(AntiAffinity(), SoftAffinity(level='rack')),
                      _racks(lambda n: 2)), 'spread')
    assert known.offer({m.path: known.snapshot.hosts[n * 5 % 24]
                        for n, m in enumerate(known.members)})
    assert known.plan_cost[0] > 0
    ruin_and_recreate(known, in_time(), 1)
    assert known.plan_cost[0] == 0


def test_exclusive_hosts_stay_closed_to_other_parts():
    """Members of other parts would have the lowest costs on those hosts."""
    shop = group(groups=[
        group(servers('m', 2), name='alone', policies=[Exclusive()]),
        group(servers('m', 6), name='others', policies=[
            Affinity(level='rack')])])
    known = _problem((shop, _racks(lambda n: 6 if n > 3 else 0)), 'spread')
    assert known.offer({
        path: known.snapshot.hosts[h] for path, h in zip(
            (m.path for m in known.members), (0, 0, 1, 1, 1, 2, 2, 3))})
    before = known.plan_cost
    with limited('improve', part_members=1):
        ruin_and_recreate(known, in_time(), 1)
    assert known.plan_cost <= before
    assert check(known.group, known.snapshot, {
        path: host.name for path, host in known.where.items()}) == ()


def _beside_an_exclusive_part():
    """A member that prefers to be alone is on the largest host, and two others
    are on two more hosts. Both have room on one of these hosts, but the
    largest host is already in use."""
    shop = group(groups=[
        group(servers('m', 1), name='alone', policies=[
            Exclusive(weight=1.0)]),
        group(servers('m', 2), name='others', policies=[
            Affinity(level='rack')])])
    known = _problem((shop, cloud(
        host('large', 'r', vcpus=8), host('a', 'r', vcpus=2),
        host('b', 'r', vcpus=2))), 'fewest-hosts')
    assert known.offer({m.path: known.snapshot.hosts[n]
                        for n, m in enumerate(known.members)})
    assert known.plan_cost == (0, 3)
    return known


@pytest.mark.parametrize('seed', range(4))
def test_members_do_not_violate_preferences_of_other_parts(seed):
    """Otherwise, no plan of the search would be better for the group."""
    known = _beside_an_exclusive_part()
    with limited('improve', part_members=1, ruin_steps=30):
        ruin_and_recreate(known, in_time(), seed)
    assert known.plan_cost == (0, 2)


def test_members_leave_a_host_that_another_member_prefers_to_have_alone():
    """The cost of its preference falls although it does not move."""
    shop = group(groups=[
        group(servers('m', 1), name='alone', policies=[
            Exclusive(weight=1.0)]),
        group(servers('m', 2), name='others')])
    path = next(m.path for m in shop.all_members())
    known = _problem((shop, cloud(
        host('large', 'r', vcpus=8, servers=1),
        host('other', 'r', vcpus=2)), {path: 'large'}), 'fewest-hosts')
    case = _case(known)
    assert known.offer(dict.fromkeys(
        (m.path for m in known.members), known.snapshot.hosts[0]))
    search = RuinAndRecreate(
        case, known.counts(case), placement_costs(
            case, known.objective, known.members), random.Random(1), no_limit)
    assert search.plan_cost[0] == known.plan_cost[0] == 1
    assert search.run(20, in_time())
    assert search.plan_cost[0] == known.plan_cost_of(
        case.placement(search.best))[0] == 0


def test_a_plan_that_the_check_refuses_ends_the_search_of_its_part(
        monkeypatch):
    """Further steps would start from this plan."""
    known = _problem((_tiers(AntiAffinity(max_per_domain=2)), _racks(
        lambda n: 0)), 'fewest-hosts')
    assert known.offer({m.path: known.snapshot.hosts[n]
                        for n, m in enumerate(known.members)})
    refused = []
    monkeypatch.setattr(known, 'offer',
                        lambda where: bool(refused.append(where)))
    with limited('improve', part_members=100, ruin_steps=20):
        for seed in range(8):
            refused.clear()
            ruin_and_recreate(known, in_time(), seed)
            assert len(refused) == 1, seed


@pytest.mark.parametrize('most', [20, 160])
def test_a_step_removes_any_number_of_connected_members(most):
    wanted = bind(group(servers('m', 45, 2), policies=[
        AntiAffinity(level='rack', max_per_domain=20)]), snapshot := cloud(*(
            host(f'h{n}', f'r{n // 2}', vcpus=20) for n in range(10))))
    ruins = Ruins(Case.of(wanted, snapshot, {}), random.Random(1), most)
    places = [(0, n % 10) for n in range(45)]
    for _ in range(times(300)):
        removed = ruins.draw(places, None)
        assert removed and len(removed) <= len(places)


def test_the_same_seed_leads_to_the_same_plan():
    def plan():
        known = _problem((_tiers(AntiAffinity(max_per_domain=2)), _racks(
            lambda n: n % 5)), 'stack')
        known.offer({m.path: known.snapshot.hosts[n]
                     for n, m in enumerate(known.members)})
        ruin_and_recreate(known, in_time(), 3)
        return {path: host.name for path, host in known.where.items()}

    assert plan() == plan()
