# SPDX-License-Identifier: Apache-2.0
"""After an error of a database, no server from outside is placed on a host of
an exclusive group."""

import uuid

import pytest
import sqlalchemy as sa

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import EmbeddedCloudError
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler import connections
from nova_holistic.scheduler.hosts import locations
from nova_holistic.table.errors import TableError
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)
from tests.statements import recorded

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1', vcpus=4)
              for number in range(3))
ALONE = {'name': 'alone',
         'policies': [{'type': 'exclusive', 'level': 'host'}],
         'members': [{'name': 'node', 'flavor': 'small', 'count': 2}]}
MOST_PARAMETERS = 999
"""Maximum number of parameters of a statement in SQLite before 3.32."""


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('whole', 4, 4096, 10)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    running.conf.clear_override('failure_mode', group='holistic')
    running.clear()
    running.run_periodics()


@pytest.fixture
def group(cloud):
    """A group that reserves two of the three hosts. The third host is full."""
    group = cloud.planner.create(
        ALONE, project_id=PROJECT, user_id=USER).uuid
    # The scheduler reads the table once before anything fails.
    server = cloud.create_server('other-server', 'whole')
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) not in closed(cloud, group)
    return group


def closed(cloud, group):
    return {row.place.host for row in cloud.table.members(group)}


def is_refused(cloud, **arguments):
    """Whether Nova finds no host for one more small server."""
    server = cloud.create_server('late', 'small', **arguments)
    try:
        cloud.wait_for_status(server, 'ACTIVE')
    except EmbeddedCloudError:
        fault = cloud.get_server(server)['fault']['message']
        return 'No valid host' in fault
    return False


def table_away(*args, **kwargs):
    raise TableError('placement table: no route to host')


def test_reserved_hosts_stay_reserved_while_the_table_is_unavailable(
        cloud, group, monkeypatch):
    table = connections.get().table
    monkeypatch.setattr(table, 'exclusive_groups', table_away)
    assert is_refused(cloud)


def test_yielding_uses_no_reserved_host_while_the_table_is_unavailable(
        cloud, group, monkeypatch):
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    table = connections.get().table
    monkeypatch.setattr(table, 'exclusive_groups', table_away)
    monkeypatch.setattr(table.group_cache, 'read_for', table_away)
    assert is_refused(cloud, pointer={
        'group': str(uuid.uuid4()), 'member': 'web'})


def test_members_yield_onto_their_own_hosts_while_the_table_is_unavailable(
        cloud, group, monkeypatch):
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    table = connections.get().table
    monkeypatch.setattr(table, 'exclusive_groups', table_away)
    monkeypatch.setattr(table.group_cache, 'read_for', table_away)
    server = cloud.create_server(
        'node', 'small', {'group': group, 'member': 'node-0'})
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) in closed(cloud, group)


def test_a_scheduler_that_never_read_the_table_schedules_as_stock_nova(
        cloud, group, monkeypatch):
    monkeypatch.setattr(connections.get().reserved, 'found', None)
    monkeypatch.setattr(
        connections.get().table, 'exclusive_groups', table_away)
    assert not is_refused(cloud)


def test_a_host_that_cannot_be_located_opens_no_other(
        cloud, group, monkeypatch):
    def unlocated(*args):
        raise TableError('host cmp-9 is in two racks')

    monkeypatch.setattr(locations, 'locate_hosts', unlocated)
    assert is_refused(cloud)


@pytest.fixture
def many_servers(cloud):
    """An exclusive group with a thousand servers that Nova does not know."""
    group = str(uuid.uuid4())
    cloud.table.create_group(GroupRecord(
        uuid=group, name='alone', project_id=PROJECT, user_id=USER,
        status=GroupStatus.COMPLETE, document=ALONE, objective='spread',
        levels=tuple(cloud.conf.topology.levels), exclusive=True))
    wanted = Requirements(resources=FrozenMapping({'VCPU': 1}))
    cloud.table.write_members(group, [MemberRecord(
        id=0, group_uuid=group, member=Member(f'n-{n}', f'n-{n}', wanted),
        place=cloud.place('cmp-0'), hold=str(uuid.uuid4()), held=False,
        state=MemberState.BUILT, instance_uuid=str(uuid.uuid4()))
        for n in range(MOST_PARAMETERS + 1)])
    yield
    cloud.table.delete_group(group)


def few_parameters(text):
    if text.count('?') > MOST_PARAMETERS:
        raise sa.exc.OperationalError(
            text, {}, Exception('too many SQL variables'))


def test_a_group_of_many_servers_opens_no_host(cloud, group, many_servers):
    with recorded(before=few_parameters):
        assert is_refused(cloud)
