# SPDX-License-Identifier: Apache-2.0
"""Servers of nested templates that receive the group as a parameter become
its members."""

from heat.common import exception
import pytest

from nova_holistic.heat.templates.derived_members import with_members
from nova_holistic.heat.templates.pointing_servers import read
from tests.heat.templates import (
    HEAD, pointing, POINTING_NODE, POINTING_STACK, resource_group,
    scaling_group, server)

PARAMETERS = '''
parameters:
  size: {type: number, default: 2}
  shop: {type: string}
  where: {type: string}
'''
MEMBER = '{list_join: [/, [{get_param: where}, %s]]}'


def points(member):
    return server(pointing(MEMBER % member, '{get_param: shop}'))


INNER = f'''{HEAD}{PARAMETERS}
resources:
  db: {points('db')}
  alone: {server()}
''' + resource_group('web', points('web-%index%'), '{get_param: size}')
POINTING_STACKS = f'''{HEAD}
resources:
  shop: {{type: OS::Heat::None}}
''' + scaling_group(POINTING_STACK % 'workers', (), min_size=1, max_size=4)
MIDDLE = f'''{HEAD}{PARAMETERS}
resources:
  one:
    type: inner.yaml
    properties: {{shop: {{get_param: shop}}, where: {MEMBER % 'one'}, size: 1}}
  two: {points('two')}
'''
FILES = {'inner.yaml': INNER, 'middle.yaml': MIDDLE}


def nested(where, kind='inner.yaml'):
    return (f'{{type: {kind}, properties: '
            f'{{shop: {{get_resource: shop}}, where: {where}}}}}')


def document(heat, resources):
    stack = heat.stack(f'''{HEAD}
resources:
  shop: {{type: OS::Heat::None}}
{resources}''', {}, FILES)
    return with_members({'name': 'shop'}, read(
        stack.defn, 'shop'))


def member(name, **more):
    return {'name': name, 'flavor': 'tiny', 'image': 'nothing', **more}


def test_a_nested_stack_has_the_paths_of_its_parameters(heat):
    assert document(heat, f'  a: {nested("a")}\n  b: {nested("b/c")}') == {
        'name': 'shop', 'groups': [
            {'name': 'a', 'members': [
                member('db'), member('web-0'), member('web-1')]},
            {'name': 'b', 'groups': [{'name': 'c', 'members': [
                member('db'), member('web-0'), member('web-1')]}]}]}


def test_nested_stacks_inside_each_other(heat):
    assert document(heat, f'  a: {nested("a", "middle.yaml")}') == {
        'name': 'shop', 'groups': [{'name': 'a', 'groups': [
            {'name': 'one', 'members': [member('db'), member('web-0')]}],
            'members': [member('two')]}]}


def test_each_stack_of_a_resource_group_has_its_index(heat):
    group = document(heat, resource_group('a', nested('a/n%index%'), 3))
    assert group == {'name': 'shop', 'groups': [{'name': 'a', 'groups': [
        {'name': f'n{number}', 'members': [
            member('db'), member('web-0'), member('web-1')]}
        for number in range(3)]}]}


def test_without_an_index_the_members_of_all_stacks_are_counted(heat):
    files = {'one.yaml': f'''{HEAD}{PARAMETERS}
resources:
  db: {points('db')}
''' + resource_group('web', points('web'), 2)}
    stack = heat.stack(f'''{HEAD}
resources:
  shop: {{type: OS::Heat::None}}
''' + resource_group('a', nested('a', 'one.yaml'), 3), {}, files)
    assert with_members({}, read(stack.defn, 'shop')) == {
        'groups': [{'name': 'a', 'members': [
            member('db', count=3), member('web', count=6)]}]}


def test_the_members_of_nested_stacks_of_a_scaling_group_are_elastic(heat):
    stack = heat.stack(POINTING_STACKS, {}, {'node.yaml': POINTING_NODE})
    assert with_members({}, read(stack.defn, 'shop')) == {'groups': [{
        'name': 'workers', 'members': [member('server', count={
            'desired': 1, 'max': 4})]}]}


@pytest.mark.parametrize('resources, message', [
    (f'  a: {nested("a")}\n  b: {nested("a")}',
     'resources.b<inner.yaml>.resources.db.properties.scheduler_hints.'
     "holistic_member: 'a/db' is the member of resources.a<inner.yaml> as"),
    (f'  a: {nested("a b")}',
     'resources.a<inner.yaml>.resources.db.properties.scheduler_hints.'
     "holistic_member: 'a b/db' is not the path of a member"),
    (scaling_group(nested('a'), (), min_size=1, max_size=3),
     "resources.workers.properties.resource.properties: member 'a/db': "
     'nested stacks of an OS::Heat::AutoScalingGroup may contain single '
     'servers only, and must receive the group as holistic_group and the '
     'path of their nested group as holistic_path'),
])
def test_a_mistake_is_reported_with_its_position(heat, resources, message):
    with pytest.raises(exception.StackValidationFailed) as caught:
        document(heat, resources)
    assert message in str(caught.value)
