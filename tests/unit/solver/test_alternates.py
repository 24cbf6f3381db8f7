# SPDX-License-Identifier: Apache-2.0
"""Where else a member could go, everyone else at their places."""

from nova_holistic.model.inventory import Inventory
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.alternates import alternates
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks


def test_a_free_server_may_go_anywhere_else_emptiest_first():
    snapshot = cloud(
        host('a', 'r1', inventories={'VCPU': Inventory(16, used=8)}),
        host('b', 'r1'),
        host('c', 'r2', inventories={'VCPU': Inventory(16, used=4)}),
        host('d', 'r2', inventories={'VCPU': Inventory(16, used=16)}))
    wanted = group(servers('web'))
    plan = solve(wanted, snapshot)
    assert plan.hosts() == {'web': 'b'}
    assert alternates(wanted, snapshot, plan, 3) == {'web': ('c', 'a')}
    assert alternates(wanted, snapshot, plan, 1) == {'web': ('c',)}


def test_alternates_keep_out_of_the_racks_of_the_others():
    snapshot = cloud(*(host(f'{rack}h{n}', rack)
                       for rack in ('r1', 'r2', 'r3') for n in (1, 2)))
    wanted = group(servers('db', 2), policies=[AntiAffinity(level='rack')])
    plan = solve(wanted, snapshot)
    hosts = plan.hosts()
    for path, other in (('db-0', 'db-1'), ('db-1', 'db-0')):
        found = alternates(wanted, snapshot, plan, 10)[path]
        assert {name[:2] for name in found} == (
            {'r1', 'r2', 'r3'} - {hosts[other][:2]})
        assert hosts[path] not in found


def test_alternates_stay_in_the_rack_of_the_others():
    wanted = group(servers('db', 2), policies=[Affinity(level='rack')])
    plan = solve(wanted, two_racks(3))
    rack = plan.hosts()['db-0'][:2]
    for names in alternates(wanted, two_racks(3), plan, 10).values():
        assert len(names) == 2
        assert {name[:2] for name in names} == {rack}


def test_room_taken_by_the_plan_is_taken():
    snapshot = cloud(host('a', 'r1', vcpus=2), host('b', 'r1', vcpus=2))
    wanted = group(servers('web', 2, vcpus=2))
    plan = solve(wanted, snapshot)
    assert alternates(wanted, snapshot, plan, 5) == {
        'web-0': (), 'web-1': ()}


def test_use_of_members_that_stay_is_counted_once():
    snapshot = cloud(
        host('a', 'r1', inventories={'VCPU': Inventory(4, used=2)}),
        host('b', 'r1', inventories={'VCPU': Inventory(4)}))
    wanted = group(servers('web', 2, vcpus=2))
    placed = {'web-0': 'a'}
    plan = solve(wanted, snapshot, placed=placed)
    assert plan.hosts() == {'web-0': 'a', 'web-1': 'b'}
    assert alternates(wanted, snapshot, plan, 5, placed=placed) == {
        'web-0': ('b',), 'web-1': ('a',)}


def test_every_alternate_of_many_passes_the_check():
    snapshot = cloud(*(host(f'h{n:02}', f'r{n % 5}') for n in range(25)))
    wanted = group(
        groups=[group(servers('node', 4, vcpus=6), name=f'g{n}', policies=[
            AntiAffinity(), AntiAffinity(level='rack')]) for n in range(5)])
    plan = solve(wanted, snapshot)
    found = alternates(wanted, snapshot, plan, 3)
    assert any(found.values())
    for path, names in found.items():
        for name in names:
            assert check(wanted, snapshot,
                         {**plan.hosts(), path: name}) == ()


def test_a_server_of_an_even_spread_may_go_elsewhere_in_its_rack():
    wanted = group(servers('web', 4), policies=[
        Spread(level='rack', max_skew=0)])
    plan = solve(wanted, two_racks())
    for path, found in alternates(wanted, two_racks(), plan, 10).items():
        rack = plan.hosts()[path][:2]
        assert {*found} == {f'{rack}h1', f'{rack}h2'} - {plan.hosts()[path]}
