# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic template`` splits a template with nested templates and an
environment, and Heat creates the stack."""

import yaml

from nova_holistic.cli.main import main
from tests.heat.templates import (
    HEAD, resource_group, scaling_group, server)

NODE = f'''{HEAD}
resources:
''' + resource_group('pair', server(), 2)
STACK = f'''{HEAD}
parameters: {{size: {{type: number}}}}
groups:
  data:
    members: [nodes, first]
    policies: [{{type: anti-affinity, level: host}}]
resources:
  first: {{type: OS::Example::Node}}
''' + resource_group('nodes', '{type: node.yaml}', '{get_param: size}'
                     ) + scaling_group(server(), (), min_size=1, max_size=3)
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
    plain = (tmp_path / 'out/stack-template.yaml').read_text()
    files = {'stack-node.yaml': (
        tmp_path / 'out/stack-node.yaml').read_text()}
    stack = stacks.create('split', plain, files=files,
                          holistic_group=group.id, size=2)

    def check_members(*names):
        placements = group.placements()
        assert placements.keys() == {'workers-0', *(
            f'data/{name}/pair-{number}' for name in ('first', *names)
            for number in range(2))}
        assert {each['instance_uuid'] for each in placements.values()} == {
            each['id'] for each in nova.all()}
        verify()

    def update(size):
        return stack.update(plain, files, holistic_group=group.id, size=size)

    check_members('nodes/0', 'nodes/1')
    # A further nested stack is planned before Heat creates it.
    assert update(3)[0] == 'UPDATE_COMPLETE'
    check_members('nodes/0', 'nodes/1', 'nodes/2')
    # Eight hosts are not enough: Heat creates no server.
    status, reason = update(4)
    assert status == 'UPDATE_FAILED'
    assert 'resources.nodes: the group remains unchanged' in reason
    check_members('nodes/0', 'nodes/1', 'nodes/2')
    # The members of deleted stacks are removed.
    assert update(1)[0] == 'UPDATE_COMPLETE'
    check_members('nodes/0')
