# SPDX-License-Identifier: Apache-2.0
"""The templates of the manual, as a reader creates them."""

import pathlib

import pytest

from tests.heat.placements import members

EXAMPLES = pathlib.Path(__file__).parents[2] / 'examples/heat'
HERE = {'flavor': 'tiny', 'image': 'nothing', 'network': 'none'}


@pytest.mark.parametrize('name, paths', [
    ('derived', {'balancer', *(f'web/server-{n}' for n in range(3))}),
    ('described', {'primary', 'standby'}),
    ('scaling', {'worker-0', 'worker-1'}),
    ('nested', {f'nodes/{n}/server' for n in range(2)}),
    ('cluster', {'cluster/client', *(
        f'cluster/masters/master-{n}' for n in range(2)), *(
        f'cluster/data/data-{n}' for n in range(8))})])
def test_a_template_of_the_manual_is_created(
        stacks, groups, verify, name, paths):
    stack = stacks.create(
        name, (EXAMPLES / f'{name}.yaml').read_text(), files={
            str(each.relative_to(EXAMPLES)): each.read_text()
            for each in EXAMPLES.glob('*/*.yaml')}, **HERE)
    server_of = members(groups)
    assert server_of.keys() == paths
    assert set(server_of.values()) == stack.server_ids()
    verify()
    stack.delete()


def test_every_template_is_in_the_manual():
    guide = (EXAMPLES.parents[1] / 'doc/source/howto/heat.rst').read_text()
    assert {each.name for each in EXAMPLES.rglob('*.yaml')} == {
        line.rpartition('/')[2] for line in guide.splitlines()
        if 'literalinclude' in line}
