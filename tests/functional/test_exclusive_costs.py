# SPDX-License-Identifier: Apache-2.0
"""The cost of exclusive groups for the create of a server without a pointer.

The hosts of almost all members of these groups are only in the table.
"""

import dataclasses
from datetime import timedelta
import uuid

from nova.db.main import models
from oslo_utils import timeutils
import pytest
import sqlalchemy as sa

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler import connections
from nova_holistic.scheduler.policies import (
    exclusion, group_positions, server_locations)
from nova_holistic.scheduler.policies.reservation_cache import ReservationCache
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from nova_holistic.table.store import PlacementTable
from tests.functional import nova_records
from tests.functional.nova_records import (
    exist, forget_servers, in_nova, LONG_AGO, write_server)

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number}')
              for number in range(3))
ALONE = {'name': 'alone',
         'policies': [{'type': 'exclusive', 'level': 'host'}],
         'members': [{'name': 'node', 'flavor': 'small', 'count': 1000}]}
TABLES = ('FROM holistic_', 'FROM instances', 'FROM instance_mappings',
          'FROM cell_mappings', 'FROM aggregate', 'FROM migrations')
SMALL = Requirements(resources=FrozenMapping({'VCPU': 1}))


@pytest.fixture(scope='module')
def cloud_hosts():
    return HOSTS


@pytest.fixture
def cloud(running):
    connections.get().reserved.found = None
    # Other tests may have deleted servers of this cloud just before.
    forget_servers(running)
    yield running
    for group in running.table.list_groups():
        running.table.delete_group(group.uuid)
    forget_servers(running)


def exclusive(cloud, count):
    """A group with a separate host for each member. The members of the second
    half have servers."""
    group = str(uuid.uuid4())
    levels = tuple(cloud.conf.topology.levels)
    cloud.table.create_group(GroupRecord(
        uuid=group, name='alone', project_id=PROJECT, user_id=USER,
        status=GroupStatus.BUILDING, document=ALONE, objective='spread',
        levels=levels, exclusive=True))
    cloud.table.write_members(group, [MemberRecord(
        id=0, group_uuid=group, hold=str(uuid.uuid4()),
        member=Member(f'node-{number}', 'node', SMALL),
        place=Place(f'far-{number}', f'far-{number}', str(uuid.uuid4()),
                    ('az1', 'r9', f'far-{number}')[:len(levels) - 1]),
        held=number < count // 2, state=MemberState.PLANNED
        if number < count // 2 else MemberState.BUILT,
        instance_uuid=None if number < count // 2 else str(uuid.uuid4()))
        for number in range(count)])
    built = [row for row in cloud.table.members(group) if row.instance_uuid]
    exist(cloud, built)
    return group


def read(cloud):
    """Names of the hosts that are closed."""
    return {domain.path[-1] for domain
            in exclusion.closed_domains(connections.get(), None)}


def read_anew(cloud):
    """Names of the closed hosts, read without a cache."""
    table = PlacementTable(cloud.table.database)
    return {domain.path[-1] for domain in exclusion.closed_domains(
        dataclasses.replace(connections.get(), table=table,
                            reserved=ReservationCache()), None)}


def cost(cloud):
    """Each statement of a read, with the number of rows that it finds."""
    found = []
    costs = nova_records.cost(lambda: found.append(read(cloud)), TABLES)
    assert found == [read_anew(cloud)]
    return costs


def planned(cloud, rows):
    """No change."""


def released(cloud, rows):
    cloud.table.release([rows[0].hold], timeutils.utcnow())


def lost(cloud, rows):
    assert cloud.table.change_state(
        rows[0].id, [MemberState.PLANNED], MemberState.LOST,
        timeutils.utcnow(), held=False)


def failed(cloud, rows):
    row = cloud.table.claim(
        rows[0].group_uuid, 'node-0', str(uuid.uuid4()), timeutils.utcnow())
    assert cloud.table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.FAILED,
        timeutils.utcnow())


def claimed(cloud, rows):
    cloud.table.claim(
        rows[0].group_uuid, 'node-0', str(uuid.uuid4()), timeutils.utcnow())


def built_on_an_alternate(cloud, rows):
    row = cloud.table.claim(
        rows[0].group_uuid, 'node-0', str(uuid.uuid4()), timeutils.utcnow())
    exist(cloud, [row], host='cmp-1')
    assert cloud.table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.BUILT,
        timeutils.utcnow())


STATES = (planned, released, lost, failed, claimed, built_on_an_alternate)


def test_the_cost_is_the_same_for_100_and_for_1000_members(cloud):
    found = []
    for count in 100, 1000:
        found.append({})
        for happen in STATES:
            group = exclusive(cloud, count)
            read(cloud)
            happen(cloud, cloud.table.members(group))
            # Only the first read finds the change.
            found[-1][happen.__name__] = cost(cloud), cost(cloud)
            cloud.table.delete_group(group)
    few, many = found
    for name in few:
        assert few[name] == many[name], name
        changed, unchanged = few[name]
        assert len(unchanged) <= 3, name
        # The new host is in a zone and in a rack, which are two aggregates
        # with one item of metadata each.
        assert max(number for _, number in changed + unchanged) <= 4, name
    assert [number for _, number in few['planned'][1]] == [1, 0]


def test_a_server_that_moves_takes_its_reservation_along(cloud):
    group = exclusive(cloud, 4)
    row = cloud.table.members(group)[-1]
    assert read(cloud) == {'far-0', 'far-1', 'far-2', 'far-3'}
    write_server(cloud, row, host='cmp-1')
    assert read(cloud) == {'far-0', 'far-1', 'far-2', 'cmp-1'}
    write_server(cloud, row, host='cmp-2', vm_state='deleted')
    assert read(cloud) == {'far-0', 'far-1', 'far-2', 'cmp-2'}
    # Nova deletes the record without a new date of change.
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.update(models.Instance).where(
            models.Instance.uuid == row.instance_uuid).values(
                deleted=models.Instance.id,
                updated_at=models.Instance.updated_at))
    assert read(cloud) == {'far-0', 'far-1', 'far-2'}


def test_a_change_counts_that_is_dated_before_the_last_read(cloud):
    """The clock of the writer is late, or its transaction took some time."""
    group = exclusive(cloud, 4)
    row = cloud.table.members(group)[-1]
    read(cloud)
    late = timeutils.utcnow() - timedelta(
        seconds=cloud.conf.service_down_time - 5)
    write_server(cloud, row, late, host='cmp-1')
    assert 'cmp-1' in read(cloud)


def test_both_hosts_of_a_moving_server_are_closed_until_it_has_moved(cloud):
    """The end of a migration does not always change the server."""
    group = exclusive(cloud, 4)
    row = cloud.table.members(group)[-1]
    read(cloud)
    write_server(cloud, row, task_state='migrating')
    assert 'cmp-1' not in read(cloud)
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.insert(models.Migration), [{
            'uuid': str(uuid.uuid4()), 'instance_uuid': row.instance_uuid,
            'status': 'running', 'source_compute': row.place.host,
            'dest_compute': 'cmp-1', 'deleted': 0}])
    write_server(cloud, row, LONG_AGO)
    assert {'cmp-1', row.place.host} <= read(cloud)
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.update(models.Migration).values(status='error'))
    assert 'cmp-1' not in read(cloud)


def test_a_claimed_server_is_followed_to_another_host(cloud):
    """A claim changes no version, and Nova sends the server elsewhere."""
    group = exclusive(cloud, 4)
    row = cloud.table.members(group)[0]
    read(cloud)
    row = cloud.table.claim(
        group, row.member.path, str(uuid.uuid4()), timeutils.utcnow())
    assert 'far-0' in read(cloud)
    exist(cloud, [row], host=None, vm_state='building')
    assert 'far-0' in read(cloud)
    write_server(cloud, row, host='cmp-1', vm_state='building')
    assert read(cloud) == {'cmp-1', 'far-1', 'far-2', 'far-3'}


def test_many_changed_servers_are_all_looked_up(cloud, monkeypatch):
    """The list of changed servers ends before the servers of members."""
    monkeypatch.setattr(group_positions, 'MIN_LIMIT', 1)
    group = exclusive(cloud, 4)
    read(cloud)
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.insert(models.Instance), [
            {'uuid': str(uuid.uuid4()), 'project_id': PROJECT,
             'updated_at': timeutils.utcnow() - timedelta(seconds=5)}
            for _ in range(4)])
    for row, host in zip(cloud.table.members(group)[2:], ('cmp-1', 'cmp-2')):
        write_server(cloud, row, host=host)
    assert read(cloud) == {'far-0', 'far-1', 'cmp-1', 'cmp-2'}


def test_members_stay_where_they_were_while_their_cell_is_unavailable(
        cloud, monkeypatch):
    group = exclusive(cloud, 4)
    row = cloud.table.members(group)[-1]
    write_server(cloud, row, host='cmp-1')
    closed = read(cloud)
    with monkeypatch.context() as patch:
        patch.setattr(server_locations, '_instances', None)
        write_server(cloud, row, host='cmp-2')
        assert read(cloud) == closed
    assert read(cloud) == {'far-0', 'far-1', 'far-2', 'cmp-2'}
