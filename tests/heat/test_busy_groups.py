# SPDX-License-Identifier: Apache-2.0
"""Heat checks and updates a group while an engine works on it, while it is
degraded, or after it was deleted. The group and its servers are kept."""

import signal

from keystoneauth1.adapter import Adapter
import pytest

from tests.heat.placements import (
    hosts, hosts_by_id, members, the_group)
from tests.heat.templates import HEAD
from tests.heat.test_group_resource import FULL
from tools.cloud import catalog
from tools.cloud.waiting import wait_for

# Every member has a server.
PAIR = FULL.replace(', count: 2', '').replace(
    'type: affinity, level: rack', 'type: anti-affinity, level: host')
OUTPUT = '''
outputs: {changed: {value: 1}}
'''
FEWER_FIT = HEAD + '''
parameters: {name: {type: string, default: first}}
resources:
  shop:
    type: OS::NovaHolistic::Group
    properties:
      name: {get_param: name}
      members:
        - {name: a, flavor: tiny, count: {min: 1, desired: 10, max: 12}}
      policies: [{type: anti-affinity, level: host}]
'''


@pytest.fixture
def busy(running, groups):
    """A function that stops the engines and requests a task of the group. It
    returns a function that lets the engines continue."""
    names = [name for name in running.processes.names()
             if name.startswith('engine')]

    def send(number):
        for name in names:
            running.processes.send(name, number)

    def stop():
        send(signal.SIGSTOP)
        group = groups.get(the_group(groups))
        groups.update(group['id'], group['definition'], group['revision'])
        return lambda: send(signal.SIGCONT)

    yield stop
    send(signal.SIGCONT)


def status_of_the_group(stack):
    return stack.resources()['shop']['resource_status']


def test_a_check_and_an_update_wait_for_the_engine(stacks, groups, busy):
    stack = stacks.create('full', PAIR)
    group = the_group(groups)
    resume = busy()
    stack.start_action('check')
    wait_for('the check', lambda: status_of_the_group(
        stack).startswith('CHECK'))
    resume()
    assert stack.settled()[0] == 'CHECK_COMPLETE', stack.reasons()
    resume = busy()
    stack.start_update(PAIR.replace('anti-affinity', 'soft-anti-affinity'))
    wait_for('the update', lambda: status_of_the_group(
        stack).startswith('UPDATE'))
    resume()
    assert stack.settled()[0] == 'UPDATE_COMPLETE', stack.reasons()
    assert groups.get(group)['definition']['policies'][0]['type'] == (
        'soft-anti-affinity')


def test_a_degraded_group_is_not_replaced(stacks, groups, nova, running):
    stack = stacks.create('full', PAIR)
    group, servers = the_group(groups), stack.servers()
    Adapter(catalog.session(running.layout, catalog.ADMIN),
            service_type='compute', default_microversion='2.60').post(
        f'/servers/{servers["a"]}/action', json={'os-migrateLive': {
            'host': hosts(nova, stack)['b'], 'block_migration': 'auto',
            # The scheduler does not check the policies.
            'force': True}})
    wait_for('violations', lambda: groups.get(group)['violations'], pause=0.5)
    status, reason = stack.act('check')
    assert status == 'CHECK_FAILED'
    assert 'the group is degraded: anti-affinity: host' in reason
    assert stack.update(PAIR + OUTPUT)[0] == 'UPDATE_COMPLETE'
    assert the_group(groups) == group
    assert hosts_by_id(nova).keys() == set(servers.values())


def test_a_group_that_heat_has_not_deleted_is_not_replaced(
        stacks, groups, nova):
    """A replacement would replace all servers of the stack."""
    stack = stacks.create('full', PAIR)
    group, servers = the_group(groups), stack.servers()
    groups.delete(group)
    status, reason = stack.act('check')
    assert status == 'CHECK_FAILED'
    assert f'group {group} no longer exists' in reason
    for template in PAIR + OUTPUT, PAIR.replace(
            'type: anti-affinity', 'type: soft-anti-affinity'):
        status, reason = stack.update(template)
        assert status == 'UPDATE_FAILED'
        assert 'give the resource another name in the template' in reason
    assert hosts_by_id(nova).keys() == set(servers.values())
    assert not list(groups.list())
    # The user accepts that the servers are replaced.
    renamed = PAIR.replace('  shop:', '  store:').replace(
        'get_resource: shop', 'get_resource: store')
    assert stack.update(renamed)[0] == 'UPDATE_COMPLETE'
    assert set(members(groups).values()) == set(stack.servers().values())
    assert not set(stack.servers().values()) & set(servers.values())


def test_an_update_that_converges_restores_the_definition(stacks, groups):
    stack = stacks.create('full', PAIR)
    before = groups.get(the_group(groups))
    assert stack.update(PAIR, converge=True)[0] == 'UPDATE_COMPLETE'
    after = groups.get(before['id'])
    assert (after['revision'], after['updated_at']) == (
        before['revision'], before['updated_at'])
    # A user changes the group, and not with Heat.
    groups.update(before['id'], {**before['definition'], 'policies': []},
                  before['revision'])
    assert groups.wait(before['id'])['revision'] == before['revision'] + 1
    assert stack.update(PAIR)[0] == 'UPDATE_COMPLETE'
    assert not groups.get(before['id'])['definition']['policies']
    assert stack.update(PAIR, converge=True)[0] == 'UPDATE_COMPLETE'
    assert groups.get(before['id'])['definition'] == before['definition']


def test_a_server_that_heat_has_not_deleted_is_replaced_after_a_check(
        stacks, groups, nova, verify):
    stack = stacks.create('full', PAIR)
    deleted = stack.servers()['a']
    nova.delete('full-a-')
    wait_for('the free place', lambda: deleted not in members(
        groups).values(), pause=0.5)
    assert stack.act('check')[0] == 'CHECK_FAILED'
    assert stack.update(PAIR)[0] == 'UPDATE_COMPLETE'
    assert stack.servers()['a'] != deleted
    assert members(groups) == stack.servers()
    verify()


def test_an_adopted_stack_of_a_deleted_group_keeps_its_servers(
        stacks, groups, nova):
    stack = stacks.create('full', PAIR)
    group, servers = the_group(groups), stack.servers()
    groups.delete(group)
    adopted = stacks.adopt('again', PAIR, stack.abandon())
    changed = PAIR.replace('type: anti-affinity', 'type: soft-anti-affinity')
    for status, reason in (adopted.act('check'), adopted.update(changed),
                           adopted.update(changed)):
        assert status in ('CHECK_FAILED', 'UPDATE_FAILED')
        assert f'group {group} no longer exists' in reason
    assert hosts_by_id(nova).keys() == set(servers.values())


def test_an_update_succeeds_although_fewer_servers_fit(stacks, groups):
    stack = stacks.create('partial', FEWER_FIT)
    assert groups.get(the_group(groups))['reasons']
    assert stack.update(FEWER_FIT, name='second')[0] == 'UPDATE_COMPLETE'
    renamed = groups.get(the_group(groups))
    assert (renamed['name'], renamed['members']) == ('second', {'planned': 8})
    assert renamed['reasons']
