# SPDX-License-Identifier: Apache-2.0
"""The size of the model, and the memory, of large groups."""

import pytest

from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition import cells as solver_cells
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.phases import large
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.settings import Settings
from nova_holistic.solver import solve as solving
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time, task
from tests.unit.solver import test_bounds


def _search(hosts, members):
    """Search for a plan on chosen hosts, and check that one is found."""
    snapshot = cloud(*(host(f'h{n}', f'r{n // 40}', inventories={
        'VCPU': Inventory(32, used=n * 7 % 30)}) for n in range(hosts)))
    wanted = group(groups=[
        group(servers('small', members // 4),
              servers('large', members // 4, vcpus=4), name=name,
              policies=[AntiAffinity(max_per_domain=4)])
        for name in ('one', 'other')])
    known = Incumbent(wanted, snapshot, {}, load_objective('fewest-hosts'),
                      0.01)
    large.large(task(known, 10.0), always=True)
    assert known.where is not None


def test_the_model_size_depends_on_members_and_not_on_hosts(searched_cases):
    _search(400, 80)
    few = searched_cases[-1]
    _search(4000, 80)
    many = searched_cases[-1]
    # A host takes at most eight members, so ten hosts are needed. The model
    # has twice as many and some spare hosts.
    assert {len(few.table), len(many.table)} <= set(range(10, 60))
    assert len(many.classes) == 4
    assert many.room.size < 4 * 60
    assert len(many.rules.rows) < 4 * 60


@pytest.mark.parametrize('objective', ['fewest-hosts', 'network'])
def test_random_groups_have_plans_on_chosen_hosts(objective):
    """If the strategy found no plan, the solver would solve the whole program,
    and tests of the strategy would test the whole program."""
    for seed in range(6):
        wanted, snapshot = test_bounds.random_case(seed, objective)
        bound = bind(wanted, snapshot)
        known = Incumbent(bound, snapshot, {}, load_objective(
            objective).for_group(bound), 0.01)
        large.large(task(known), always=True)
        assert known.where is not None, seed


def test_without_traffic_a_plan_without_violations_is_optimal(monkeypatch):
    """The objective does not distinguish plans, so that no relaxation can
    improve them."""
    snapshot = cloud(*(host(f'h{n}', f'r{n % 3}') for n in range(60)))
    wanted = bind(group(servers('m', 30), policies=[
        Spread(level='rack', max_skew=2), Affinity(weight=1.0)]), snapshot)
    known = Incumbent(wanted, snapshot, {}, load_objective(
        'network').for_group(wanted), 0.01)
    relaxed = []
    monkeypatch.setattr(large, '_relaxed', lambda *arguments: relaxed.append(
        known.where))
    large.large(task(known), always=True)
    # The preference cannot be satisfied.
    assert relaxed == [known.where] != [None]
    loose = bind(group(servers('m', 30), policies=[
        Spread(level='rack', max_skew=2),
        AntiAffinity(max_per_domain=4, weight=1.0)]), snapshot)
    known = Incumbent(loose, snapshot, {}, load_objective(
        'network').for_group(loose), 0.01)
    large.large(task(known), always=True)
    assert known.is_good_enough and len(relaxed) == 1


def test_a_pair_with_traffic_shares_a_rack_without_a_program(monkeypatch):
    """Only the hard form of the preference limits the racks of both members
    while places are assigned."""
    monkeypatch.setattr(large.Search, '_solve', None)
    snapshot = cloud(*(host(f'h{n}', f'r{n % 12}', vcpus=64)
                       for n in range(120)))
    wanted = bind(group(
        servers('a', 20), servers('b', 20, vcpus=2), relationships=[
            Bandwidth(between=('a-0', 'b-0'), mbps=10, level='rack',
                      weight=0.001)]), snapshot)
    known = Incumbent(wanted, snapshot, {}, load_objective(
        'spread').for_group(wanted), 0.05)
    large.large(task(known), always=True)
    assert known.plan_cost[0] == 0


@pytest.mark.parametrize('places', [10, 10_000])
def test_a_program_of_many_places_does_not_follow_a_plan(
        places, monkeypatch, set_limits):
    """The plan violates its preference, because no host has room for all
    members."""
    set_limits('milp', whole_places=places)
    solved = []
    monkeypatch.setattr(large.Search, '_solve',
                        lambda *arguments: solved.append(arguments))
    snapshot = cloud(*(host(f'h{n}', f'r{n % 3}') for n in range(60)))
    known = Incumbent(bind(group(servers('m', 30), policies=[
        Affinity(weight=1.0)]), snapshot), snapshot, {},
        load_objective('spread'), 0.01)
    large.large(task(known), always=True)
    assert known.plan_cost[0] > 0
    assert bool(solved) == (places == 10_000)


def test_equal_hosts_of_several_racks_are_chosen_if_a_rack_is_limited(
        monkeypatch):
    """The hosts of the first rack have room for all members, at equal cost."""
    monkeypatch.setattr(solving, '_on_all_hosts', None)
    resources = {
        'VCPU': {'total': 64, 'used': 8, 'allocation_ratio': 4.0},
        'MEMORY_MB': {'total': 524_288, 'used': 16_384, 'reserved': 512},
        'DISK_GB': {'total': 4000, 'used': 80}}
    snapshot = parse_inventory({'levels': ['az', 'rack', 'host'], 'hosts': [
        {'name': f'h{n:04}', 'location': [f'az{n // 2000}', f'r{n // 40:03}'],
         'resources': resources} for n in range(5000)]})
    wanted = group(MemberDescription('web', Requirements(FrozenMapping({
        'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10})), 100), policies=[
            AntiAffinity(level='rack', max_per_domain=50)])
    answer = solving.solve(wanted, snapshot,
                           settings=Settings(time_limit=60.0))
    assert answer.objective.gap < 0.01


def test_equal_hosts_are_merged_into_one_bin():
    snapshot = cloud(*(host(f'h{n}', f'r{n // 40}') for n in range(2000)))
    kinds = Kinds.of(group(servers('web', 64)), snapshot, {})
    aggregation = HostAggregation(kinds, cells(kinds, lambda: None),
                                  load_objective('fewest-hosts').host_cost(),
                                  in_time(10.0))
    aggregation.run()
    assert aggregation.bound == pytest.approx(4)
    assert [len(hosts) for hosts, _ in aggregation.solution] == [2000]


def test_members_of_one_kind_share_one_mask_of_hosts(monkeypatch):
    """One mask per member would not fit into memory for thousands of members
    and hosts."""
    known = []
    reach = solver_cells.reach
    monkeypatch.setattr(solver_cells, 'reach', lambda members, masks, *rest: (
        known.extend({id(mask): mask for mask in masks.values()}.values()),
        reach(members, masks, *rest))[1])
    wanted = group(servers('small', 300), servers('large', 200, vcpus=4),
                   policies=[AntiAffinity(level='rack', max_per_domain=100)])
    snapshot = cloud(*(host(f'h{n}', f'r{n // 10}') for n in range(100)))
    kinds = Kinds.of(wanted, snapshot, {})
    cells(kinds, lambda: None)
    assert len(known) == len(kinds.kinds) == 2
