# SPDX-License-Identifier: Apache-2.0
"""Better hosts for one independent part of a group after another."""

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.phases.part_plans import _PartPlans, replan_parts
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.ruin_recreate.part_hosts import PartHosts
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.test_part_bounds import random_case
from tests.unit.solver import oracle

CASES = times(60)


def _known(wanted, snapshot, where=None, objective='spread', placed=()):
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, dict(placed), load_objective(
        objective).for_group(bound), 1e-6)
    if where is not None:
        by_name = snapshot.by_name()
        assert known.offer({path: by_name[name]
                            for path, name in where.items()})
    return known


def _search(known):
    return _PartPlans(known, PartHosts(
        HostTable.of(known.snapshot), known.members,
        known.objective.host_cost()), in_time())


def _triple(name, *policies):
    return group(servers('m', 3), name=name, policies=policies)


def _on(name, *hosts):
    return {f'{name}/m-{number}': each for number, each in enumerate(hosts)}


def _two_good_racks():
    """Return a cloud. A member costs 0.01 on the three empty hosts of each of
    the racks r1 and r2, and 0.11 on the half-used hosts of the other racks."""
    return cloud(*(host(f'r{rack}h{n}', f'r{rack}', labels={
        'feed': 'AB'[rack in (1, 2)]}, inventories={
            'VCPU': Inventory(10, used=5 * (rack not in (1, 2)))})
        for rack in range(6) for n in range(3)))


@pytest.mark.parametrize('level', ['rack', 'feed'])
def test_all_members_of_a_set_move_to_another_domain(level):
    """Each member of two triples gets an empty host. No move of one or two
    members of a triple is possible."""
    wanted = group(groups=[
        _triple(name, Affinity(level=level), AntiAffinity())
        for name in ('x', 'y')])
    known = _known(wanted, _two_good_racks(), {
        **_on('x', 'r0h0', 'r0h1', 'r0h2'),
        **_on('y', 'r3h0', 'r3h1', 'r3h2')})
    replan_parts(known, in_time())
    assert known.plan_cost[1] == pytest.approx(0.06)


def test_a_preference_leads_to_hosts_that_are_not_the_cheapest():
    """Only hosts with a high cost have the trait."""
    snapshot = cloud(*(host(f'h{n}', f'r{n}', traits=frozenset(
        {'T'} if n > 58 else ()), inventories={
            'VCPU': Inventory(10, used=n // 10)}) for n in range(60)))
    wanted = group(groups=[_triple('x', Traits(has=frozenset('T'), weight=1)),
                           _triple('y', AntiAffinity())])
    known = _known(wanted, snapshot, {
        **_on('x', 'h0', 'h1', 'h2'), **_on('y', 'h3', 'h4', 'h5')})
    assert known.plan_cost[0] > 0
    replan_parts(known, in_time())
    assert known.plan_cost[0] == 0


def test_no_part_uses_the_hosts_of_exclusive_members():
    """Three of the four empty hosts are for the exclusive members, because
    the fourth is used by a server of another group. One of the other members
    is on it, at 0.01, and one on a half-used host, at 0.11."""
    snapshot = cloud(*(host(f'h{n}', 'r0', servers=int(n > 2), inventories={
        'VCPU': Inventory(10, used=5 * (n > 3))}) for n in range(8)))
    wanted = group(groups=[
        _triple('x', Exclusive(), AntiAffinity()),
        group(servers('m', 2), name='y', policies=[AntiAffinity()])])
    known = _known(wanted, snapshot, {
        **_on('x', 'h0', 'h1', 'h2'), **_on('y', 'h5', 'h6')})
    replan_parts(known, in_time())
    assert known.plan_cost[1] == pytest.approx(0.03 + 0.01 + 0.11)


def test_no_part_uses_the_hosts_that_another_part_prefers_not_to_share():
    """A member costs 0.01 on the three empty hosts, 0.03 if it is the second
    one there, 0.05 on three other hosts, and 0.11 on the hosts of x in the
    plan."""
    wanted = group(groups=[
        _triple('x', Exclusive(weight=1.0), AntiAffinity()),
        _triple('y', AntiAffinity())])
    snapshot = cloud(*(host(f'h{n}', f'r{n}', inventories={
        'VCPU': Inventory(10, used=(5, 2, 0)[n // 3])}) for n in range(9)))
    known = _known(wanted, snapshot, {
        **_on('x', 'h0', 'h1', 'h2'), **_on('y', 'h3', 'h4', 'h5')})
    assert known.plan_cost == (0, pytest.approx(3 * 0.11 + 3 * 0.05))
    _search(known).construct(in_time())
    assert known.plan_cost == (0, pytest.approx(3 * 0.01 + 3 * 0.05))


def test_a_plan_is_completed_and_improved_from_a_worse_start():
    """One triple has bad hosts at the start, and the other one has none. In
    the incumbent, each triple occupies the good rack of the other one, and no
    single triple can move."""
    wanted = group(groups=[
        _triple(name, Affinity(level='rack'), AntiAffinity())
        for name in ('x', 'y')])
    snapshot = _two_good_racks()
    known = _known(wanted, snapshot, {
        **_on('x', 'r0h0', 'r0h1', 'r0h2'),
        **_on('y', 'r1h0', 'r1h1', 'r1h2')})
    before, by_name = known.plan_cost, snapshot.by_name()
    search = _search(known)
    assert not search.complete({})
    assert search.complete({path: by_name[name] for path, name in _on(
        'x', 'r5h0', 'r5h1', 'r5h2').items()})
    assert known.plan_cost == before
    search.run()
    assert search.has_best
    assert known.plan_cost == (0, pytest.approx(0.06))


def test_a_start_without_hosts_for_the_other_parts_is_ignored():
    """The exclusive members need three of the first three hosts, because a
    server of another group is on the last host."""
    snapshot = cloud(*(host(f'h{n}', 'r0', servers=int(n == 3))
                       for n in range(4)))
    known = _known(group(groups=[
        _triple('x', Exclusive(), AntiAffinity()), _triple('y', Affinity())]),
        snapshot, {**_on('x', 'h0', 'h1', 'h2'), **_on('y', 'h3', 'h3', 'h3')})
    search, where = _search(known), dict(known.where)
    first = snapshot.by_name()['h0']
    assert not search.complete({f'y/m-{n}': first for n in range(3)})
    assert known.where == where
    search.run()
    assert known.where == where


def test_a_part_keeps_its_hosts_if_all_hosts_are_closed_to_it():
    snapshot = cloud(*(host(f'h{n}', 'r0') for n in range(4)))
    where = {**_on('x', 'h0', 'h1', 'h2'), **_on('y', 'h3', 'h3', 'h3')}
    known = _known(group(groups=[
        _triple('x', Exclusive(), AntiAffinity()), _triple('y', Affinity())]),
        snapshot, where)
    replan_parts(known, in_time())
    assert known.plan_cost[1] == pytest.approx(_known(
        known.group, snapshot, where).plan_cost[1])


def test_nothing_changes_if_a_member_stays():
    wanted = group(groups=[_triple('x'), _triple('y')])
    where = {**_on('x', 'r0h0', 'r0h1', 'r0h2'),
             **_on('y', 'r3h0', 'r3h1', 'r3h2')}
    known = _known(wanted, _two_good_racks(), where,
                   placed={'x/m-0': 'r0h0'})
    replan_parts(known, in_time())
    assert {path: each.name for path, each in known.where.items()} == where


def test_other_objectives_keep_their_plan():
    wanted = group(groups=[_triple('x'), _triple('y')])
    where = {**_on('x', 'r0h0', 'r0h1', 'r0h2'),
             **_on('y', 'r3h0', 'r3h1', 'r3h2')}
    for objective in ('stack', 'network'):
        known = _known(wanted, _two_good_racks(), where, objective)
        replan_parts(known, in_time())
        assert {path: each.name
                for path, each in known.where.items()} == where


def test_plans_satisfy_all_policies_and_are_not_worse():
    better = 0
    for seed in range(CASES):
        wanted, snapshot, placed = random_case(seed)
        known = _known(wanted, snapshot.without_servers(placed.values()),
                       placed=placed)
        first_plan(known, in_time())
        if known.where is None:
            continue
        before = known.plan_cost
        replan_parts(known, in_time())
        where = {path: each.name for path, each in known.where.items()}
        assert oracle.violations(
            wanted, snapshot, placed, where) is not None, seed
        assert known.plan_cost <= before, seed
        better += known.plan_cost < before
    assert better
