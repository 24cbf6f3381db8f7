# SPDX-License-Identifier: Apache-2.0
"""Heat validates the properties of a group before it creates anything."""

from heat.common import exception
from heat.engine import resources
import pytest

from nova_holistic.heat import api_client, group
from tests.heat.templates import HEAD, pointing, server

OTHERS = f'''
  later: {{type: OS::Heat::Value, properties: {{value: az1}}}}
  web: {server(pointing('x/y/web'))}
'''
MEMBERS = 'members: [{name: web, resources: {VCPU: 1}}]'


@pytest.fixture
def validate(heat, monkeypatch):
    """A function that validates a group with these properties."""
    for name, kind in group.resource_mapping().items():
        resources.global_env().register_class(name, kind)
    monkeypatch.setattr(api_client, 'client', lambda user: None)

    def run(values, others=''):
        stack = heat.stack(f'''{HEAD}
resources:
  shop:
    type: OS::NovaHolistic::Group
    properties: {{{values}}}
{others}''', {})
        stack['shop'].validate()

    return run


@pytest.mark.parametrize('others', ['', OTHERS])
@pytest.mark.parametrize('groups, message', [
    ('[x]', "groups[0]: must be a mapping, not 'x'"),
    ('[{name: x, groups: 5}]', 'groups[0].groups: must be a list, not 5'),
    ('[{name: x, groups: [y]}]',
     "groups[0].groups[0]: must be a mapping, not 'y'"),
    ('[{name: x, groups: null}]',
     'groups[0].groups: must be a list, not null')])
def test_a_mistake_in_nested_groups_has_its_position(
        validate, groups, message, others):
    with pytest.raises(exception.StackValidationFailed) as caught:
        validate(f'groups: {groups}', others)
    assert f'resources.shop.properties.{message}' in str(caught.value)


def test_a_value_that_another_resource_provides_is_validated_later(validate):
    policy = ('policies: [{type: availability_zone, '
              'availability_zone: %s}]')
    later = OTHERS.partition('  web')[0]
    validate(f"{MEMBERS}, {policy % '{get_attr: [later, value]}'}", later)
    with pytest.raises(exception.StackValidationFailed, match='not 5'):
        validate(f'{MEMBERS}, {policy % 5}', later)
