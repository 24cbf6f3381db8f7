# SPDX-License-Identifier: Apache-2.0
"""The caches of the scheduler remove data of deleted groups and servers."""

import dataclasses
import math
import types

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.reservation import Reservation
from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.policies import group_positions, server_locations
from nova_holistic.scheduler.policies.member_hosts import (
    MemberHosts, SizedGroup)
from nova_holistic.scheduler.policies.policy_evaluation import (
    REMEMBERED_GROUPS)
from nova_holistic.scheduler.policies.reservation_cache import (
    Reservations, ReservedByGroup)
from nova_holistic.table.records import MemberState
from tests.unit.builders import host
from tests.unit.table.builders import a_group, members_of, new_uuid

HOST = Domain('host', ('rack1', 'cmp-0'))


def reserved(path):
    """Reservations of one host by one member, and the group of the member."""
    record = a_group()
    return record, Reservations(
        ((record, Reservation(frozenset({path}), frozenset({HOST}))),))


def test_groups_that_reserve_nothing_take_no_memory():
    record, reservations = reserved('web')
    for _ in range(10):
        assert reservations.closed_to(new_uuid(), 'web') == {HOST}
    assert not reservations._closed_to
    assert reservations.closed_to(record.uuid, 'web') == set()
    assert len(reservations._closed_to) == 1


def test_the_hosts_of_reservations_follow_their_groups():
    """A member outside of all racks reserves nothing, and its host is located
    again at the next read."""
    nowhere = ReservedByGroup((None, ()), {}, {}, ())
    before = Reservations((), {'group': nowhere})
    assert not before.hosts
    moved = dataclasses.replace(nowhere, hosts={'cmp-9': host('cmp-9')})
    assert before.of_source({'group': moved}, (None, None)).hosts == {'cmp-9'}


def test_hosts_of_a_limited_number_of_groups_are_kept():
    """A group of one member has no other members."""
    cache, levels = MemberHosts(), ('rack', 'host')
    group = parse_group({'name': 'web', 'members': [
        {'name': 'node', 'resources': {'VCPU': 1}}]}, load_policy_types())
    for _ in range(REMEMBERED_GROUPS + 10):
        cache.read(SizedGroup(a_group(levels=levels), group, levels), {}, {},
                   lambda names: {})
    assert len(cache._known) == REMEMBERED_GROUPS


@pytest.mark.parametrize('max_age', [
    group_positions.MAX_AGE_SECONDS, math.inf])
def test_the_cells_of_deleted_servers_are_forgotten(monkeypatch, max_age):
    """One member has one server after another. Each is in the same cell of
    Nova."""
    cell = types.SimpleNamespace(id=1, uuid=new_uuid())
    for name, answer in {
            'by_cell_number': lambda context, uuids: {1: list(uuids)},
            'cell_mappings': lambda context, numbers: [cell],
            'in_cells': lambda context, cells, wanted: {
                uuid: server_locations.CellAnswer({
                    server: server_locations.at('cmp-0')
                    for server in read.rows})
                for uuid, read in wanted.items()}}.items():
        monkeypatch.setattr(server_locations, name, answer)
    monkeypatch.setattr(group_positions, '_since', lambda *arguments: None)
    cache = group_positions.GroupPositions(max_age=max_age)
    groups = group_positions.Groups('exclusive', frozenset(['project']))
    (row,) = members_of(a_group(), {'web': None})
    for number in range(10):
        server = dataclasses.replace(
            row, id=number, instance_uuid=new_uuid(), state=MemberState.BUILT)
        cache.positions(None, groups, {number: server})
    assert [*cache._known['exclusive'].cell_of] == [server.instance_uuid]
