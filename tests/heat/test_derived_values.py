# SPDX-License-Identifier: Apache-2.0
"""Members derived from servers whose properties are functions, null or
empty."""

from heat.common import exception
import pytest

from nova_holistic.heat.templates.derived_members import with_members
from nova_holistic.heat.templates.pointing_servers import read
from tests.heat.templates import (
    HEAD, pointing, resource_group, scaling_group, server)

LATER = '{get_attr: [later, value]}'
POINTERS = '{holistic_group: {get_resource: shop}, holistic_member: web}'
NODE = f'''{HEAD}
parameters:
  hints: {{type: json}}
  flavor: {{type: string, default: small}}
  count: {{type: number, default: 1}}
''' + '''
resources:
  web:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def:
        type: OS::Nova::Server
        properties:
          flavor: {get_param: flavor}
          networks: [{allocate_network: none}]
          scheduler_hints: {get_param: hints}
'''


@pytest.fixture
def document(heat):
    """A function that returns the groups and members of a template."""
    def derived(resources):
        stack = heat.stack(f'''{HEAD}
conditions: {{grouped: true}}
resources:
  shop: {{type: OS::Heat::None}}
  later: {{type: OS::Heat::Value, properties: {{value: tiny}}}}
{resources}''', {}, {'node.yaml': NODE})
        return with_members({}, read(stack.defn, 'shop'))
    return derived


def web(**properties):
    """A server that points at the member web."""
    found = {'flavor': 'tiny', 'image': 'nothing',
             'networks': '[{allocate_network: none}]',
             'scheduler_hints': POINTERS, **properties}
    return '  web: ' + server('{%s}' % ', '.join(
        f'{key}: {value}' for key, value in found.items()))


def nested(**properties):
    """A nested stack that receives the hints of its servers."""
    return '  node: {type: node.yaml, properties: {%s}}' % ', '.join(
        f'{key}: {value}' for key, value in {
            'hints': POINTERS, **properties}.items())


@pytest.mark.parametrize('resources, place', [
    (web(flavor='{get_resource: later}'), 'web.properties.flavor'),
    (web(flavor='{list_join: [".", [m1, %s]]}' % LATER),
     'web.properties.flavor'),
    (web(availability_zone=LATER), 'web.properties.availability_zone'),
    (web(scheduler_hints=POINTERS.replace('web', LATER)),
     'web.properties.scheduler_hints.holistic_member'),
    (resource_group('nodes', server(pointing('web')), LATER),
     'nodes.properties.count'),
    # The default of the parameter is not the value of the nested stack.
    (nested(flavor=LATER), 'node<node.yaml>.resources.web.properties.'
     'resource_def.properties.flavor'),
    (nested(count=LATER), 'node<node.yaml>.resources.web.properties.count')])
def test_a_value_that_another_resource_provides_is_refused(
        document, resources, place):
    with pytest.raises(exception.StackValidationFailed) as caught:
        document(resources)
    assert str(caught.value) == (
        f'Property error: resources.{place}: it is not known before the '
        'servers are created')


def test_an_image_that_another_resource_provides_is_left_out(document):
    assert document(web(image=LATER)) == {'members': [
        {'name': 'web', 'flavor': 'tiny'}]}


def test_a_volume_that_another_resource_provides_is_the_root_disk(document):
    devices = f'[{{volume_id: {LATER}}}]'
    assert document(web(
        image='null', block_device_mapping_v2=devices)) == {'members': [
            {'name': 'web', 'flavor': 'tiny', 'boot_from_volume': True}]}


def test_an_empty_text_is_no_zone_and_no_image(document):
    assert document(web(availability_zone='""', image='""')) == {'members': [
        {'name': 'web', 'flavor': 'tiny'}]}


def test_a_zone_with_a_host_is_refused(document):
    with pytest.raises(exception.StackValidationFailed, match=(
            'resources.web.properties.availability_zone: it forces a host')):
        document(web(availability_zone='"az1:host1"'))


@pytest.mark.parametrize('hints', [
    f'{{if: [grouped, {POINTERS}, {{}}]}}',
    POINTERS.replace('{get_resource: shop}',
                     '{if: [grouped, {get_resource: shop}, ""]}'),
    '{map_merge: [{holistic_group: {get_resource: shop}}, '
    '{holistic_member: web}]}'])
def test_functions_may_give_the_pointer(document, hints):
    assert document(web(scheduler_hints=hints)) == {'members': [
        {'name': 'web', 'flavor': 'tiny', 'image': 'nothing'}]}


def test_a_nested_stack_may_receive_the_pointer_as_a_mapping(document):
    assert document(nested()) == {'members': [
        {'name': 'web', 'flavor': 'small', 'count': 1}]}


def test_the_server_group_of_the_hints(document):
    uuid = '0a4e5d1c-6f0b-4c43-9a57-9e2a4b1f7c52'
    for group, found in ((uuid, {'server_group': uuid}),
                         ('{get_resource: later}', {})):
        assert document(web(scheduler_hints=POINTERS.replace(
            '}, ', '}, group: %s, ' % group, 1))) == {'members': [
                {'name': 'web', 'flavor': 'tiny', 'image': 'nothing',
                 **found}]}


def test_null_stands_for_the_default(document):
    resources = resource_group('nodes', f'''{server(pointing('n-%index%'))}
      index_var: null''', 'null')
    resources += scaling_group(
        server(pointing('workers')), (), min_size='null', max_size=3,
        desired_capacity='null')
    each = {'flavor': 'tiny', 'image': 'nothing'}
    assert document(resources) == {'members': [
        {'name': 'n-0', **each},
        {'name': 'workers', **each, 'count': {'desired': 1, 'max': 3}}]}


@pytest.mark.parametrize('removed', ['', '"0"'])
def test_only_a_server_that_is_removed_changes_the_numbers(document, removed):
    resources = resource_group('nodes', f'''{server(pointing('n-%index%'))}
      removal_policies: [{{resource_list: [{removed}]}}]''', 1)
    if removed:
        with pytest.raises(exception.StackValidationFailed, match=(
                'nodes.properties.removal_policies: the numbers of the ser')):
            document(resources)
    else:
        assert [each['name'] for each in document(
            resources)['members']] == ['n-0']


def test_resource_groups_inside_each_other(document):
    inner = ('{type: OS::Heat::ResourceGroup, properties: {count: 2, '
             'index_var: "%j%", resource_def: ' + server(
                 pointing('"r%index%/n-%j%"')) + '}}')
    assert {group['name']: [each['name'] for each in group['members']]
            for group in document(resource_group(
                'racks', inner, 2))['groups']} == {
                    'r0': ['n-0', 'n-1'], 'r1': ['n-0', 'n-1']}
