# SPDX-License-Identifier: Apache-2.0
"""An environment may replace the types of resources. Their servers are found
as Heat finds them."""

import random

from heat.common import exception
from heat.engine import environment
import pytest

from nova_holistic.documents.hot.type_registry import Registry
from nova_holistic.heat.members.counted_members import member_paths
from nova_holistic.heat.stacks import annotated_stack
from nova_holistic.heat.templates.pointing_servers import read
from tests.heat.templates import HEAD, pointing, server, SERVER

# The template of a type may contain resources of this type.
PROVIDER = f'''{HEAD}
parameters:
  flavor: {{type: string}}
  image: {{type: string}}
  networks: {{type: json}}
  scheduler_hints: {{type: json, default: {{}}}}
  metadata: {{type: json, default: {{}}}}
resources:
  inner: {server()}
'''
ANNOTATED = f'''{HEAD}
resources:
  placement:
    type: OS::Heat::None
    metadata: {{holistic_groups: {{pair: {{members: [db]}}}}}}
  web: {server()}
  db: {server().replace('OS::Nova', 'My::Nova')}
'''
FILES = {'server.yaml': PROVIDER}


def members(heat, types):
    """The paths of the members of the annotated template."""
    stack = heat.unvalidated(ANNOTATED, FILES, types)
    return set(member_paths(annotated_stack.read(stack).document))


@pytest.mark.parametrize('types, found', [
    ({'My::*': 'OS::*'}, {'web', 'pair/db'}),
    ({'My::Nova::Server': 'OS::Nova::Server'}, {'web', 'pair/db'}),
    ({'My::Nova::Server': 'server.yaml'}, {'web', 'pair/db/inner'}),
    ({'My::*': 'OS::*', 'OS::Nova::Server': 'server.yaml'},
     {'web/inner', 'pair/db/inner'}),
    ({'My::*': 'OS::*', 'resources': {'web': {
        'OS::Nova::Server': 'server.yaml'}}}, {'web/inner', 'pair/db'}),
])
def test_the_servers_of_an_annotated_stack_are_found(heat, types, found):
    assert members(heat, types) == found


@pytest.mark.parametrize('types', [
    {}, {'My::*': 'OS::*'}, {'My::Server': 'OS::Nova::Server'},
    {'resources': {'web': {'My::Server': 'OS::Nova::Server'}}}])
def test_a_server_of_another_type_points_at_its_group(heat, types):
    kind = next((name for name in ('My::Nova::Server', 'My::Server')
                 if name in str(types) or '*' in str(types)),
                'OS::Nova::Server')
    stack = heat.stack(f'''{HEAD}
resources:
  shop: {{type: OS::Heat::None}}
  web: {server(pointing('web')).replace('OS::Nova::Server', kind)}
''', {}, FILES, types)
    assert [each.path for each in read(stack.defn, 'shop')] == ['web']


def test_a_server_passes_its_hints_to_the_template_of_its_type(heat):
    provider = PROVIDER.replace(
        SERVER, f'{SERVER[:-1]}, scheduler_hints: '
        '{get_param: scheduler_hints}}')
    stack = heat.stack(f'''{HEAD}
resources:
  shop: {{type: OS::Heat::None}}
  web: {server(pointing('front/web'))}
''', {}, {'server.yaml': provider}, {'OS::Nova::Server': 'server.yaml'})
    assert [each.path for each in read(stack.defn, 'shop')] == ['front/web']


def by_heat(types, kind):
    """The type that Heat finds; None if Heat does not know it."""
    try:
        info = environment.Environment({
            'resource_registry': types}).registry.get_resource_info(kind)
    except (exception.EntityNotFound, RecursionError):
        return None
    return getattr(info, 'template_name', info.name)


TYPES = (
    ('A::*', 'OS::*'), ('A::*', 'OS::Nova::Server'), ('A::*', 'node.yaml'),
    ('A::Nova::*', 'OS::Nova::*'), ('A::Nova::*', 'OS::Heat::None'),
    ('A::Nova::Server', 'node.yaml'), ('A::Nova::Server', 'OS::Nova::Server'),
    ('B::*', 'A::*'), ('OS::*', 'B::*'), ('OS::*', 'OS::Heat::None'),
    ('OS::Nova::*', 'A::Nova::*'), ('OS::Nova::*', 'OS::Heat::None'),
    ('OS::Nova::Server', 'node.yaml'), ('OS::Nova::Server', 'A::Nova::Server'),
    ('OS::Heat::None', 'OS::Nova::Server'))
KINDS = ('OS::Nova::Server', 'OS::Heat::None', 'A::Nova::Server',
         'A::Heat::None', 'B::Nova::Server', 'node.yaml')


def test_a_registry_names_the_types_that_heat_finds(heat):
    rng, known = random.Random(3), 0
    for _ in range(2000):
        types, kind = dict(rng.sample(TYPES, rng.randint(1, 4))), rng.choice(
            KINDS)
        expected = by_heat(types, kind)
        if expected is not None:
            known += 1
            assert Registry(types).resolved(kind, '', '') == expected, types
    assert known > 1000
