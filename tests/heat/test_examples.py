# SPDX-License-Identifier: Apache-2.0
"""The templates of the manual, as a reader creates them."""

import pathlib

import pytest

from tests.heat.test_group_resource import members, rack_of, verify

__all__ = ('rack_of', 'verify')
"""Fixtures."""
EXAMPLES = pathlib.Path(__file__).parents[2] / 'examples/heat'
HERE = {'flavor': 'tiny', 'image': 'nothing', 'network': 'none'}


@pytest.mark.parametrize('name, paths', [
    ('derived', {'balancer', *(f'web/server-{n}' for n in range(3))}),
    ('described', {'primary', 'standby'}),
    ('scaling', {'worker-0', 'worker-1'}),
    ('cluster', {'cluster/client', *(
        f'cluster/masters/master-{n}' for n in range(2)), *(
        f'cluster/data/data-{n}' for n in range(8))})])
def test_a_template_of_the_manual_is_created(
        stacks, groups, verify, name, paths):  # noqa: F811
    stack = stacks.create(name, (EXAMPLES / f'{name}.yaml').read_text(),
                          **HERE)
    found = members(groups)
    assert found.keys() == paths
    assert set(found.values()) == stack.server_ids()
    verify()
    stack.delete()


def test_every_template_is_in_the_manual():
    guide = (EXAMPLES.parents[1] / 'doc/source/howto/heat.rst').read_text()
    assert {f'{each.stem}.yaml' for each in EXAMPLES.glob('*.yaml')} == {
        line.rpartition('/')[2] for line in guide.splitlines()
        if 'literalinclude' in line}
