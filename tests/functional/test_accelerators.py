# SPDX-License-Identifier: Apache-2.0
"""Members with accelerators, on a real Nova with the Cyborg of Nova's
tests."""

import json

from nova.tests import fixtures as nova_fixtures
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.table.records import GroupStatus
from tests.functional.fake_ports import create_provider
from tests.functional.placement_audit import audit, resources

HOSTS = tuple(EmbeddedHost(name, rack=rack, traits=('COMPUTE_ACCELERATORS',))
              for name, rack in (('fpga-1', 'r1'), ('fpga-2', 'r1'),
                                 ('plain', 'r2')))
PROFILE = 'fakedev-dp'
"""A device profile of Nova's fake of Cyborg."""
TRAIT = 'CUSTOM_FAKE_DEVICE'


@pytest.fixture(scope='module')
def running(own_cloud):
    with own_cloud(HOSTS, options={
            ('inventory', 'device_profile'): [json.dumps({
                'name': PROFILE, 'groups': [
                    {'resources:FPGA': 1, f'trait:{TRAIT}': 'required'}]})],
            ('holistic', 'search_time_limit'): 0}) as cloud:
        cloud.create_flavor('fpga', 1, 512, 1, {
            'accel:device_profile': PROFILE})
        cloud.create_flavor('other', 1, 512, 1, {
            'accel:device_profile': 'other'})
        cloud.devices = {
            host: create_provider(cloud, f'{host}-fpga',
                                  cloud.providers()[host], {'FPGA': 1},
                                  [TRAIT])
            for host in ('fpga-1', 'fpga-2')}
        cloud.cyborg = cloud.computes.useFixture(
            nova_fixtures.CyborgFixture())
        yield cloud


@pytest.fixture
def cloud(running):
    yield running
    running.clear()


def created(cloud, count, flavor='fpga'):
    return cloud.planner.create({'name': 'devices', 'members': [
        {'name': 'node', 'flavor': flavor, 'count': count}]},
        project_id=PROJECT, user_id=USER)


def test_cyborg_binds_the_accelerators_that_were_held(cloud):
    record = created(cloud, 2)
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    servers = []
    for row in cloud.table.members(record.uuid):
        held, host = resources(cloud, row.hold), row.place.host
        assert held[cloud.devices[host]] == {'FPGA': 1}
        server = cloud.create_server(row.member.path, 'fpga', {
            'group': record.uuid, 'member': row.member.path})
        cloud.wait_for_status(server, 'ACTIVE')
        servers.append(server)
        assert cloud.host_of(server) == host
        assert resources(cloud, server) == held
        (bound,) = cloud.cyborg.fake_get_arqs_for_instance(server)
        assert (bound['hostname'], bound['device_rp_uuid']) == (
            host, cloud.devices[host])
    audit(cloud, servers)


def test_one_member_more_than_there_are_accelerators_is_unplaceable(cloud):
    record = created(cloud, 3)
    assert record.status == GroupStatus.UNPLACEABLE
    assert TRAIT in record.reasons[0]['message']


def test_a_profile_that_the_engine_does_not_know_is_refused(cloud):
    with pytest.raises(InvalidDocument, match='profile other is not in'):
        created(cloud, 1, 'other')
