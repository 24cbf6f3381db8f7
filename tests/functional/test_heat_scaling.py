# SPDX-License-Identifier: Apache-2.0
"""Heat's ResourceGroup and AutoScalingGroup change the number of servers of an
elastic member. Nova gets the requests of OS::Nova::Server, and no others."""

import pytest

from nova_holistic.engine.binding.binder import Binder
from tests.functional.test_elastic_members import (
    assert_apart, assert_nothing_is_left_over, HOSTS, live, plan, states)
from tests.functional.tool_requests import heat_server

COUNT = {'min': 1, 'desired': 2, 'max': 4}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 512, 1)
        yield cloud


class Stack:
    """The requests of Heat for a resource that contains servers.

    :ivar hints: returns the scheduler hints of a server for its index
    :ivar servers: UUIDs by index
    """

    def __init__(self, cloud, hints):
        self.cloud = cloud
        self.hints = hints
        self.servers = {}

    def ask(self, index):
        version, body = heat_server(
            f'stack-nodes-{index}', self.cloud.flavor_id('small'),
            self.hints(index))
        return self.cloud.compute_for().post(
            '/servers', json=body, microversion=version).json()[
                'server']['id']

    def create(self, *indexes):
        """Heat creates the servers of one step together."""
        self.servers |= {index: self.ask(index) for index in indexes}
        for index in indexes:
            self.cloud.wait_for_status(self.servers[index], 'ACTIVE')

    def delete(self, *indexes):
        for index in indexes:
            self.cloud.delete_server(self.servers.pop(index))

    def refused(self, index):
        """The fault of a server that Nova does not create. Heat deletes such a
        server when it rolls the step back."""
        server = self.ask(index)
        fault = self.cloud.fault_of(server)
        self.cloud.delete_server(server)
        return fault


def settled(cloud, group):
    cloud.reconciler.reconcile()
    assert_apart(cloud, group)
    assert_nothing_is_left_over(cloud, group)


def test_a_resource_group_is_scaled(cloud):
    """The index is part of the pointer: ``holistic_member: node-%index%``.
    ResourceGroup deletes the highest indexes first."""
    group = plan(cloud, COUNT)
    stack = Stack(cloud, lambda index: {
        'holistic_group': group, 'holistic_member': f'node-{index}'})
    stack.create(0, 1)
    stack.create(2, 3)
    assert "its maximum is 4" in stack.refused(4)
    assert set(states(cloud, group)) == {f'node-{n}' for n in range(4)}
    settled(cloud, group)
    stack.delete(3, 2, 1)
    settled(cloud, group)
    assert live(cloud, group) == 2
    # The held place has the number of one of the deleted servers.
    stack.create(1, 2)
    assert live(cloud, group) == 3
    settled(cloud, group)
    # Removal policies name an index, which Heat never uses again.
    stack.delete(0)
    settled(cloud, group)
    stack.create(3, 4)
    assert live(cloud, group) == 4
    settled(cloud, group)
    rows = {row.member.path: row.instance_uuid
            for row in cloud.table.members(group) if row.instance_uuid}
    assert rows == {f'node-{n}': stack.servers[n] for n in (1, 2, 3, 4)}


def test_a_place_held_under_an_unused_index_serves_the_next_server(cloud):
    """It counts for the maximum, so it must not be lost for other indexes."""
    group = plan(cloud, {'min': 1, 'desired': 2, 'max': 2})
    stack = Stack(cloud, lambda index: {
        'holistic_group': group, 'holistic_member': f'node-{index}'})
    stack.create(0, 1)
    for index in range(2, 5):
        stack.delete(index - 2)
        settled(cloud, group)
        assert live(cloud, group) == 2
        stack.create(index)
        assert live(cloud, group) == 2
        assert "its maximum is 2" in stack.refused(9)
    settled(cloud, group)
    assert {row.instance_uuid for row in cloud.table.members(group)
            } - {None} == set(stack.servers.values())


@pytest.mark.parametrize('client', ['pointer', 'server group'])
def test_an_auto_scaling_group_is_scaled(cloud, client):
    """All servers have the same hints. A rolling update creates the new
    servers before it deletes the old ones."""
    group = plan(cloud, COUNT)
    hints = {'holistic_group': group, 'holistic_member': 'node'}
    if client == 'server group':
        bound = cloud.create_server_group('nodes', 'anti-affinity')
        Binder(cloud.table, cloud.inventory, cloud.clock).bind(
            group, 'node', bound)
        hints = {'group': bound}
    stack = Stack(cloud, lambda index: hints)
    stack.create('a', 'b', 'c')
    stack.create('d')
    assert "its maximum is 4" in stack.refused('e')
    stack.delete('a', 'b', 'c')
    settled(cloud, group)
    assert live(cloud, group) == 2
    for old, new in ('d', 'f'), ('f', 'g'), ('g', 'h'):
        stack.create(new)
        stack.delete(old)
        settled(cloud, group)
        assert live(cloud, group) == 2
    owners = {row.instance_uuid for row in cloud.table.members(group)}
    assert owners - {None} == set(stack.servers.values())
