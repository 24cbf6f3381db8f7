# SPDX-License-Identifier: Apache-2.0
"""Heat accepts the plain template, and each server has its pointer."""

import pathlib
import re
import textwrap

from heat.common import exception
import pytest

from nova_holistic.cli.main import main
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.source.text import load
from nova_holistic.policies import load_policy_types

_SHOP = pathlib.Path(__file__).parents[1] / 'data' / 'shop-hot.yaml'
_GUIDE = pathlib.Path(__file__).parents[2] / 'doc/source/howto/heat.rst'
_UUID = '5f2b1c34-8f7e-4a53-9d5b-0c5a3a0f7e11'
_PARAMETERS = {'image': 'cirros', 'holistic_group': _UUID}

# This template has every function that a server may need, all other sections,
# and texts that YAML could read as another type.
_AWKWARD = '''
heat_template_version: 2018-08-31
description: "on"
parameter_groups:
- {label: sizes, parameters: [size]}
parameters:
  size: {type: comma_delimited_list, default: "m1,small"}
  hint: {type: string, default: "12:30:00"}
conditions:
  never: {equals: [a, b]}
resources:
  near: {type: OS::Nova::ServerGroup, properties: {policies: [affinity]}}
  disk: {type: OS::Cinder::Volume, condition: never, properties: {size: 1}}
  a:
    type: OS::Nova::Server
    metadata: {since: 2026-01-31}
    properties:
      flavor: {list_join: [., {get_param: size}]}
      image: "0123"
      networks: [{network: private}]
      user_data: "#!/bin/sh\\necho 'yes: no'\\n"
      scheduler_hints:
        group: {get_resource: near}
        when: {get_param: hint}
  zoned:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      index_var: "%i%"
      resource_def:
        type: OS::Nova::Server
        properties:
          flavor: m1.small
          image: cirros
          availability_zone: az%i%
          networks: [{network: private}]
          scheduler_hints: {group: {get_resource: near}}
groups:
  g: {members: [near]}
outputs:
  ids: {value: {get_attr: [zoned, refs]}}
'''


@pytest.fixture
def split(tmp_path):
    """Split a template; returns the group's member paths, and the text of the
    plain template."""
    def run(text):
        source = tmp_path / 'stack.yaml'
        source.write_text(text)
        assert main(['template', str(source), '-o', str(tmp_path)]) == 0
        group = parse_group(load((tmp_path / 'stack-group.yaml').read_text()),
                            load_policy_types())
        return ({m.path for m in group.all_members()},
                (tmp_path / 'stack-template.yaml').read_text())
    return run


def hints(heat, stack):
    """Scheduler hints of every server that the stack would create."""
    all_hints = []
    for resource in stack.values():
        if resource.type() == 'OS::Nova::Server':
            all_hints.append(resource.properties['scheduler_hints'])
        elif resource.type() == 'OS::Heat::ResourceGroup':
            all_hints += hints(heat, heat.inside(resource))
    return all_hints


def test_heat_accepts_the_shop_and_every_server_has_its_pointer(
        heat, split):
    paths, plain = split(_SHOP.read_text())
    pointers = hints(heat, heat.stack(plain, _PARAMETERS))
    assert len(pointers) == len(paths) == 8
    assert {hint['holistic_member'] for hint in pointers} == paths
    assert {hint['holistic_group'] for hint in pointers} == {_UUID}


def test_a_server_keeps_its_server_group(heat, split):
    _, plain = split(_SHOP.read_text())
    stack = heat.stack(plain, _PARAMETERS)
    assert sorted(stack['gateways'].required_by()) == [
        'gateway_a', 'gateway_b']
    assert 'group' in stack['gateway_a'].properties['scheduler_hints']


def test_heat_accepts_a_template_with_all_sections(heat, split):
    paths, plain = split(_AWKWARD)
    stack = heat.stack(plain, {'holistic_group': _UUID})
    assert {hint['holistic_member'] for hint in hints(heat, stack)} == paths \
        == {'g/near/a', 'g/near/zoned/zoned-0', 'g/near/zoned/zoned-1'}
    server = stack['a'].properties
    assert server['flavor'] == 'm1.small'
    assert server['image'] == '0123'
    assert server['user_data'] == "#!/bin/sh\necho 'yes: no'\n"
    assert server['scheduler_hints']['when'] == '12:30:00'
    assert stack['a'].t.metadata() == {'since': '2026-01-31'}
    assert sorted(s.properties['availability_zone'] for s in heat.inside(
        stack['zoned']).values()) == ['az0', 'az1']


def test_heat_requires_the_parameter_holistic_group(heat, split):
    _, plain = split(_SHOP.read_text())
    with pytest.raises(exception.UserParameterMissing):
        heat.stack(plain, {'image': 'cirros'})
    with pytest.raises(exception.StackValidationFailed):
        heat.stack(plain, {**_PARAMETERS, 'holistic_group': 'none'})


def test_heat_refuses_the_template_before_it_is_split(heat):
    with pytest.raises(exception.InvalidTemplateSection):
        heat.stack(_SHOP.read_text(), {'image': 'cirros'})


def _templates_of_the_guide():
    return [textwrap.dedent(match[0]) for match in re.finditer(
        r'^( +)heat_template_version.*\n(?:\1.*\n|\n)+', _GUIDE.read_text(),
        re.MULTILINE)]


def test_the_template_of_the_guide_is_split(heat, split):
    template, _ = _templates_of_the_guide()
    paths, plain = split(template)
    pointers = hints(heat, heat.stack(plain, _PARAMETERS))
    assert {hint['holistic_member'] for hint in pointers} == paths
    assert len(paths) == 4


def test_the_pointers_that_the_guide_writes_by_hand(heat, split):
    template, by_hand = _templates_of_the_guide()
    paths, _ = split(template)
    pointers = hints(heat, heat.stack(by_hand, {'holistic_group': _UUID}))
    assert {hint['holistic_group'] for hint in pointers} == {_UUID}
    assert {hint['holistic_member'] for hint in pointers} == paths
