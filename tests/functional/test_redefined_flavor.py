# SPDX-License-Identifier: Apache-2.0
"""Servers of one description differ after its flavor was redefined and one of
them was planned again: each request claims a row with its resources."""

from oslo_utils import timeutils
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1', vcpus=16)
              for number in range(2))
TWO = {'name': 'two',
       'members': [{'name': 'n', 'flavor': 'small', 'count': 2}]}


@pytest.fixture
def cloud(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        yield cloud


def planned_anew_with_four(cloud, path, build=None):
    """A group that was planned with 2 VCPUs for each server. One member is
    planned again with 4 VCPUs, because the flavor was redefined.

    :param build: member that gets its server before the flavor is redefined
    """
    old = cloud.create_flavor('small', 2, 2048, 10)
    group = cloud.planner.create(TWO, project_id=PROJECT, user_id=USER).uuid
    if build:
        cloud.wait_for_status(
            create(cloud, group, build), 'ACTIVE')
    cloud.compute.delete(f'/flavors/{old}')
    cloud.create_flavor('small', 4, 2048, 10)
    row = row_of(cloud, group, path)
    cloud.table.change_state(
        row.id, [MemberState.PLANNED], MemberState.LOST, timeutils.utcnow(),
        held=False)
    cloud.holds.drop([row.hold])
    assert not cloud.planner.replan(group).reasons
    assert row_of(cloud, group, path).member.requirements.resources[
        'VCPU'] == 4
    return group


def row_of(cloud, group, path):
    return next(row for row in cloud.table.members(group)
                if row.member.path == path)


def create(cloud, group, member):
    return cloud.create_server(
        'server', 'small', {'group': group, 'member': member})


def test_a_request_skips_a_row_of_the_old_flavor(cloud):
    group = planned_anew_with_four(cloud, 'n-0')
    server = create(cloud, group, 'n')
    cloud.wait_for_status(server, 'ACTIVE')
    assert row_of(cloud, group, 'n-0').instance_uuid == server
    (allocation,) = cloud.placement.get(
        f'/allocations/{server}').json()['allocations'].values()
    assert allocation['resources']['VCPU'] == 4
    # The other member was planned for the former flavor.
    fault = cloud.wait_for_status(
        create(cloud, group, 'n'), 'ERROR')['fault']['message']
    assert 'VCPU=4' in fault and 'VCPU=2' in fault
    assert row_of(cloud, group, 'n-1').state == MemberState.PLANNED
    assert row_of(cloud, group, 'n-1').held


def test_a_row_of_the_new_flavor_is_found_after_an_old_one(cloud):
    group = planned_anew_with_four(cloud, 'n-1', build='n-0')
    server = create(cloud, group, 'n')
    cloud.wait_for_status(server, 'ACTIVE')
    assert row_of(cloud, group, 'n-1').instance_uuid == server
