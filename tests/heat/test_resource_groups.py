# SPDX-License-Identifier: Apache-2.0
"""Servers of an OS::Heat::ResourceGroup are members of a group outside the
stack."""

from tests.heat.placements import hosts, members
from tests.heat.templates import HEAD, pointing, resource_group, server
from tools.cloud.waiting import wait_for

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
''' + ''.join(
    resource_group(name, server(pointing(path, '{get_param: group}')),
                   f'{{get_param: n{name}}}')
    for name, path in (('a', 'x/a%index%'), ('b', 'b'), ('c', 'c-%index%')))


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
