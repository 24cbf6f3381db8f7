# SPDX-License-Identifier: Apache-2.0
"""OS::NovaHolistic::Group on a real heat-engine, as an ordinary user."""

import pytest

from tests.heat.placements import hosts, members, the_group
from tests.heat.templates import HEAD, pointing, resource_group, server
from tools.cloud.waiting import wait_for

DERIVED = HEAD + f'''
parameters:
  size: {{type: number, default: 2}}
  level: {{type: string, default: host}}
resources:
  shop:
    type: OS::NovaHolistic::Group
    properties:
      policies: [{{type: anti-affinity, level: host}}]
      groups:
        - name: db
          policies: [{{type: affinity, level: {{get_param: level}}}}]
  lb: {server(pointing('lb'))}
  first: {server(pointing('db/first'))}
  second: {server(pointing('db/second'))}
{resource_group('web', server(pointing('web/node-%index%')),
                '{get_param: size}')}
outputs:
  status: {{value: {{get_attr: [shop, status]}}}}
  members: {{value: {{get_attr: [shop, placements]}}}}
  gap: {{value: {{get_attr: [shop, gap]}}}}
  show: {{value: {{get_attr: [shop, show]}}}}
'''


def test_a_stack_is_created_updated_and_deleted(
        stacks, groups, nova, rack_of, verify):
    stack = stacks.create('shop', DERIVED, level='rack')
    servers = stack.servers()
    assert members(groups) == {
        'lb': servers['lb'], 'db/first': servers['first'],
        'db/second': servers['second'], 'web/node-0': servers['0'],
        'web/node-1': servers['1']}
    placed = hosts(nova, stack)
    assert len(set(placed.values())) == 5
    assert rack_of(placed['first']) == rack_of(placed['second'])
    verify()
    outputs = stack.outputs()
    assert outputs['status'] in ('building', 'complete')
    assert {each['member'] for each in outputs['members']} == {
        *members(groups)}
    group = the_group(groups)
    assert outputs['show']['id'] == group
    value = outputs['show']['objective_value']
    assert value['kept'] == 0 and value['bound'] <= value['value']
    assert outputs['gap'] == value['gap'] < 1

    # The update changes the count of the servers, and no property of the
    # group.
    assert stack.update(DERIVED, level='rack', size=4) == (
        'UPDATE_COMPLETE', 'Stack UPDATE completed successfully')
    grown = hosts(nova, stack)
    assert len(set(grown.values())) == 7
    assert placed.items() <= grown.items()
    verify()
    assert len(members(groups)) == 7 and None not in members(groups).values()

    # Nine hosts are needed, and the cloud has eight: no server is created.
    status, reason = stack.update(DERIVED, level='rack', size=6)
    assert status == 'UPDATE_FAILED'
    assert 'resources.shop' in reason
    assert hosts(nova, stack) == grown

    assert stack.update(DERIVED, level='rack', size=1)[0] == 'UPDATE_COMPLETE'
    assert members(groups).keys() == {
        'lb', 'db/first', 'db/second', 'web/node-0'}
    verify()
    # A change of the policy moves no server.
    changed = DERIVED.replace('type: anti-affinity, level: host',
                              'type: soft-anti-affinity, level: host')
    assert stack.update(changed, level='rack', size=1)[0] == 'UPDATE_COMPLETE'
    definition = groups.get(the_group(groups))['definition']
    assert definition['policies'][0]['type'] == 'soft-anti-affinity'
    assert hosts(nova, stack).items() <= grown.items()

    verify()
    for action in 'check', 'suspend', 'resume':
        assert stack.act(action)[0] == f'{action.upper()}_COMPLETE'
    # No update has replaced the group.
    assert the_group(groups) == group
    stack.delete()
    assert not list(groups.list())


def test_a_failed_create_is_rolled_back(stacks, groups, nova):
    large = DERIVED.replace('default: 2', 'default: 9')
    stack = stacks.start('large', large)
    status, reason = stack.settled()
    assert status == 'CREATE_FAILED'
    assert 'resources.shop: the group is unplaceable' in reason
    assert nova.all() == []
    stack.delete()
    assert not list(groups.list())
    stack = stacks.start('larger', large, rollback=True)
    assert stack.settled(rolls_back=True)[0] == 'ROLLBACK_COMPLETE'
    assert nova.all() == [] and not list(groups.list())


FULL = HEAD + f'''
resources:
  shop:
    type: OS::NovaHolistic::Group
    properties:
      name: full
      members: [{{name: a, flavor: tiny}}, {{name: b, flavor: tiny, count: 2}}]
      policies: [{{type: affinity, level: rack}}]
  a: {server(pointing('a'))}
  b: {server(pointing('b'))}
'''


def test_members_are_described_in_full(stacks, groups, nova, rack_of):
    stack = stacks.create('full', FULL)
    assert groups.get(the_group(groups))['definition']['name'] == 'full'
    servers = stack.servers()
    server_of = members(groups)
    assert server_of['a'] == servers['a']
    assert servers['b'] in (server_of['b-0'], server_of['b-1'])
    assert len({rack_of(each) for each in hosts(nova, stack).values()}) == 1


def test_an_abandoned_stack_is_adopted(stacks, groups, nova, verify):
    # Every member has a server, so that the group holds nothing else.
    template = FULL.replace(', count: 2', '')
    stack = stacks.create('full', template)
    group, servers = the_group(groups), hosts(nova, stack)
    abandoned = stack.abandon()
    assert the_group(groups) == group and len(nova.all()) == 2
    adopted = stacks.adopt('again', template, abandoned)
    assert hosts(nova, adopted) == servers
    assert adopted.act('check')[0] == 'CHECK_COMPLETE'
    assert the_group(groups) == group
    verify()
    # An update changes the same group.
    changed = template.replace('type: affinity', 'type: soft-affinity')
    assert adopted.update(changed)[0] == 'UPDATE_COMPLETE'
    assert groups.get(group)['definition']['policies'][0]['type'] == (
        'soft-affinity')
    adopted.delete()
    assert not list(groups.list())
    # Heat's deletion ends when a server has the status DELETED. Nova lists
    # this server until the next statement of nova-compute.
    wait_for('no server', lambda: nova.all() == [])


@pytest.mark.parametrize('old, new, message', [
    ('type: affinity, level: rack', 'type: affinity, level: row',
     "resources.shop.properties.policies[0].level: : unknown level 'row'"),
    ('type: affinity, level: rack', 'type: affinity, lvel: rack',
     'resources.shop.properties.policies[0].lvel: : unknown key'),
    ('holistic_member: b', 'holistic_member: c',
     'resources.b.properties.scheduler_hints.holistic_member: : '
     "group shop has no member 'c'"),
    ('holistic_member: b', 'holistic_member: a',
     'resources.b.properties.scheduler_hints.holistic_member: : '
     "'a' is the member of resources.a as well"),
    ('name: full', 'name: {get_attr: [a, name]}',
     'Circular Dependency Found'),
    ('[{name: a, flavor: tiny}, {name: b, flavor: tiny, count: 2}]',
     '[{name: a}]', 'resources.shop.properties.members[0]'),
])
def test_a_wrong_template_is_refused_with_the_position(
        stacks, groups, old, new, message):
    assert old in FULL
    status, refusal = stacks.refusal('wrong', FULL.replace(old, new))
    assert status == 400
    assert message in refusal
    assert not list(groups.list())


@pytest.mark.parametrize('old, new, message', [
    ('db/second', 'db//second',
     'resources.second.properties.scheduler_hints.holistic_member'),
    ('db/second', 'b d/second',
     'resources.second.properties.scheduler_hints.holistic_member'),
    ('type: affinity, level: {get_param: level}', 'type: affinty',
     'resources.shop.properties.groups[0].policies[0].type'),
    ('db/second', 'db',
     'resources.second.properties.scheduler_hints.holistic_member'),
])
def test_a_wrong_server_of_a_derived_group_is_refused_with_the_position(
        stacks, groups, old, new, message):
    assert old in DERIVED
    status, refusal = stacks.refusal('wrong', DERIVED.replace(old, new))
    assert (status, message in refusal) == (400, True), refusal


def test_a_preview_creates_nothing(stacks, groups):
    preview = stacks.preview('shop', DERIVED)
    assert 'shop' in [each.get('resource_name') for each in
                      preview['resources'] if isinstance(each, dict)]
    assert not list(groups.list())
