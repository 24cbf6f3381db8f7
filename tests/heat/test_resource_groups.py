# SPDX-License-Identifier: Apache-2.0
"""Servers of an OS::Heat::ResourceGroup are members of a group outside the
stack."""

from tests.heat.stacks import SERVER
from tests.heat.test_bound_stacks import hosts
from tests.heat.test_group_resource import HEAD, members, rack_of, verify
from tools.cloud.waiting import wait_for

__all__ = ('rack_of', 'verify')
"""Fixtures."""
GROUP = {
    'name': 'outside', 'policies': [{'type': 'anti-affinity',
                                     'level': 'host'}],
    'groups': [{'name': 'x', 'members': [
        {'name': 'a0', 'flavor': 'tiny', 'image': 'nothing'}]}],
    'members': [{'name': name, 'flavor': 'tiny', 'image': 'nothing',
                 'count': count}
                for name, count in (('b', {'desired': 1, 'max': 9}),
                                    ('c', 1))]}
TEMPLATE = HEAD + '''
parameters:
  group: {type: string}
  na: {type: number, default: 1}
  nb: {type: number, default: 1}
  nc: {type: number, default: 1}
resources:
''' + ''.join(f'''
  {name}:
    type: OS::Heat::ResourceGroup
    properties:
      count: {{get_param: n{name}}}
      resource_def:
        type: OS::Nova::Server
        properties: {SERVER[:-1]}, scheduler_hints: {{
          holistic_group: {{get_param: group}}, holistic_member: {path}}}}}
''' for name, path in (('a', 'x/a%index%'), ('b', 'b'), ('c', 'c-%index%')))


def test_each_step_is_planned_before_heat_creates_a_server(
        stacks, groups, plan, nova, verify):
    group = plan(GROUP).id
    stack = stacks.create('outside', TEMPLATE, group=group)
    before = hosts(nova, stack)
    assert stack.update(TEMPLATE, group=group, na=2, nb=2, nc=2) == (
        'UPDATE_COMPLETE', 'Stack UPDATE completed successfully')
    assert {each['id'] for each in nova.all()} == set(
        members(groups).values())
    assert members(groups).keys() == {
        'x/a0', 'x/a1', 'b-0', 'b-1', 'c-0', 'c-1'}
    assert set(before.values()) < {
        each['OS-EXT-SRV-ATTR:host'] for each in nova.all()}
    verify()
    # Eight hosts are not enough: Heat creates no server.
    servers = {each['id'] for each in nova.all()}
    for name in 'abc':
        status, reason = stack.update(TEMPLATE, group=group, **{
            'na': 2, 'nb': 2, 'nc': 2, f'n{name}': 5})
        assert status == 'UPDATE_FAILED'
        assert f'resources.{name}: the group remains unchanged' in reason
        # Heat cancels the updates of the other nested stacks afterwards.
        wait_for('the cancelled updates', lambda: not stack.is_busy())
    assert any('needs 9 hosts' in each for each in stack.reasons())
    assert {each['id'] for each in nova.all()} == servers
    # The capacity of deleted servers is free.
    assert stack.update(TEMPLATE, group=group) == (
        'UPDATE_COMPLETE', 'Stack UPDATE completed successfully')
    assert members(groups).keys() == {'x/a0', 'b-0', 'c-0'}
    assert None not in members(groups).values()
    verify()
