# SPDX-License-Identifier: Apache-2.0
"""The providers of each alternate can serve the member, in addition to the
whole plan. Exhaustive search over providers names the hosts that can."""

from dataclasses import replace

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan
from nova_holistic.model.request_group import ISOLATE, RequestGroup
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host
from tests.unit.solver.clocks import standing
from tests.unit.solver import oracle_providers
from tests.unit.solver.test_oracle_providers import random_case

CASES = times(200)


def gpus(name, *cards, rack='r1', vcpus=8):
    """Return a host with one provider for each of these numbers of GPUs."""
    return host(name, rack, vcpus=vcpus, providers=tuple(
        NestedProvider(f'{name}-{number}', f'{name}-{number}', '',
                       FrozenMapping({'VGPU': Inventory(total)}))
        for number, total in enumerate(cards)))


def node(name, *amounts, count=None, **more):
    """Return members with one request group for each amount of GPUs."""
    return MemberDescription(name, Requirements(
        FrozenMapping({'VCPU': 1}), request_groups=tuple(
            RequestGroup(f'_{number}', FrozenMapping({'VGPU': amount}))
            for number, amount in enumerate(amounts)), **more), count)


def planned(wanted, snapshot, **hosts):
    """Return the group with its plan on these hosts."""
    plan = solve(wanted, snapshot)
    by_name = snapshot.by_name()
    return PlannedGroup(wanted, snapshot, replace(plan, placements=tuple(
        replace(each, host=name, location=by_name[name].location)
        for each in plan.placements
        for name in [hosts[each.member.replace('-', '_')]])))


def test_a_host_without_the_device_is_no_alternate():
    snapshot = cloud(gpus('a', 1), host('plain', 'r1'), gpus('b', 1))
    found = alternates(planned(group(node('n', 1)), snapshot, n='a'), 3)
    assert found == {'n': ('b',)}


def test_one_provider_serves_a_whole_request_group():
    """Two devices with one GPU each cannot serve a group of two GPUs."""
    snapshot = cloud(gpus('a', 2), gpus('split', 1, 1), gpus('b', 2))
    found = alternates(planned(group(node('n', 2)), snapshot, n='a'), 3)
    assert found == {'n': ('b',)}


def test_all_request_groups_are_served_at_the_same_time():
    """Each group alone fits on the host ``one``."""
    snapshot = cloud(gpus('a', 2, 1), gpus('one', 2), gpus('b', 2, 1))
    found = alternates(planned(group(node('n', 1, 2)), snapshot, n='a'), 3)
    assert found == {'n': ('b',)}


def test_isolated_groups_need_different_providers():
    wanted = group(node('n', 1, 1, group_policy=ISOLATE))
    snapshot = cloud(gpus('a', 1, 1), gpus('one', 4), gpus('b', 1, 1))
    assert alternates(planned(wanted, snapshot, n='a'), 3) == {'n': ('b',)}


def test_groups_of_one_subtree_need_one_subtree():
    def device(name, *above, **amounts):
        return NestedProvider(name, name, *(above or ('',)), FrozenMapping({
            key: Inventory(total) for key, total in amounts.items()}))

    def at(name, parent):
        return host(name, 'r1', providers=(
            device(f'{name}-x', NUMA=1),
            device(f'{name}-y', NUMA=1),
            device(f'{name}-z', f'{name}-{parent}', VGPU=1),
            device(f'{name}-t', f'{name}-x', CUSTOM_NIC=1)))

    wanted = group(MemberDescription('n', Requirements(
        FrozenMapping({'VCPU': 1}), request_groups=tuple(
            RequestGroup(f'_{number}', FrozenMapping({name: 1}))
            for number, name in enumerate(('NUMA', 'VGPU', 'CUSTOM_NIC'))),
        same_subtree=(frozenset({'_0', '_1', '_2'}),))))
    snapshot = cloud(at('a', 'x'), at('split', 'y'), at('b', 'x'))
    assert alternates(planned(wanted, snapshot, n='a'), 3) == {'n': ('b',)}


def test_devices_of_planned_members_are_not_offered_again():
    """On ``b`` the devices are enough for the planned member only."""
    wanted = group(node('n', 1, count=2))
    snapshot = cloud(gpus('a', 1), gpus('b', 1), gpus('c', 1, 1))
    found = alternates(planned(wanted, snapshot, n_0='a', n_1='b'), 3)
    assert found == {'n-0': ('c',), 'n-1': ('c',)}


def test_planned_members_of_other_amounts_leave_pieces():
    """Two GPUs are free on ``b``, but not always two of one device."""
    wanted = group(node('m', 1, count=2), node('n', 2))
    snapshot = cloud(gpus('a', 2), gpus('b', 2, 2), gpus('c', 2))
    found = alternates(planned(
        wanted, snapshot, m_0='b', m_1='b', n='a'), 3)
    # Both members with one GPU can use the same device of ``b``.
    assert {*found['n']} == {'b', 'c'}
    wanted = group(node('m', 1, 1, group_policy=ISOLATE), node('n', 2))
    found = alternates(planned(wanted, snapshot, m='b', n='a'), 3)
    assert found['n'] == ('c',)


def _can_move(case, plan, path, name):
    """Return whether the member can be on the host, with all others on their
    planned hosts."""
    wanted, snapshot, placed = case
    hosts = snapshot.by_name()
    where = {**plan.hosts(), path: name}
    new = [(m, hosts[where[m.path]]) for m in wanted.all_members()
           if m.path not in placed]
    (member,) = (m for m, _ in new if m.path == path)
    return oracle_providers.suits(member, hosts[name]) and (
        oracle_providers.is_served(new))


def test_alternates_agree_with_exhaustive_search():
    """Without policies, each other host that can serve a member is one of its
    alternates."""
    found = missing = 0
    for seed in range(130_000, 130_000 + CASES):
        wanted, snapshot, placed = random_case(seed)
        wanted = replace(wanted, policies=(), relationships=(), groups=tuple(
            replace(each, policies=()) for each in wanted.groups))
        case = wanted, snapshot, placed
        plan = solve(wanted, snapshot, placed=placed,
                     settings=Settings(timer=standing))
        if not isinstance(plan, Plan):
            continue
        others = alternates(PlannedGroup(wanted, snapshot, plan, placed), 9)
        for path, own in plan.hosts().items():
            assert own not in others[path] or path in placed, seed
            for each in snapshot.hosts if path not in placed else ():
                if each.name == own:
                    continue
                possible = _can_move(case, plan, path, each.name)
                assert (each.name in others[path]) == possible, (
                    seed, path, each.name)
                found += possible
                missing += not possible
    assert min(found, missing) > CASES / 2
