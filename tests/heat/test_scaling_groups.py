# SPDX-License-Identifier: Apache-2.0
"""Servers of an OS::Heat::AutoScalingGroup are members of a group."""

from tests.heat.stacks import SERVER
from tests.heat.test_bound_stacks import hosts
from tests.heat.test_group_resource import (
    HEAD, members, POINTED, rack_of, the_group, verify)
from tools.cloud.waiting import wait_for, WaitTimeout

__all__ = ('rack_of', 'verify')
"""Fixtures."""
SCALED = HEAD + f'''
resources:
  shop:
    type: OS::NovaHolistic::Group
    properties:
      policies: [{{type: anti-affinity, level: host}}]
  workers:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 20
      desired_capacity: 2
      resource: {{type: OS::Nova::Server, properties: {POINTED % 'worker'}}}
  other: {{type: OS::Nova::Server, properties: {SERVER}}}
''' + ''.join(f'''
  by{number}:
    type: OS::Heat::ScalingPolicy
    properties:
      adjustment_type: change_in_capacity
      auto_scaling_group_id: {{get_resource: workers}}
      scaling_adjustment: {number}
''' for number in (2, 9, -3))


def signalled(stack, policy, question, condition):
    """Heat ignores a signal while the group is still scaling. So the signal
    is repeated until it has its effect."""
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
    wait_for('4 servers', lambda: has_servers(stack, 4), 90, 0.5)
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
        uuid is not None for uuid in members(groups).values()) == 1, 60)
    assert groups.get(the_group(groups))['members'].get('planned', 0) == 0
