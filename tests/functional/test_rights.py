# SPDX-License-Identifier: Apache-2.0
"""The rights of a user of one project, and the information about the cloud
that the user gets."""

from nova import context as nova_context
from nova import objects
import pytest

from nova_holistic.embedded.calls.servers import CloudUser
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from tests.unit.api.service import ADMIN, MEMBER, refusal, Service

HOSTS = tuple(EmbeddedHost(name, zone=zone, rack=rack, vcpus=8)
              for name, zone, rack in (
                  ('cmp-1', 'az1', 'r1'), ('cmp-2', 'az1', 'r2'),
                  ('cmp-3', 'az2', 'r1')))
ONE = {'name': 'node', 'flavor': 'small'}
ZONE = {'name': 'alone', 'members': [{**ONE, 'availability_zone': 'az1'}],
        'policies': [{'type': 'exclusive', 'level': 'az'}]}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 1, 1024, 1)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    running.clear()
    running.run_periodics()


@pytest.fixture
def service(cloud):
    """The API, and an engine in this process."""
    service = Service(cloud.table, DirectEngine(
        cloud.conf, cloud.clock, PlanningParts(
            cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle)))
    service.conf.set_override(
        'levels', cloud.conf.topology.levels, group='topology')
    service.renew()
    return service


def create(service, document, token=MEMBER, **more):
    return service.ask('POST', '/v1/groups?wait=30',
                       {'group': document, **more}, token)


def other_server(cloud):
    """A server of another project in the first zone."""
    return cloud.create_server(
        'other-server', 'small', user=CloudUser('green'),
        availability_zone='az1')


def test_one_small_server_does_not_close_a_zone_to_all_others(
        cloud, service):
    assert refusal(create(service, ZONE)) == (
        403, 'holistic.forbidden', 'policies[0].level: policy does not allow '
        'holistic:definitions:exclusive_level')
    assert cloud.table.list_groups() == () and cloud.used() == {}
    cloud.wait_for_status(other_server(cloud), 'ACTIVE')


def test_an_administrator_may_close_a_zone(cloud, service):
    answer = create(service, ZONE, ADMIN)
    assert answer.json['group']['status'] == 'planned'
    assert 'No valid host' in cloud.fault_of(other_server(cloud))


def test_refusals_do_not_reveal_which_hosts_exist(cloud, service):
    def pinned(host, token):
        return create(service, {'name': 'pinned', 'members': [
            {**ONE, 'location': f'az1/r1/{host}'}]}, token)

    existing_host, gone = (refusal(pinned(host, MEMBER)) for host in ('cmp-1',
                                                                      'cmp-9'))
    assert existing_host == gone == (
        403, 'holistic.forbidden', 'members[0].location: policy does not '
        'allow holistic:definitions:host_location')
    assert cloud.table.list_groups() == ()
    answers = [pinned(host, ADMIN).json['group']['status']
               for host in ('cmp-1', 'cmp-9')]
    assert answers == ['planned', 'unplaceable']


def test_a_group_without_a_lease_needs_a_right(cloud, service):
    large = {'name': 'crowd', 'members': [{**ONE, 'count': 12}]}
    answer = create(service, large, lease=0)
    assert refusal(answer)[2].startswith(
        'lease: policy does not allow holistic:groups:unlimited_lease')
    assert cloud.used() == {}
    group = create(service, large).json['group']
    assert group['lease_expires_at'] is not None


@pytest.fixture
def ambiguous(cloud):
    """Put the first host in two zones, which Nova's API refuses."""
    aggregate = cloud.create_aggregate(
        'mistake', {'availability_zone': 'az9'})
    record = objects.Aggregate.get_by_id(
        nova_context.get_admin_context(), aggregate)
    record.add_host('cmp-1')
    yield
    record.delete_host('cmp-1')
    cloud.compute.delete(f'/os-aggregates/{aggregate}')


@pytest.mark.parametrize('path, kind', [
    ('/v1/groups?wait=30', 'group'), ('/v1/plans?wait=30', 'plan')])
def test_a_failure_names_no_host_to_a_project(
        service, ambiguous, caplog, path, kind):
    answer = service.ask('POST', path, {'group': {
        'name': 'shop', 'members': [ONE]}})
    shown_group = answer.json[kind]
    assert shown_group['status'] == 'error'
    (reason,) = shown_group['reasons']
    assert 'cmp-1' not in answer.text
    assert 'under request req-' in reason['message']
    one = f'/v1/{kind}s/{shown_group["id"]}'
    (seen,) = service.ask('GET', one, token=ADMIN).json[kind]['reasons']
    assert 'host cmp-1 is in two domains of level az' in seen['message']
    assert 'host cmp-1 is in two domains of level az' in caplog.text


PAIR = {'name': 'pair', 'policies': [{'type': 'anti-affinity'}],
        'members': [{**ONE, 'name': name} for name in 'ab']}


@pytest.fixture
def moved(cloud, request):
    """A pair with one server on a host other than its planned one."""
    group = cloud.plan(PAIR, {'a': 'cmp-3', 'b': 'cmp-2'}, resources={
        'VCPU': 1, 'MEMORY_MB': 1024, 'DISK_GB': 1})
    server = cloud.create_server('a', 'small', {'group': group, 'member': 'a'})
    cloud.wait_for_status(server, 'ACTIVE')
    cloud.live_migrate(server, 'cmp-1')
    request.getfixturevalue('ambiguous')
    return group


def test_a_fault_names_no_host_to_a_project(cloud, moved, caplog):
    server = cloud.create_server('b', 'small', {'group': moved, 'member': 'b'})
    fault = cloud.fault_of(server)
    assert 'cmp-1' not in fault
    assert 'its planned place cannot be used' in fault
    assert 'under request req-' in fault
    assert 'host cmp-1 is in two domains of level az' in caplog.text
