# SPDX-License-Identifier: Apache-2.0
"""The check of a planned host reads the positions of exclusive groups once.
Any other check reads its own."""

from dataclasses import replace
import types

import pytest

from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler.policies import exclusion, exclusive_positions
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.scheduler import request_memory
from nova_holistic.table.records import MemberState, Place
from nova_holistic.table.store import PlacementTable
from tests.statements import recorded
from tests.tables import new_table
from tests.unit.table.builders import a_group, members_of

LEVELS = ('rack', 'host')
DOCUMENT = {'name': 'shop', 'groups': [{
    'name': 'db', 'policies': [{'type': 'exclusive'}], 'members': [
        {'name': 'node', 'resources': {'VCPU': 1}, 'count': 3}]}]}
OTHER = Place('cmp-9', 'cmp-9', 'provider-9', ('rack1',))


@pytest.fixture
def connections(tmp_path, monkeypatch):
    """The connections of a scheduler that needs only the table. Each host is
    in the same rack."""
    monkeypatch.setattr(
        locations, 'locate_hosts', lambda topology, names: {
            name: locations.planned_host(replace(OTHER, host=name))
            for name in names})
    return Connections(
        table=PlacementTable(new_table(tmp_path)), holds=None, placement=None,
        topology=types.SimpleNamespace(levels=LEVELS, links=()),
        policy_types=load_policy_types(), clock=None)


def reserve(connections):
    """UUID of a new exclusive group that reserves three hosts."""
    group = a_group(document=DOCUMENT, exclusive=True, levels=LEVELS)
    connections.table.create_group(group)
    connections.table.write_members(group.uuid, members_of(group, {'node': 3}))
    return group.uuid


@pytest.fixture
def group(connections):
    """UUID of an exclusive group that earlier requests have read."""
    uuid = reserve(connections)
    for _ in range(2):
        connections.table.group_cache.read(uuid)
    exclusion.closed_domains(connections, None)
    return uuid


def begin(connections, group):
    """The first read of a request."""
    read = connections.table.group_cache.read_for(group, 'db/node-0')
    request_memory.put(request_memory.EXCLUSIVE_STATE, read.exclusive)
    return read.found


def planned(found, rows=None):
    record, members = found
    return Membership(record, members[0], rows or members, by_plan=True)


def hosts(own, connections):
    """Hosts of the other members, as the policies see them."""
    return {path: host.name for path, host in own.evaluation(
        connections, context=object()).others.items()}


@request_memory.read_once
def test_a_planned_host_is_checked_without_another_read(connections, group):
    own = planned(begin(connections, group))
    with recorded(connections.table.database.engine) as statements:
        assert exclusive_positions.unread_servers(connections) == []
        others = hosts(own, connections)
        assert exclusion.closed_domains(connections, own) == set()
    assert not statements.sent
    assert others == {'db/node-1': 'cmp-1', 'db/node-2': 'cmp-2'}


@request_memory.read_once
def test_positions_are_taken_once_and_only_for_their_membership(
        connections, group):
    found = begin(connections, group)
    own = planned(found)
    hosts(own, connections)
    assert exclusive_positions.take(planned(found)) is None
    assert exclusive_positions.take(own) is None
    hosts(planned(found), connections)
    own = planned(found)
    hosts(own, connections)
    positions = exclusive_positions.take(own)
    assert positions[own.record.uuid].keys() == own.rows.by_id.keys()
    assert exclusive_positions.take(own) is None


@request_memory.read_once
def test_another_host_is_checked_with_a_new_read(connections, group):
    own = planned(begin(connections, group))
    hosts(own, connections)
    other = reserve(connections)
    exclusive_positions.discard()
    assert {domain.path[-1] for domain in exclusion.closed_domains(
        connections, own)} == {'cmp-0', 'cmp-1', 'cmp-2'}
    assert {record.uuid for record, _ in
            exclusive_positions.groups_of_planned(connections)} == {
                group, other}


@request_memory.read_once
def test_a_new_place_that_the_table_does_not_have_counts(connections, group):
    """The planned host of the first server of a request was refused, and the
    second one is checked before the new place is written."""
    found = begin(connections, group)
    first, second, third = found[1]
    own = Membership(found[0], second, [
        replace(first, place=OTHER), second, third], by_plan=True)
    assert hosts(own, connections) == {
        'db/node-0': 'cmp-9', 'db/node-2': 'cmp-2'}


@request_memory.read_once
def test_a_group_that_is_no_longer_exclusive_keeps_its_members_apart(
        connections, group):
    """It was changed after it was read for this request."""
    found = begin(connections, group)
    connections.table.delete_group(found[0].uuid)
    exclusive_positions.discard()
    assert hosts(planned(found), connections) == {
        'db/node-1': 'cmp-1', 'db/node-2': 'cmp-2'}


@request_memory.read_once
def test_a_later_request_sees_a_release(connections, group):
    hosts(planned(begin(connections, group)), connections)
    row = connections.table.members(group)[1]
    connections.table.change_state(
        row.id, [MemberState.PLANNED], MemberState.RELEASED, None)
    exclusive_positions.discard()
    own = planned(begin(connections, group))
    assert hosts(own, connections) == {'db/node-2': 'cmp-2'}
