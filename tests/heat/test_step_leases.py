# SPDX-License-Identifier: Apache-2.0
"""Resources that add servers in batches, with the API of groups replaced: the
places are held until Heat may create the last server."""

import copy
from datetime import timedelta
from types import SimpleNamespace

from heat.engine.resources.openstack.heat import autoscaling_group
from oslo_utils import timeutils
import pytest

from nova_holistic.client.errors import Refused
from nova_holistic.heat import resource_group
from nova_holistic.heat import scaling_group
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
DEFAULT = 3600
HOURS = 3 * 3600


class Groups:
    """The API of one group with one unused place of each kind.

    :ivar end: naive UTC of the end of the lease
    :ivar leases: seconds of the requests that extend the lease
    :ivar refusals: status codes of the next requests to extend the lease
    """

    def __init__(self):
        self.end = None
        self.leases = []
        self.refusals = []
        self.definition = {'name': 'outside', 'members': [
            {'name': 'node-0', 'flavor': 'tiny'},
            {'name': 'worker', 'flavor': 'tiny', 'count': {
                'desired': 1, 'max': 9}}], 'groups': [
            {'name': 'cell0', 'members': [{'name': 'a', 'flavor': 'tiny'}]}]}

    def wait(self, group_id, timeout=0):
        return {'definition': copy.deepcopy(self.definition),
                'revision': 1, 'reasons': [],
                'members': {'planned': 1}, 'lease_expires_at':
                self.end and f'{self.end.isoformat(timespec="seconds")}Z'}

    def add_members(self, group_id, members):
        for member in members:
            self.definition['members'] = [
                each for each in self.definition['members']
                if each['name'] != member['name']] + [member]
        self._begin()

    def update(self, group_id, document, revision):
        self.definition = document
        self._begin()

    def extend(self, group_id, seconds):
        if self.refusals:
            raise Refused(self.refusals.pop(0), '', 'refused')
        self.leases.append(seconds)
        self.end = timeutils.utcnow() + timedelta(seconds=seconds)

    def _begin(self):
        """New members have the default lease at least."""
        if self.end is not None:
            self.end = max(self.end, timeutils.utcnow() + timedelta(
                seconds=DEFAULT))


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
            made._plan(made.properties)
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
