# SPDX-License-Identifier: Apache-2.0
"""Explanations of why a member is on its host: hosts left after each
condition, policies that rule out hosts, and the cost of the next best host."""

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.location import Location
from nova_holistic.solver.check import check
from nova_holistic.solver.diagnosis.explain import (
    Binding, explain, HostsLeft, Move)
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver import oracle
from tests.unit.solver.strategies import seeded


def _explained(wanted, snapshot, objective='spread', **options):
    plan = solve(wanted, snapshot, objective=objective, **options)
    assert isinstance(plan, Plan), plan
    return plan, {each.member: each for each in explain(
        PlannedGroup(wanted, snapshot, plan, options.get('placed', {})),
        objective)}


def test_remaining_hosts_are_counted_after_each_condition():
    gpu = frozenset({'GPU'})
    snapshot = cloud(
        host('a', 'r1', traits=gpu), host('b', 'r1', traits=gpu, vcpus=4),
        host('c', 'r2', traits=gpu), host('d', 'r2'),
        host('e', 'r2', traits=gpu, enabled=False))
    wanted = group(servers('db', 2, vcpus=16, required_traits=gpu))
    _, found = _explained(wanted, snapshot)
    # The members use a and c, so no host is left for either of them to move
    # to.
    assert found['db-0'].left == (
        HostsLeft('is enabled', 4), HostsLeft('has trait GPU', 3),
        HostsLeft('has room for VCPU 16', 2),
        HostsLeft('has room in addition to the rest of the plan', 1))
    assert found['db-0'].open == 0
    assert found['db-0'].next_best is None


def test_each_policy_is_listed_with_the_hosts_it_rules_out():
    # db-1 uses the whole rack, so the other host of this rack is ruled out
    # too.
    wanted = group(groups=[group(servers('node', 2), name='db', policies=[
        AntiAffinity(level='rack')])], policies=[Affinity(level='feed')])
    snapshot = cloud(*(
        host(f'{rack}{n}', rack, labels={'feed': feed})
        for rack, feed in (('r1', 'A'), ('r2', 'A'), ('r3', 'B'))
        for n in (1, 2)))
    _, found = _explained(wanted, snapshot)
    # Of the five other hosts, two are on the other feed, and two are in the
    # rack of the other member.
    assert found['db/node-0'].bindings == (
        Binding('affinity feed', '', 2),
        Binding('anti-affinity rack', 'db', 2))
    assert found['db/node-0'].open == 1


def test_a_host_counts_for_each_policy_that_excludes_it():
    # The other host is in no domain of the level feed, which the counts of
    # members show. The uplink of its rack has no capacity, which only a check
    # shows.
    wanted = group(servers('web', 2), servers('db'), relationships=[
        Bandwidth(level='feed', mbps=50, between=('web', 'db')),
        Bandwidth(level='rack', mbps=70, between=('web', 'db'))])
    snapshot = cloud(
        host('a', 'r1', labels={'feed': 'A'}), host('b', 'r2'),
        links=(Link(('r2',), 0),))
    _, found = _explained(wanted, snapshot)
    assert found['web-0'].bindings == (
        Binding('bandwidth feed between web and db', '', 1),
        Binding('bandwidth rack between web and db', '', 1))
    assert (found['web-0'].open, found['web-0'].tried) == (0, 0)


def test_the_next_best_host_is_given_with_its_cost():
    snapshot = cloud(host('a', 'r'), host('b', 'r', inventories={
        'VCPU': Inventory(16, used=4)}))
    _, found = _explained(group(servers('db', vcpus=8)), snapshot)
    # The piecewise linear cost rises by 0.25 from usage 0 to 1/2. It rises by
    # 0.5 from usage 1/4, with cost 0.065, to 3/4, with cost 0.565.
    assert found['db'].next_best == Move('b', 0, pytest.approx(0.25))
    assert (found['db'].open, found['db'].tried) == (1, 1)


def test_the_next_best_host_may_be_equally_good():
    _, found = _explained(group(servers('db')), two_racks(), 'fewest-hosts')
    assert found['db'].next_best.objective == 0
    assert found['db'].open == 3


def test_a_move_against_a_preference_costs_its_weight():
    wanted = group(servers('db'), policies=[
        Location(path=('r2', 'r2h1'), weight=7.0)])
    plan, found = _explained(wanted, two_racks())
    assert plan.hosts() == {'db': 'r2h1'}
    assert found['db'].next_best.preferences == 7
    assert found['db'].bindings == ()


def test_an_exclusive_policy_rules_out_hosts_for_other_groups():
    wanted = group(servers('web'), groups=[group(
        servers('node'), name='db', policies=[Exclusive()])])
    _, found = _explained(wanted, two_racks(1))
    assert found['web'].bindings == (Binding('exclusive host', 'db', 1),)
    assert found['web'].open == 0


def test_a_placed_member_keeps_its_own_capacity():
    snapshot = cloud(host('a', 'r', inventories={
        'VCPU': Inventory(16, used=16)}), host('b', 'r'))
    _, found = _explained(group(servers('db', vcpus=16)), snapshot,
                          placed={'db': 'a'})
    assert found['db'].host == 'a'
    assert found['db'].open == 1


def _moves(case, group, snapshot, where, path, objective):
    """Generate each host to which the member could move, with the violations
    and the objective value after the move. The independent check and the
    oracle compute them."""
    fixed = {p: h for p, h in case.placed.items() if p != path}
    for each in snapshot.hosts:
        moved = {**where, path: each.name}
        if each.name != where[path] and not check(
                group, snapshot, moved, fixed):
            yield each.name, oracle.violations(
                group, snapshot, case.placed, moved), oracle.value(
                    objective, group, snapshot, case.placed, moved)


def test_the_next_best_host_is_the_best_of_all_moves():
    compared = 0
    for seed in range(30_000, 30_000 + times(200)):
        case = seeded(seed)
        group_, snapshot = case.read()
        objective = ('spread', 'fewest-hosts')[seed % 2]
        plan = solve(group_, snapshot, placed=case.placed,
                     objective=objective)
        if not isinstance(plan, Plan):
            continue
        bound = bind(group_, snapshot)
        where = plan.hosts()
        cost = oracle.violations(bound, snapshot, case.placed, where)
        value = oracle.value(objective, bound, snapshot, case.placed, where)
        for each in explain(PlannedGroup(group_, snapshot, plan, case.placed),
                            objective):
            if each.member in case.placed:
                continue
            moves = {name: (c - cost, v - value) for name, c, v in _moves(
                case, bound, snapshot, where, each.member, objective)}
            assert (each.next_best is None) == (not moves), seed
            if moves:
                best = min(moves.values())
                assert (each.next_best.preferences,
                        each.next_best.objective) == (
                            pytest.approx(best[0], abs=1e-6),
                            pytest.approx(best[1], abs=1e-6)), seed
                compared += 1
    assert compared > times(200) / 4, 'the cases are lopsided'


def test_hosts_with_a_card_are_counted():
    card = NestedProvider('card', 'card', '', FrozenMapping(
        {'VGPU': Inventory(1)}))
    snapshot = cloud(host('h1', 'r1', providers=(card,)),
                     host('h2', 'r1', providers=(card,)), host('h3', 'r1'))
    for wanted in (Requirements(FrozenMapping({'VCPU': 1, 'VGPU': 1})),
                   Requirements(FrozenMapping({'VCPU': 1}), request_groups=(
                       RequestGroup('1', FrozenMapping({'VGPU': 1})),))):
        plan, found = _explained(
            group(MemberDescription('gpu', wanted)), snapshot)
        assert found['gpu'].left[-1].hosts == 2
        assert found['gpu'].open == 1
        assert found['gpu'].next_best.host in {'h1', 'h2'} - {
            *plan.hosts().values()}
