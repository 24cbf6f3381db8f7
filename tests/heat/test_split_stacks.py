# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic template`` splits a template with nested templates and an
environment, and Heat creates the stack."""

import yaml

from nova_holistic.cli.main import main
from tests.heat.stacks import SERVER
from tests.heat.test_group_resource import HEAD, rack_of, verify

__all__ = ('rack_of', 'verify')
"""Fixtures."""
NODE = HEAD + f'''
resources:
  pair:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      resource_def: {{type: OS::Nova::Server, properties: {SERVER}}}
'''
STACK = HEAD + f'''
parameters: {{size: {{type: number}}}}
groups:
  data:
    members: [nodes, first]
    policies: [{{type: anti-affinity, level: host}}]
resources:
  first: {{type: OS::Example::Node}}
  nodes:
    type: OS::Heat::ResourceGroup
    properties:
      count: {{get_param: size}}
      resource_def: {{type: node.yaml}}
  workers:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      resource: {{type: OS::Nova::Server, properties: {SERVER}}}
'''
ENVIRONMENT = '''
parameters: {size: 2}
resource_registry: {"OS::Example::Node": node.yaml}
'''


def test_a_split_template_with_nested_templates_is_created(
        stacks, plan, nova, verify, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (('stack', STACK), ('node', NODE),
                       ('environment', ENVIRONMENT)):
        (tmp_path / f'{name}.yaml').write_text(text)
    assert main(['template', 'stack.yaml', '--environment',
                 'environment.yaml', '-o', 'out']) == 0
    group = plan(yaml.safe_load(
        (tmp_path / 'out/stack-group.yaml').read_text()))
    name = 'stack-node.yaml'
    stacks.create(
        'split', (tmp_path / 'out/stack-template.yaml').read_text(),
        files={name: (tmp_path / 'out' / name).read_text()},
        holistic_group=group.id, size=2)
    found = group.placements()
    assert found.keys() == {
        'workers-0', *(f'data/{stack}/pair-{number}' for stack in (
            'first', 'nodes/0', 'nodes/1') for number in range(2))}
    assert {each['instance_uuid'] for each in found.values()} == {
        each['id'] for each in nova.all()}
    verify()
