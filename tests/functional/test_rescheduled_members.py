# SPDX-License-Identifier: Apache-2.0
"""Members whose builds fail are created on alternates and satisfy their
group's policies there, for any number of them."""

import uuid

from nova import exception
from oslo_utils import timeutils
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.changes import alternates
from nova_holistic.table.records import GroupStatus, MemberState

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1', vcpus=16)
              for number in range(6))
APART = {'name': 'apart', 'policies': [{'type': 'anti-affinity'}],
         'members': [{'name': 'n', 'flavor': 'small', 'count': 2}]}


@pytest.fixture
def cloud(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


def broken(cloud, host, monkeypatch):
    """Let every build on the host fail."""
    def no_spawn(*args, **kwargs):
        raise exception.NovaException('out of order')

    monkeypatch.setattr(
        cloud.computes.services[host].manager.driver, 'spawn', no_spawn)


def test_two_failed_builds_move_to_separate_alternates(cloud, monkeypatch):
    group = cloud.planner.create(APART, project_id=PROJECT, user_id=USER).uuid
    planned = {row.place.host for row in cloud.table.members(group)}
    for host in planned:
        broken(cloud, host, monkeypatch)
    servers = [cloud.create_server(
        f'n-{number}', 'small', {'group': group, 'member': f'n-{number}'})
        for number in range(2)]
    for server in servers:
        cloud.wait_for_status(server, 'ACTIVE')
    hosts = {cloud.host_of(server) for server in servers}
    assert len(hosts) == 2 and not hosts & planned


@pytest.mark.parametrize('closed', [False, True])
def test_a_server_is_created_before_its_group_has_alternates(cloud, closed):
    """If the planned host is disabled, the scheduler searches another host."""
    group = cloud.plan(APART, {'n-0': 'cmp-0', 'n-1': 'cmp-1'},
                       resources={'VCPU': 2, 'MEMORY_MB': 2048,
                                  'DISK_GB': 10}, alternates=0)
    assert cloud.table.update_group(
        group, [GroupStatus.PLANNED],
        **alternates.due_since(timeutils.utcnow()))
    if closed:
        cloud.disable_compute('cmp-0')
    server = cloud.create_server(
        'n-0', 'small', {'group': group, 'member': 'n-0'})
    cloud.wait_for_status(server, 'ACTIVE')
    host = cloud.host_of(server)
    assert (host == 'cmp-0') != closed and host != 'cmp-1'
    cloud.find_alternates(group)
    created, waiting = cloud.table.members(group)
    assert (created.place.host, created.alternates) == (host, ())
    others = {place.host for place in waiting.alternates}
    assert others and not others & {host, 'cmp-1', 'cmp-0' if closed else ''}


@pytest.mark.parametrize('under_way', [True, False])
def test_a_replanned_member_avoids_the_alternates_of_others(cloud, under_way):
    """It is not planned on a host on which a server may still be built."""
    group = cloud.planner.create(APART, project_id=PROJECT, user_id=USER).uuid
    if under_way:
        cloud.table.claim(group, 'n-0', str(uuid.uuid4()), timeutils.utcnow())
    stays, row = cloud.table.members(group)
    assert row.alternates and stays.alternates
    cloud.disable_compute(row.place.host)
    cloud.table.change_state(
        row.id, [MemberState.PLANNED], MemberState.LOST, timeutils.utcnow(),
        held=False)
    cloud.holds.drop([row.hold])
    assert not cloud.planner.replan(group).reasons
    cloud.find_alternates(group)
    same, replanned = cloud.table.members(group)
    assert same == stays
    assert replanned.alternates
    assert replanned.place != row.place
    assert not under_way or replanned.place not in stays.alternates
    assert not {p.host for p in replanned.alternates} & {
        p.host for p in (same.place, *same.alternates)}
