# SPDX-License-Identifier: Apache-2.0
"""Resources that add servers in batches, with the API of groups replaced: the
places are held until Heat may create the last server."""

from datetime import timedelta
from types import SimpleNamespace

from heat.engine.resources.openstack.heat import autoscaling_group
from oslo_utils import timeutils
import pytest

from nova_holistic.heat import resource_group
from nova_holistic.heat import scaling_group
from tests.heat.replaced_api import Groups
from tests.heat.templates import (
    HEAD, pointing, resource_group as resources, scaling_group as scaled,
    server)

TEMPLATE = (HEAD + 'resources:\n'
            + resources('nodes', server(pointing('node-%index%', 'outside')),
                        3)
            + resources('cells', '{type: node.yaml, properties: {'
                        'holistic_group: outside, '
                        'holistic_path: cell%index%}}', 2)
            + scaled(server(pointing('worker', 'outside')), (1,), min_size=1,
                     max_size=9, desired_capacity=1))
NODE = HEAD + '''
parameters:
  holistic_group: {type: string}
  holistic_path: {type: string}
'''
HOURS = 3 * 3600


@pytest.fixture
def groups():
    return Groups()


@pytest.fixture
def step(heat, monkeypatch, groups):
    """A function that performs a step of a resource in a stack with a time
    limit of three hours."""
    client = SimpleNamespace(groups=groups)
    for module in (resource_group, scaling_group):
        monkeypatch.setattr(module.api_client, 'client', lambda user: client)
    monkeypatch.setattr(autoscaling_group.AutoScalingResourceGroup, 'resize',
                        lambda self, capacity: None)

    def step(name, capacity=3, minutes=HOURS // 60):
        stack = heat.unvalidated(TEMPLATE, {'node.yaml': NODE}, {})
        stack.timeout_mins = minutes
        found = stack[name]
        if name == 'workers':
            scaling_group.ScalingGroup(
                name, found.t, stack).resize(capacity)
        else:
            made = resource_group.ResourceGroup(name, found.t, stack)
            made._plan(made.properties, list(made._resource_names()))
        return groups.leases

    return step


@pytest.mark.parametrize('name', ['nodes', 'cells', 'workers'])
def test_places_are_held_as_long_as_heat_may_create_servers(
        step, groups, name):
    groups.end = timeutils.utcnow() + timedelta(seconds=60)
    assert step(name) == [HOURS]
    # A repeated step adds no member.
    assert step(name) == [HOURS]


@pytest.mark.parametrize('left', [None, HOURS, 2 * HOURS])
def test_a_lease_that_is_long_enough_remains(step, groups, left):
    groups.end = left and timeutils.utcnow() + timedelta(seconds=left)
    assert step('nodes') == []


def test_the_default_lease_is_enough_for_the_default_time_limit(step, groups):
    groups.end = timeutils.utcnow() + timedelta(seconds=60)
    assert step('nodes', minutes=None) == []


def test_fewer_servers_extend_no_lease(step, groups):
    groups.end = timeutils.utcnow() + timedelta(seconds=60)
    groups.definition['members'][1]['count'] = {'desired': 5, 'max': 9}
    assert step('workers') == []


def test_a_group_that_changes_is_asked_again(step, groups):
    groups.end = timeutils.utcnow()
    groups.refusals = [409]
    assert step('nodes') == [HOURS]


def test_a_step_continues_if_the_user_may_not_hold_places_so_long(
        step, groups):
    groups.end = timeutils.utcnow()
    groups.refusals = [403]
    assert step('nodes') == []
    assert not groups.refusals
