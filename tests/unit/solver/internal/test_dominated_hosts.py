# SPDX-License-Identifier: Apache-2.0
"""Dominated hosts, for which other hosts are as good in every respect, are
left out."""

from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.solver.milp.dominated_hosts import needed_places
from nova_holistic.solver.milp import search
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.agreement import agrees
from tests.unit.solver.strategies import OBJECTIVES, seeded


def used_hosts(number, **fields):
    """Return hosts, each of which has one VCPU less free than the previous
    one."""
    return [host(f'h{n}', f'r{n % 2}', inventories={
        'VCPU': Inventory(32, used=n)}, **fields) for n in range(number)]


def needed(wanted, snapshot, objective='spread', placed=None):
    """Return the names of the hosts that are kept."""
    aim = load_objective(objective)
    bound = bind(wanted, snapshot)
    case = Case.of(bound, snapshot, placed or {})
    places = needed_places(case, aim.for_group(bound))
    return [each.name for each, needs in zip(
        case.table.hosts, places.any(axis=0)) if needs]


APART = group(servers('web', 3), policies=[AntiAffinity()])


def test_a_spread_plan_needs_the_emptiest_hosts_only():
    assert needed(APART, cloud(*used_hosts(12))) == ['h0', 'h1', 'h2']


def test_a_stacked_plan_needs_the_fullest_hosts_only():
    assert needed(APART, cloud(*used_hosts(12)), 'stack') == [
        'h9', 'h10', 'h11']


def test_of_equal_hosts_any_number_of_members_is_needed():
    equal = [host(f'h{n}', 'r1') for n in range(9)]
    assert needed(APART, cloud(*equal), 'fewest-hosts') == ['h0', 'h1', 'h2']


def test_each_domain_of_a_policy_keeps_hosts_of_its_own():
    near = group(servers('web', 3), policies=[
        AntiAffinity(), Affinity(level='rack')])
    assert needed(near, cloud(*used_hosts(12))) == [
        'h0', 'h1', 'h2', 'h3', 'h4', 'h5']


def test_a_domain_with_a_limit_keeps_no_more_hosts_than_members():
    one = group(servers('web', 3), policies=[
        AntiAffinity(), AntiAffinity(level='rack', max_per_domain=2)])
    assert needed(one, cloud(*used_hosts(12))) == ['h0', 'h1', 'h2', 'h3']


def test_a_host_that_others_use_does_not_replace_an_empty_one():
    alone = group(servers('web', 2), policies=[Exclusive(level='host')])
    hosts = [host(f'h{n}', 'r1', servers=n % 2) for n in range(8)]
    assert needed(alone, cloud(*hosts)) == ['h0', 'h2']


def test_hosts_of_members_that_stay_are_kept():
    found = needed(APART, cloud(*used_hosts(12)), placed={'web-0': 'h11'})
    assert found == ['h0', 'h1']
    softly = group(servers('web', 3), policies=[AntiAffinity(weight=1.0)])
    assert 'h11' in needed(softly, cloud(*used_hosts(12)),
                           placed={'web-0': 'h11'})


def test_nothing_is_left_out_if_the_costs_of_the_objective_are_unknown():
    class Silent(type(load_objective('spread'))):
        def host_cost(self):
            return None

    snapshot = cloud(*used_hosts(12))
    bound = bind(APART, snapshot)
    case = Case.of(bound, snapshot, {})
    assert needed_places(case, Silent()).any(axis=0).all()


def similar_hosts(seed):
    """Return a random group of few members, a small random cloud in which each
    host exists four times with different usage, and placed members."""
    case = seeded(seed, 3, 3)
    hosts = []
    for number, each in enumerate(case.inventory['hosts']):
        for copy in range(4):
            resources = {name: {**amounts, 'used': max(
                0, amounts.get('used', 0) + (copy + number) % 3 - 1)}
                for name, amounts in each['resources'].items()}
            hosts.append({**each, 'name': f'{each["name"]}-{copy}',
                          'resources': resources})
    renamed = {path: f'{name}-0' for path, name in case.placed.items()}
    group_, _ = case.read()
    links = [link for link in case.inventory.get('links', ())
             if link['domain'].count('/') < 2]
    return group_, parse_inventory({
        **case.inventory, 'hosts': hosts, 'links': links}), renamed


def test_the_best_plan_is_found_on_the_remaining_hosts(monkeypatch):
    left_out = []

    def counted(case, objective, in_time):
        places = needed_places(case, objective, in_time)
        left_out.append(bool(((case.open_room() > 0) & ~places).any()))
        return places

    monkeypatch.setattr(search, 'needed_places', counted)
    plans = sum(agrees(similar_hosts(seed), OBJECTIVES[seed % 4])
                for seed in range(times(400)))
    assert plans > times(400) / 3
    assert sum(left_out) > times(400) / 6


def test_strategies_with_and_without_it_agree():
    for seed in range(2000, 2000 + times(100)):
        case = similar_hosts(seed)
        for settings in (Settings('whole'), Settings('auto')):
            agrees(case, OBJECTIVES[seed % 4], settings=settings)
