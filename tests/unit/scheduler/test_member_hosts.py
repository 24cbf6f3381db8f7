# SPDX-License-Identifier: Apache-2.0
"""The hosts of members of a group that was planned with other levels."""

from dataclasses import replace

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.nova.server_position import Position
from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.policies import member_hosts
from nova_holistic.scheduler.policies.member_hosts import (
    MemberHosts, SizedGroup)
from tests.unit.builders import host
from tests.unit.table.builders import a_group, members_of

GROUP = parse_group({'name': 'db', 'members': [
    {'name': 'node', 'count': 3, 'resources': {'VCPU': 1}}]},
    load_policy_types())


class World:
    """Members of a group at their planned hosts.

    :ivar racks: rack of each host that is not in rack1, by its name
    :ivar located: names of the hosts of each request for locations
    """

    def __init__(self):
        self.now, self.racks, self.located = 0, {}, []
        self.cache = MemberHosts(clock=lambda: self.now)
        record = a_group(levels=('row', 'host'))
        self.sized = SizedGroup(record, GROUP, ('rack', 'host'))
        self.rows = {number: replace(row, id=number) for number, row
                     in enumerate(members_of(record, {'node': 3}))}
        self.positions = {number: Position(row.place.host)
                          for number, row in self.rows.items()}

    def read(self):
        """The rack of each member, by the number of the member."""
        placed = self.cache.read(self.sized, dict(self.rows), dict(
            self.positions), self.locate).placed.hosts
        return {path[-1]: host.location[0] for path, host in placed.items()}

    def locate(self, names):
        self.located.append(set(names))
        return {name: host(name, self.racks.get(name, 'rack1'))
                for name in names}

    def requested(self):
        """Names of the located hosts since the last call."""
        found, self.located = self.located, []
        return set().union(*found)


@pytest.fixture
def world():
    world = World()
    assert world.read() == {'0': 'rack1', '1': 'rack1', '2': 'rack1'}
    assert world.requested() == {'cmp-0', 'cmp-1', 'cmp-2'}
    return world


def test_only_changed_members_are_located_again(world):
    world.racks = {'cmp-0': 'rack2', 'cmp-1': 'rack3'}
    world.rows[1] = replace(world.rows[1], held=False)
    assert world.read() == {'0': 'rack1', '1': 'rack3', '2': 'rack1'}
    assert world.requested() == {'cmp-1'}
    del world.rows[0], world.positions[0]
    assert world.read() == {'1': 'rack3', '2': 'rack1'}
    assert world.requested() == set()


def test_a_member_that_has_moved_is_located_each_time(world):
    world.positions[2] = Position('cmp-9')
    for rack in 'rack4', 'rack5':
        world.racks['cmp-9'] = rack
        assert world.read()['2'] == rack
        assert world.requested() == {'cmp-9'}
    # It has returned to its place.
    world.positions[2] = Position('cmp-2')
    assert world.read()['2'] == 'rack1'
    assert world.requested() == {'cmp-2'}
    world.read()
    assert world.requested() == set()


def test_all_members_are_located_again_after_some_time(world):
    world.racks = {'cmp-0': 'rack2'}
    world.now = member_hosts.MAX_AGE_SECONDS - 1
    assert world.read()['0'] == 'rack1'
    world.now += 1
    assert world.read()['0'] == 'rack2'
    assert world.requested() == {'cmp-0', 'cmp-1', 'cmp-2'}
    world.now += 1
    world.read()
    assert world.requested() == set()
