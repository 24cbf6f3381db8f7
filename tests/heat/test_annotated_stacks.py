# SPDX-License-Identifier: Apache-2.0
"""The lifecycle plug-in plans stacks whose template states groups in the
metadata of a resource. No server of these templates has a pointer."""

import pytest

from tests.heat.stacks import SERVER
from tests.heat.test_group_resource import (
    HEAD, members, rack_of, the_group, verify)
from tests.heat.test_scaling_groups import signalled
from tools.cloud.waiting import wait_for

__all__ = ('rack_of', 'verify')
"""Fixtures."""
NODE = HEAD + f'''
resources:
  server: {{type: OS::Nova::Server, properties: {SERVER}}}
'''
FILES = {'node.yaml': NODE}
ANNOTATED = HEAD + f'''
parameters:
  size: {{type: number, default: 2}}
  policy: {{type: string, default: anti-affinity}}
resources:
  placement:
    type: OS::Heat::None
    metadata:
      holistic_groups:
        data:
          members: [nodes, master]
          policies: [{{type: {{get_param: policy}}, level: host}}]
        near:
          members: [web]
          policies: [{{type: affinity, level: rack}}]
          groups:
            crew:
              members: [workers]
              policies: [{{type: anti-affinity, level: host}}]
  master: {{type: OS::Nova::Server, properties: {SERVER}}}
  nodes:
    type: OS::Heat::ResourceGroup
    properties:
      count: {{get_param: size}}
      resource_def: {{type: node.yaml}}
  web:
    type: OS::Heat::ResourceGroup
    properties:
      count: 1
      resource_def: {{type: OS::Nova::Server, properties: {SERVER}}}
  workers:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 30
      resource: {{type: node.yaml}}
''' + ''.join(f'''
  by{number}:
    type: OS::Heat::ScalingPolicy
    properties:
      adjustment_type: change_in_capacity
      auto_scaling_group_id: {{get_resource: workers}}
      scaling_adjustment: {number}
''' for number in (1, 7))


def test_a_stack_is_planned_before_its_servers(
        stacks, groups, nova, rack_of, verify):
    stack = stacks.create('annotated', ANNOTATED, files=FILES)
    found = members(groups)
    assert found.keys() == {
        'data/master', 'data/nodes/0/server', 'data/nodes/1/server',
        'near/web-0', 'near/crew/workers/server-0'}
    assert None not in found.values()
    places = {each['id']: each['OS-EXT-SRV-ATTR:host'] for each in nova.all()}
    at = {path: places[uuid] for path, uuid in found.items()}
    assert len({host for path, host in at.items() if 'data' in path}) == 3
    assert rack_of(at['near/web-0']) == rack_of(
        at['near/crew/workers/server-0'])
    verify()

    # Growth, with the places of the other servers unchanged.
    assert stack.update(ANNOTATED, FILES, size=4)[0] == 'UPDATE_COMPLETE'
    assert found.items() <= members(groups).items()
    assert len(members(groups)) == 7
    verify()
    # Eight hosts are not enough for nine servers: Heat creates none of them.
    before = {each['id'] for each in nova.all()}
    status, reason = stack.update(ANNOTATED, FILES, size=8)
    assert status == 'UPDATE_FAILED'
    assert 'the group remains unchanged' in reason
    assert {each['id'] for each in nova.all()} == before
    # A change of policy, and fewer servers.
    assert stack.update(ANNOTATED, FILES, size=1, policy='soft-anti-affinity'
                        )[0] == 'UPDATE_COMPLETE'
    assert len(members(groups)) == 4
    verify()

    # A step of the AutoScalingGroup is planned completely or not at all.
    signalled(stack, 'by1', '2 workers', lambda: sum(
        'workers' in path and uuid is not None
        for path, uuid in members(groups).items()) == 2)
    wait_for('the end of the step', lambda: not stack.is_busy(), 60, 0.5)
    verify()
    before = {each['id'] for each in nova.all()}
    signalled(stack, 'by7', 'an event', lambda: any(
        'the group remains unchanged' in each for each in stack.reasons()))
    assert {each['id'] for each in nova.all()} == before

    stack.delete()
    wait_for('no group', lambda: not list(groups.list()), 30)


@pytest.mark.parametrize('rollback', (False, True))
def test_without_a_plan_no_server_is_created(
        stacks, groups, nova, rollback):
    stack = stacks.start('large', ANNOTATED, files=FILES, rollback=rollback,
                         size=9)
    status, reason = stack.settled()
    assert status == ('ROLLBACK_COMPLETE' if rollback else 'CREATE_FAILED')
    assert rollback or 'the group is unplaceable' in reason
    assert nova.all() == []
    assert not list(groups.list())


def test_what_was_not_created_is_released(stacks, groups, nova, verify):
    # The last server fails, after the others were created: there is no port
    # of this name.
    before, after = ANNOTATED.split('  master: ')
    _, after = after.split('\n', 1)
    broken = f'''{before}  master:
    type: OS::Nova::Server
    depends_on: [web, workers]
    properties:
      flavor: tiny
      image: nothing
      networks: [{{port: {{get_attr: [nodes, resource.0]}}}}]
{after}'''
    stack = stacks.start('broken', broken, files=FILES)
    assert stack.settled()[0] == 'CREATE_FAILED'
    group = the_group(groups)
    wait_for('the release', lambda: not groups.get(
        group)['members'].get('planned'), 30)
    assert members(groups)['data/master'] is None
    assert len(nova.all()) == 4
    # A repeated operation plans the rest again.
    assert stack.update(ANNOTATED, FILES)[0] == 'UPDATE_COMPLETE'
    assert None not in members(groups).values()
    verify()
    # Without the annotation, the servers remain and the group does not.
    servers = {each['id'] for each in nova.all()}
    plain = ANNOTATED.replace('holistic_groups', 'other')
    assert stack.update(plain, FILES)[0] == 'UPDATE_COMPLETE'
    wait_for('no group', lambda: not list(groups.list()), 30)
    assert {each['id'] for each in nova.all()} == servers
