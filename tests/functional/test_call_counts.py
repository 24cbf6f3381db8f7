# SPDX-License-Identifier: Apache-2.0
"""What a looked-up answer costs does not depend on the size of the cloud."""

import uuid

import pytest

from nova_holistic.embedded.host import EmbeddedHost
from tests.functional.counting import counted
from tests.functional.planned import PlannedCloud

SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
GROUP = {
    'name': 'web',
    'policies': [{'type': 'anti-affinity'}],
    'members': [{'name': name, 'flavor': 'small',
                 'availability_zone': 'az1'} for name in 'ab'],
}
PLAN = {'a': 'cmp-0', 'b': 'cmp-1'}


def hosts(number):
    return [EmbeddedHost(f'cmp-{index}', zone='az1', rack=f'r{index % 5}')
            for index in range(number)]


def calls_of_each_member(number, policies):
    """Calls of both members' requests, one after the other."""
    with PlannedCloud(hosts(number)) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        group = cloud.plan({**GROUP, 'policies': policies}, PLAN,
                           resources=SMALL)
        found = []
        for member, host in PLAN.items():
            instance = str(uuid.uuid4())
            spec = cloud.request_spec(
                'small', {'group': group, 'member': member}, instance)
            spec.availability_zone = 'az1'
            with counted() as calls:
                answer = cloud.select_destinations(spec, [instance])[0]
            assert [s.service_host for s in answer][:1] == [host]
            assert len(answer) == cloud.conf.scheduler.max_attempts
            found.append((len(calls.sql), calls.http))
        return found


@pytest.mark.parametrize('policies', [
    GROUP['policies'],
    # Such a policy looks at every host: it did when the group was planned.
    [{'type': 'spread', 'level': 'rack', 'max_skew': 1}],
])
def test_sql_statements_and_requests_at_5_and_at_50_hosts(policies):
    few, many = (calls_of_each_member(number, policies)
                 for number in (5, 50))
    assert few == many
    for statements, requests in few:
        # More than half are Placement's, for one POST /allocations.
        assert 0 < statements <= 38
        # The swap is all that Placement is asked for.
        assert [request.split('/')[-1] for request in requests] == [
            'allocations']
