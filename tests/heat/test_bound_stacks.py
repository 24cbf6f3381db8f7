# SPDX-License-Identifier: Apache-2.0
"""heat-engine creates the servers of bound stacks; no template has a pointer.

Heat's option ``stack_scheduler_hints`` is set, and nothing else.
"""

from tests.heat.placements import hosts
from tests.heat.templates import HEAD, resource_group, scaling_group, server
from tools.cloud.waiting import wait_for

ASG = f'''{HEAD}
parameters:
  size: {{type: number}}
resources:
''' + scaling_group(server(), (1,), min_size=1, max_size=5,
                    desired_capacity='{get_param: size}')
NESTED = f'''{HEAD}
resources:
  db: {server()}
  alone: {server()}
''' + resource_group('web', server(), 2)


def test_an_autoscaling_group_gets_planned_places(
        stacks, groups, plan, nova):
    group = plan({'name': 'cluster', 'members': [{
        'name': 'worker', 'flavor': 'tiny',
        'count': {'min': 1, 'desired': 2, 'max': 3}}],
        'policies': [{'type': 'anti-affinity', 'level': 'host'}]})
    # The stack does not exist yet.
    groups.bind_stack(group.id, 'shop', [
        {'resource': 'workers/*', 'member': 'worker'}])
    stack = stacks.create('shop', ASG, size=2)
    servers = stack.servers()
    assert {each['instance_uuid'] for each in group.placements().values()
            } == set(servers.values())
    assert len(set(hosts(nova, stack).values())) == 2
    # A scaling policy adds a server, which gets a new place.
    stack.signal('by1')
    wait_for('a server more', lambda: len(stack.servers()) == 3, pause=0.5)
    assert len(set(hosts(nova, stack).values())) == 3
    assert len(group.placements()) == 3
    wait_for('the end of the step', lambda: not stack.is_scaling('workers'),
             pause=0.5)
    # The member has its maximum: Heat reports the reason of the refusal.
    status, reason = stack.update(ASG, size=4)
    assert status == 'UPDATE_FAILED'
    assert any("member 'worker'" in each for each in stack.reasons())


def test_resources_are_mapped_to_paths_one_by_one(
        stacks, groups, plan, nova):
    group = plan({'name': 'shop', 'members': [
        {'name': 'db', 'flavor': 'tiny'},
        {'name': 'node', 'flavor': 'tiny', 'count': 2}],
        'policies': [{'type': 'anti-affinity', 'level': 'host'}]})
    groups.bind_stack(group.id, 'one-by-one', [
        {'resource': 'db', 'member': 'db'},
        {'resource': 'web/*', 'member': 'node-*'}])
    stack = stacks.create('one-by-one', NESTED)
    servers = stack.servers()
    assert {path: each['instance_uuid'] for path, each
            in group.placements().items()} == {
        'db': servers['db'], 'node-0': servers['0'], 'node-1': servers['1']}
    assert len({hosts(nova, stack)[name] for name in ('db', '0', '1')}) == 3
    # No rule matches this resource: Nova places its server.
    assert nova_state(nova, servers['alone']) == 'ACTIVE'


def nova_state(nova, uuid):
    return next(each['status'] for each in nova.all() if each['id'] == uuid)
