# SPDX-License-Identifier: Apache-2.0
"""A group that Nova's quota does not allow is refused when it is created."""

import pytest

from nova_holistic.api.checks.nova_quota import NovaQuota
from nova_holistic.embedded.calls.servers import PROJECT
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.inventory.service_client import ServiceClient as Nova
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from tests.unit.api.service import refusal, Service, Token

HOSTS = (EmbeddedHost('cmp-0', zone='az1', rack='r0', vcpus=16),)
CREATOR = Token(project=PROJECT)
LIMITS = {'instances': 4, 'cores': 8, 'ram': 8192}


def set_quota(cloud, **limits):
    """Set the quota of all projects; returns the previous limits."""
    path = '/os-quota-class-sets/default'
    before = cloud.compute.get(path).json()['quota_class_set']
    cloud.compute.put(path, json={'quota_class_set': limits})
    return {name: before[name] for name in limits}


@pytest.fixture(scope='module')
def cloud(lend_cloud):
    """A cloud in which the project has one server with two cores."""
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 1024, 1)
        cloud.wait_for_status(cloud.create_server('there', 'small'), 'ACTIVE')
        before = set_quota(cloud, **LIMITS)
        yield cloud
        set_quota(cloud, **before)


@pytest.fixture
def service(cloud):
    service = Service(cloud.table, DirectEngine(
        cloud.conf, cloud.clock, PlanningParts(
            cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle)))
    service.quota = NovaQuota(Nova('nova', cloud.compute))
    service.renew()
    yield service
    for group in cloud.table.list_groups():
        cloud.lifecycle.delete(group.uuid)


def create(service, **member):
    return service.ask('POST', '/v1/groups?wait=30', {'group': {
        'name': 'shop', 'members': [{'name': 'node', **member}]}}, CREATOR)


@pytest.mark.parametrize('member, over', [
    ({'flavor': 'small', 'count': 4},
     ['instances: the limit is 4, 1 are in use, and the group needs 4',
      'cores: the limit is 8, 2 are in use, and the group needs 8']),
    ({'resources': {'VCPU': 1, 'MEMORY_MB': 7169}},
     ['ram: the limit is 8192, 1024 are in use, and the group needs 7169']),
])
def test_a_group_over_the_quota_is_refused(cloud, service, member, over):
    answer = create(service, **member)
    status, code, message = refusal(answer)
    assert (status, code) == (403, 'holistic.over_quota')
    assert message.split(': ', 1)[1].split('; ') == over
    assert cloud.table.list_groups() == ()


def test_a_group_may_use_the_quota_up(service):
    assert create(service, flavor='small', count=3).status_int == 201


def test_without_a_limit_any_group_is_accepted(cloud, service):
    set_quota(cloud, **dict.fromkeys(LIMITS, -1))
    try:
        assert create(service, flavor='small', count=6).status_int == 201
    finally:
        set_quota(cloud, **LIMITS)


def test_an_unknown_flavor_is_left_to_the_planner(service):
    answer = create(service, flavor='missing')
    assert answer.status_int == 201
    assert 'missing' in str(answer.json['group']['reasons'])
