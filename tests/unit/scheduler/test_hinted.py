# SPDX-License-Identifier: Apache-2.0
"""Stacks and server groups that the hints of Heat and other tools name."""

import pytest

from nova_holistic.scheduler.hinted import hinted, names_binding
from nova_holistic.table.coordination.bindings import Hinted, stack_target

ROOT = '87bb3dd6-73cc-4a5c-8f45-a16fc0f9e461'
GROUP = '00000000-0000-4000-8000-00000000000a'
# The hints that heat-engine 27 sends for a server of an AutoScalingGroup.
ASG = {
    'heat_root_stack_id': [ROOT],
    'heat_stack_id': ['d7ea9536-2d8c-41ec-be92-fb0e0bf986ab'],
    'heat_stack_name': ['shop-asg-opv6wj7jzztk'],
    'heat_path_in_stack': ['shop', 'asg,shop-asg-opv6wj7jzztk'],
    'heat_resource_name': ['ee6qiko6nmar'],
    'heat_resource_uuid': ['9e861631-1676-436b-85d2-eaf48a42b431']}
STACKS = tuple(stack_target('acme', each) for each in (ROOT, 'shop'))


@pytest.mark.parametrize('hints, found', [
    ({}, None),
    ({'group': ['mine']}, None),
    ({'group': GROUP}, Hinted(GROUP)),
    (ASG, Hinted(None, STACKS, ('asg', 'ee6qiko6nmar'))),
    ({**ASG, 'group': [GROUP]},
     Hinted(GROUP, STACKS, ('asg', 'ee6qiko6nmar'))),
    ({**ASG, 'heat_path_in_stack': 'shop', 'heat_resource_name': 'db'},
     Hinted(None, STACKS, ('db',))),
    # The name of a resource may contain a comma, but not the name of a stack.
    ({**ASG, 'heat_path_in_stack': ['shop', 'a,b,shop-ab-opv6']},
     Hinted(None, STACKS, ('a,b', 'ee6qiko6nmar'))),
])
def test_hints_name_a_stack_and_a_resource(hints, found):
    assert hinted(hints, 'acme') == found
    assert names_binding(hints) == (found is not None)


@pytest.mark.parametrize('name, value', [
    ('heat_root_stack_id', ['a', 'b']), ('heat_root_stack_id', []),
    ('heat_root_stack_id', [7]), ('heat_path_in_stack', []),
    ('heat_path_in_stack', {'a': 'b'}), ('heat_path_in_stack', [None]),
    ('heat_path_in_stack', ['shop', 'a\n,b']),
    ('heat_resource_name', 'x' * 600), ('heat_resource_name', ['a', 'b'])])
def test_hints_that_heat_does_not_send_name_nothing(name, value):
    assert hinted({**ASG, name: value}, 'acme') is None


def test_another_project_has_other_stacks():
    assert not {*hinted(ASG, 'other').stacks} & {*STACKS}
