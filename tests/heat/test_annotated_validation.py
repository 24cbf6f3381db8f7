# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the groups of an annotated template are found when Heat
validates the stack."""

from heat.common import exception
import pytest

from tests.heat.templates import HEAD, resource_group, server

TEMPLATE = f'''{HEAD}
parameters:
  flavor: {{type: string}}
resources:
  placement:
    type: OS::Heat::None
    metadata:
      holistic_groups:
        cluster:
          members: [master, data, inner]
          policies: [{{type: anti-affinity, level: host, max_per_domain: 2}}]
          relationships: [{{type: affinity, between: [master, data]}}]
  master: {server('{flavor: {get_param: flavor}, image: nothing}')}
  inner: {{type: node.yaml}}
  data-0: {server()}
''' + resource_group('data', server(), 2)
NODE = f'''{HEAD}
resources:
  none:
    type: OS::Heat::None
    metadata: {{holistic_groups: {{pair: {{members: [server]}}}}}}
  server: {server()}
'''
CLUSTER = 'resources.placement.metadata.holistic_groups.cluster'


@pytest.mark.parametrize('old, new, message', [
    ('[master, data, inner]', '[master, dat, inner]',
     f"{CLUSTER}.members[1]: no resource 'dat' (did you mean 'data'?)"),
    ('[master, data, inner]', '[master, data, data-0, inner]',
     "resources.data-0: 'data-0' is already a name at resources.data"),
    ('[master, data, inner]', 'master', f'{CLUSTER}.members: '),
    ('type: anti-affinity', 'type: anti-afinity',
     f"{CLUSTER}.policies[0].type: policy type 'anti-afinity' is"),
    ('max_per_domain: 2', 'max_per_domain: two',
     f'{CLUSTER}.policies[0].max_per_domain: '),
    ('max_per_domain: 2', 'most: 2', f'{CLUSTER}.policies[0].most: '),
    ('between: [master, data]', 'between: [master, web]',
     f'{CLUSTER}.relationships[0].between[1]: '),
    ('between: [master, data]', 'between: [master, {get_resource: data}]',
     f'{CLUSTER}.relationships[0].between[1]'),
    ('members: [server]', 'members: [servr]',
     'node.yaml: resources.none.metadata.holistic_groups.pair.members[0]: '
     "no resource 'servr'"),
    ('  master: ', '  other: {type: OS::Heat::None, metadata: '
     '{holistic_groups: {}}}\n  master: ',
     'resources.other.metadata.holistic_groups: the groups are already at'),
])
def test_the_position_of_a_mistake_is_named(heat, old, new, message):
    assert old in TEMPLATE + NODE
    with pytest.raises(exception.StackValidationFailed) as caught:
        heat.stack(TEMPLATE.replace(old, new), {'flavor': 'tiny'},
                   {'node.yaml': NODE.replace(old, new)})
    assert f'Property error: {message}' in str(caught.value)
