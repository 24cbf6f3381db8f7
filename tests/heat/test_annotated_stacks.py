# SPDX-License-Identifier: Apache-2.0
"""The lifecycle plug-in plans stacks whose template states groups in the
metadata of a resource. No server of these templates has a pointer."""

import pytest

from tests.heat.placements import hosts_by_id, members, the_group
from tests.heat.templates import (
    failing, HEAD, NODE, resource_group, scaling_group, server)
from tests.heat.test_scaling_groups import signalled
from tools.cloud.waiting import wait_for

FILES = {'node.yaml': NODE}
WORKERS_GROUP = '''
          groups:
            crew:
              members: [workers]
              policies: [{type: anti-affinity, level: host}]
'''
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
{WORKERS_GROUP}
  master: {server()}
''' + (resource_group('nodes', '{type: node.yaml}', '{get_param: size}')
       + resource_group('web', server(), 1)
       + scaling_group('{type: node.yaml}', (1, 7), min_size=1, max_size=30))


def test_a_stack_is_planned_before_its_servers(
        stacks, groups, nova, rack_of, verify):
    stack = stacks.create('annotated', ANNOTATED, files=FILES)
    server_of = members(groups)
    assert server_of.keys() == {
        'data/master', 'data/nodes/0/server', 'data/nodes/1/server',
        'near/web-0', 'near/crew/workers/server-0'}
    assert None not in server_of.values()
    places = hosts_by_id(nova)
    at = {path: places[uuid] for path, uuid in server_of.items()}
    assert len({host for path, host in at.items() if 'data' in path}) == 3
    assert rack_of(at['near/web-0']) == rack_of(
        at['near/crew/workers/server-0'])
    verify()

    # The stack grows, and the other servers keep their places.
    assert stack.update(ANNOTATED, FILES, size=4)[0] == 'UPDATE_COMPLETE'
    assert server_of.items() <= members(groups).items()
    assert len(members(groups)) == 7
    verify()
    # Eight hosts are not enough for nine servers: Heat creates none of them.
    before = {each['id'] for each in nova.all()}
    status, reason = stack.update(ANNOTATED, FILES, size=8)
    assert status == 'UPDATE_FAILED'
    assert 'the group remains unchanged' in reason
    assert {each['id'] for each in nova.all()} == before
    # The policy changes, and servers are removed.
    assert stack.update(ANNOTATED, FILES, size=1, policy='soft-anti-affinity'
                        )[0] == 'UPDATE_COMPLETE'
    assert len(members(groups)) == 4
    verify()

    # A step of the AutoScalingGroup is planned completely or not at all.
    signalled(stack, 'by1', '2 workers', lambda: sum(
        'workers' in path and uuid is not None
        for path, uuid in members(groups).items()) == 2)
    wait_for('the end of the step', lambda: not stack.is_busy(), pause=0.5)
    verify()
    before = {each['id'] for each in nova.all()}
    signalled(stack, 'by7', 'an event', lambda: any(
        'the group remains unchanged' in each for each in stack.reasons()))
    assert {each['id'] for each in nova.all()} == before

    stack.delete()
    wait_for('no group', lambda: not list(groups.list()))


@pytest.mark.parametrize('rollback', (False, True))
def test_without_a_plan_no_server_is_created(
        stacks, groups, nova, rollback):
    stack = stacks.start('large', ANNOTATED, files=FILES, rollback=rollback,
                         size=9)
    status, reason = stack.settled(rolls_back=rollback)
    assert status == ('ROLLBACK_COMPLETE' if rollback else 'CREATE_FAILED')
    assert rollback or 'the group is unplaceable' in reason
    assert nova.all() == []
    assert not list(groups.list())


def test_members_without_a_server_are_released_after_a_failed_create(
        stacks, groups, nova, verify):
    # The last server fails, after the others were created.
    before, after = ANNOTATED.split('  master: ')
    _, after = after.split('\n', 1)
    broken = f'''{before}  master: {failing('nodes, web, workers')}
{after}'''
    stack = stacks.start('broken', broken, files=FILES)
    assert stack.settled()[0] == 'CREATE_FAILED'
    group = the_group(groups)
    wait_for('the release', lambda: not groups.get(
        group)['members'].get('planned'))
    assert members(groups)['data/master'] is None
    assert len(nova.all()) == 4
    # A repeated operation plans the remaining members again.
    assert stack.update(ANNOTATED, FILES)[0] == 'UPDATE_COMPLETE'
    assert None not in members(groups).values()
    verify()
    # If the annotation is removed, the servers remain and the group is
    # deleted.
    servers = {each['id'] for each in nova.all()}
    plain = ANNOTATED.replace('holistic_groups', 'other')
    assert stack.update(plain, FILES)[0] == 'UPDATE_COMPLETE'
    wait_for('no group', lambda: not list(groups.list()))
    assert {each['id'] for each in nova.all()} == servers
    # With the annotation, the same servers become members again.
    assert stack.update(ANNOTATED, FILES)[0] == 'UPDATE_COMPLETE'
    assert set(members(groups).values()) == servers
    verify()


def test_an_adopted_stack_gets_a_group_of_its_servers(
        stacks, groups, nova, verify):
    # Heat does not adopt an OS::Heat::AutoScalingGroup.
    template, _, _ = ANNOTATED.partition('\n  workers:')
    template = template.replace(WORKERS_GROUP, '')
    stack = stacks.create('annotated', template, files=FILES)
    server_of, places = members(groups), hosts_by_id(nova)
    abandoned = stack.abandon()
    wait_for('no group', lambda: not list(groups.list()))
    adopted = stacks.adopt('adopted', template, abandoned, FILES)
    wait_for('the group', lambda: list(groups.list()) and (
        members(groups) == server_of))
    verify()
    # The stack grows, and the adopted servers keep their places.
    assert adopted.update(template, FILES, size=3)[0] == 'UPDATE_COMPLETE'
    assert server_of.items() < members(groups).items()
    assert places.items() < hosts_by_id(nova).items()
    verify()


def test_mistakes_are_found_before_the_stack_exists(stacks, groups):
    wrong = ANNOTATED.replace('level: rack', 'level: row')
    status, refusal = stacks.refusal('wrong', wrong, FILES)
    assert status == 400
    assert ('resources.placement.metadata.holistic_groups.near.policies[0].'
            "level: : unknown level 'row'") in refusal
    wrong = ANNOTATED.replace('[web]', '[wbe]')
    message = ('resources.placement.metadata.holistic_groups.near.members[0]: '
               ": no resource 'wbe' (did you mean 'web'?)")
    assert message in stacks.refusal('wrong', wrong, FILES)[1]
    assert message.replace(': :', ':') in stacks.mistake(wrong, FILES)
    # The validation accepts missing values of parameters.
    assert stacks.mistake(ANNOTATED.replace(', default: 2', ''), FILES) == ''
    assert not list(groups.list())
