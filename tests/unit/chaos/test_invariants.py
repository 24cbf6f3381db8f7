# SPDX-License-Identifier: Apache-2.0
"""The invariants of the chaos runs find each kind of violation."""

from collections import Counter
import dataclasses

import pytest

from tests.chaos.final_state import FinalState
from tests.chaos.invariants import (
    HOLD, left_by_nova, misallocated_by_nova, unfinished_by_nova, violations)

SIZE = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}
RACKS = {'h1': 1, 'h2': 1, 'h3': 2}
APART = {'type': 'anti-affinity', 'level': 'host'}


def member(path, state, host, server=None):
    return {'group_uuid': 'g', 'path': path, 'state': state, 'host': host,
            'hold': f'hold-{path}', 'instance_uuid': server,
            'requirements': {'resources': SIZE}}


def server(host, **others):
    return {'host': host, 'vm_state': 'active', 'launched_at': 1, 'vcpus': 1,
            'memory_mb': 512, 'disk_gb': 1, **others}


def group(*policies, **others):
    return {'status': 'building', 'task': None, 'reasons': [],
            'document': {'policies': policies}, **others}


def room(*hosts):
    return {host: Counter(SIZE) for host in hosts}


GOOD = FinalState(
    groups={'g': group(APART)},
    members=[member('a', 'built', 'h1', 's'), member('b', 'planned', 'h2')],
    allocations={'s': room('h1'), 'hold-b': room('h2')},
    types={'s': 'INSTANCE', 'hold-b': HOLD},
    servers={'s': server('h1')}, pointers={'s': ('g', 'a')}, migrations={})


def found(**changes):
    """The violations after a change of the facts."""
    return violations(dataclasses.replace(GOOD, **changes), RACKS)


def test_facts_in_order_violate_nothing():
    assert found() == []


def test_a_member_with_two_servers():
    assert found(
        servers={'s': server('h1'), 't': server('h3')},
        pointers={'s': ('g', 'a'), 't': ('g', 'a')},
        allocations=GOOD.allocations | {'t': room('h3')},
        types=GOOD.types | {'t': 'INSTANCE'}) == [
            '2 servers have room for g a']


def test_a_server_without_an_allocation():
    wrong, = found(allocations={'hold-b': room('h2')}, types={'hold-b': HOLD})
    assert wrong == 'server s (active) on h1 has {}'


def test_a_server_with_allocations_on_two_hosts():
    wrong, = found(allocations=GOOD.allocations | {'s': room('h1', 'h3')})
    assert wrong.startswith('server s on h1 has')


@pytest.mark.parametrize('host, launched', [('h1', None), (None, 1)])
def test_a_server_whose_build_failed_needs_no_allocation(host, launched):
    assert found(
        servers={'s': server(host, vm_state='error', launched_at=launched)},
        allocations={'hold-b': room('h2')}, types={'hold-b': HOLD},
        members=[member('a', 'failed', 'h1', 's'),
                 member('b', 'planned', 'h2')]) == []


def test_a_server_in_error_after_its_build_needs_its_allocation():
    wrong, = found(servers={'s': server('h1', vm_state='error')},
                   allocations={'hold-b': room('h2')}, types={'hold-b': HOLD})
    assert wrong == 'server s (error) on h1 has {}'


def test_a_planned_member_without_its_hold():
    wrong, = found(allocations={'s': room('h1')}, types={'s': 'INSTANCE'})
    assert wrong == 'planned member g b on h2 has {}'


def test_a_hold_at_another_place():
    wrong, = found(allocations=GOOD.allocations | {'hold-b': room('h3')})
    assert wrong.startswith('planned member g b on h2 has')


def test_a_hold_without_a_planned_member():
    wrong, = found(members=GOOD.members[:1])
    assert wrong.startswith('hold hold-b')


def test_an_allocation_of_a_member_whose_server_is_deleted():
    wrong, = found(servers={}, members=GOOD.members[1:])
    assert wrong.startswith('consumer s')


def test_allocations_that_nova_has_forgotten_are_counted_separately():
    facts = dataclasses.replace(
        GOOD, allocations=GOOD.allocations | {'x': room('h3')},
        types=GOOD.types | {'x': 'MIGRATION'})
    assert violations(facts, RACKS) == []
    assert left_by_nova(facts) == ['x']


def test_an_allocation_of_a_failed_migration_for_a_deleted_server():
    facts = dataclasses.replace(
        GOOD, allocations=GOOD.allocations | {'x': room('h3')},
        types=GOOD.types | {'x': 'INSTANCE'},
        pointers=GOOD.pointers | {'x': ('g', 'a')},
        migrations={'m': {'instance_uuid': 'x', 'status': 'error'}})
    wrong, = violations(facts, RACKS)
    assert wrong.startswith('consumer x')
    assert left_by_nova(facts) == []


@pytest.mark.parametrize('status, host, vm_state, expected', [
    ('pre-migrating', 'h3', 'active', ['s']),
    ('error', 'h3', 'active', ['s']),
    ('error', 'h1', 'active', []),
    ('confirmed', 'h3', 'active', []),
    ('confirmed', 'h1', 'error', ['s'])])
def test_a_server_whose_move_was_interrupted(status, host, vm_state, expected):
    assert misallocated_by_nova(dataclasses.replace(
        GOOD, servers={'s': server('h1', vm_state=vm_state)},
        allocations={'s': room(host)},
        migrations={'m': {'instance_uuid': 's', 'status': status}})
    ) == expected


def test_a_server_that_never_moved_is_not_misallocated():
    assert misallocated_by_nova(dataclasses.replace(
        GOOD, allocations={'s': room('h3')})) == []


def test_a_group_that_is_still_being_planned():
    wrong, = found(groups={'g': group(APART, task='replanning')})
    assert 'with task replanning' in wrong


def test_a_group_in_error_without_a_reason():
    wrong, = found(groups={'g': group(APART, status='error')})
    assert wrong == 'group g is error without a reason'
    assert found(groups={'g': group(
        APART, status='error', reasons=[{'message': 'no database'}])}) == []


def test_the_violations_of_a_degraded_group_are_its_reason():
    wrong = found(groups={'g': group(APART, status='degraded')})
    assert 'group g is degraded without a reason' in wrong
    assert 'group g is degraded without a reason' not in found(groups={
        'g': group(APART, status='degraded', violations=[
            {'message': 'host h1 holds 2 members'}])})


def test_a_member_that_stays_claimed():
    wrong, = found(members=[member('a', 'claimed', 'h1', 's'),
                            GOOD.members[1]])
    assert wrong.startswith('member g a is claimed')


def test_a_member_that_is_built_without_a_server():
    assert 'member g a is built and has no server' in found(
        servers={}, allocations={'hold-b': room('h2')},
        types={'hold-b': HOLD})


def test_a_member_that_is_lost_without_a_reason():
    changes = {'members': [GOOD.members[0], member('b', 'lost', 'h2')],
               'allocations': {'s': room('h1')}, 'types': {'s': 'INSTANCE'}}
    wrong, = found(**changes)
    assert 'gives no reason' in wrong
    assert found(**changes, groups={'g': group(
        APART, reasons=[{'message': 'no room'}])}) == []


def test_a_policy_that_is_violated():
    for policy, on in ((APART, 'h1'),
                       (APART | {'level': 'rack'}, 'h2'),
                       ({'type': 'affinity', 'level': 'rack'}, 'h3')):
        wrong, = found(
            groups={'g': group(policy)},
            members=[GOOD.members[0], member('b', 'planned', on)],
            allocations={'s': room('h1'), 'hold-b': room(on)})
        assert 'breaks' in wrong


def test_servers_that_nova_has_not_finished():
    unfinished = {
        (state, task)
        for state in ('building', 'active', 'resized', 'error', 'deleted')
        for task in (None, 'deleting')
        if unfinished_by_nova(server('h1', vm_state=state, task_state=task))}
    assert {state for state, task in unfinished if task is None} == {
        'building', 'resized', 'deleted'}
    assert {state for state, task in unfinished if task} == {
        'building', 'active', 'resized', 'error', 'deleted'}
