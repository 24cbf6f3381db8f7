# SPDX-License-Identifier: Apache-2.0
"""Servers of an OS::Heat::AutoScalingGroup are members of a group."""

from tests.heat.placements import hosts, members, the_group
from tests.heat.templates import (
    HEAD, pointing, POINTING_NODE, POINTING_STACK, scaling_group, server)
from tools.cloud.waiting import wait_for, WaitTimeout

GROUP = f'''{HEAD}
resources:
  shop:
    type: OS::NovaHolistic::Group
    properties:
      policies: [{{type: anti-affinity, level: host}}]
  other: {server()}
'''
SCALED = GROUP + scaling_group(server(pointing('worker')), (2, 9, -3),
                               min_size=1, max_size=20, desired_capacity=2)
EMPTY = GROUP + scaling_group(server(pointing('worker')), (2,),
                              min_size=0, max_size=20, desired_capacity=0)
NESTED = GROUP + scaling_group(POINTING_STACK % 'stacks', (2, 9),
                               min_size=1, max_size=20)


def signalled(stack, policy, question, condition):
    """Signal a policy until the condition is true. The signal is repeated,
    because Heat ignores it while the group is scaling."""
    for last in (False, False, False, True):
        stack.signal(policy)
        try:
            return wait_for(question, condition, 25, 0.5)
        except WaitTimeout:
            if last:
                raise


def has_servers(stack, number):
    return len(stack.servers()) == number + 1 and (
        stack.shown()['stack_status'].endswith('_COMPLETE'))


def test_a_scaling_group_grows_and_shrinks(stacks, groups, nova):
    stack = stacks.create('scaled', SCALED)
    assert len(members(groups)) == 2
    definition = groups.get(the_group(groups))['definition']
    assert definition['members'] == [{
        'name': 'worker', 'flavor': 'tiny', 'image': 'nothing',
        'count': {'desired': 2, 'max': 20}}]
    before = hosts(nova, stack)
    stack.signal('by2')
    wait_for('4 servers', lambda: has_servers(stack, 4), pause=0.5)
    after = hosts(nova, stack)
    assert before.items() <= after.items()
    del after['other']
    assert len(set(after.values())) == 4
    assert set(members(groups).values()) == set(
        stack.servers().values()) - {stack.servers()['other']}

    # 13 servers do not fit on 8 hosts: Heat creates none of them.
    signalled(stack, 'by9', 'an event', lambda: any(
        'needs 13 hosts' in each for each in stack.reasons()))
    assert len(nova.all()) == 5
    assert len(members(groups)) == 4
    assert groups.get(the_group(groups))['definition']['members'][0][
        'count']['desired'] == 4

    # One server is the minimum, so a second signal has no effect.
    signalled(stack, 'by-3', '1 server', lambda: has_servers(stack, 1))
    wait_for('the places to be free', lambda: sum(
        uuid is not None for uuid in members(groups).values()) == 1)
    assert groups.get(the_group(groups))['members'].get('planned', 0) == 0


def test_a_scaling_group_grows_from_zero(stacks, groups):
    stack = stacks.create('empty', EMPTY)
    assert members(groups) == {'worker-0': None}
    signalled(stack, 'by2', '2 servers', lambda: has_servers(stack, 2))
    assert len(members(groups)) == 2 and None not in members(groups).values()


def test_a_scaling_group_of_nested_stacks_grows(stacks, groups, nova):
    stack = stacks.create('nested', NESTED, files={
        'node.yaml': POINTING_NODE})
    before = members(groups)
    assert before.keys() == {'stacks/server-0'}
    signalled(stack, 'by2', '3 servers', lambda: sum(
        uuid is not None for uuid in members(groups).values()) == 3)
    wait_for('the end of the step', lambda: not stack.is_busy(), pause=0.5)
    assert before.items() < members(groups).items()
    servers = {each['id'] for each in nova.all()}
    assert servers == stack.server_ids()
    assert servers - {stack.servers()['other']} == set(
        members(groups).values())
    # 12 servers do not fit on 8 hosts: Heat creates none of them.
    signalled(stack, 'by9', 'an event', lambda: any(
        'needs 12 hosts' in each for each in stack.reasons()))
    assert {each['id'] for each in nova.all()} == servers
    assert len(members(groups)) == 3
