# SPDX-License-Identifier: Apache-2.0
"""A host that was moved to another zone, rack or aggregate after the plan is
not used for members whose description it no longer meets."""

import pytest

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState

HOSTS = tuple(
    EmbeddedHost(f'cmp-{number}', zone=f'az{number % 2 + 1}',
                 rack=f'r{number // 2}')
    for number in range(6))
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
LEVELS = ['az', 'rack', 'host']
LEFT = 'cmp-0'
"""The planned host, which leaves az1 and r0."""
DESCRIPTIONS = {
    'availability_zone': ({'availability_zone': 'az1'}, ('cmp-2', 'cmp-4')),
    'rack': ({'location': 'az1/r0'}, ()),
    'aggregate': ({'aggregates': ['fast']}, ('cmp-2',)),
}
"""The description of a member, and the hosts that still meet it."""


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options={
            ('topology', 'levels'): LEVELS,
            ('holistic', 'search_time_limit'): 0}) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    fast = running.create_aggregate('fast', {}, [LEFT, 'cmp-2'])
    yield running
    running.clear()
    set_place(running, LEFT, zone='az1', rack='r0')
    for aggregate in running.aggregates():
        if aggregate['id'] == fast:
            for host in aggregate['hosts']:
                running.act_on_aggregate(fast, 'remove_host', host=host)
    running.compute.delete(f'/os-aggregates/{fast}')


def set_place(cloud, host, **wanted):
    """Move a host without servers to the aggregates with these metadata."""
    keys = {'zone': 'availability_zone'}
    # Nova refuses a host in two zones: it leaves before it joins.
    for action, is_member in (('remove_host', True), ('add_host', False)):
        for aggregate in cloud.aggregates():
            if (host in aggregate['hosts']) == is_member and any(
                    (aggregate['metadata'].get(keys.get(name, name)) == value)
                    != is_member for name, value in wanted.items()
                    if keys.get(name, name) in aggregate['metadata']):
                cloud.act_on_aggregate(aggregate['id'], action, host=host)


def leave(cloud, key):
    """The planned host leaves what the description names."""
    if key == 'availability_zone':
        set_place(cloud, LEFT, zone='az2')
    elif key == 'rack':
        set_place(cloud, LEFT, rack='r2')
    else:
        (fast,) = [each['id'] for each in cloud.aggregates()
                   if each['name'] == 'fast']
        cloud.act_on_aggregate(fast, 'remove_host', host=LEFT)


def document(key):
    return {'name': 'shop', 'members': [
        {'name': 'web', 'flavor': 'small', **DESCRIPTIONS[key][0]}]}


@pytest.mark.parametrize('key', ['availability_zone', 'aggregate'])
def test_an_alternate_that_meets_the_description_takes_the_server(cloud, key):
    group = cloud.plan(document(key), {'web': LEFT}, resources=SMALL,
                       alternates=5)
    leave(cloud, key)
    server = cloud.create_server(
        'web', 'small', {'group': group, 'member': 'web'})
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) in DESCRIPTIONS[key][1]
    assert cloud.row(group, 'web').place.host == cloud.host_of(server)


@pytest.mark.parametrize('key', list(DESCRIPTIONS))
def test_without_an_alternate_the_member_is_lost(cloud, key):
    group = cloud.plan(document(key), {'web': LEFT}, resources=SMALL,
                       alternates=0)
    leave(cloud, key)
    fault = cloud.fault_of(cloud.create_server(
        'web', 'small', {'group': group, 'member': 'web'}))
    assert 'that the member describes' in fault or (
        'than the member describes' in fault)
    row = cloud.row(group, 'web')
    assert (row.state, row.instance_uuid, row.held) == (
        MemberState.LOST, None, False)
    assert cloud.used() == {}


def test_the_lost_member_is_planned_where_its_description_is_met(cloud):
    group = cloud.plan(document('availability_zone'), {'web': LEFT},
                       resources=SMALL, alternates=0)
    leave(cloud, 'availability_zone')
    cloud.fault_of(cloud.create_server(
        'web', 'small', {'group': group, 'member': 'web'}))
    assert cloud.reconciler.reconcile()['replanned'] == 1
    server = cloud.create_server(
        'web', 'small', {'group': group, 'member': 'web'})
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) in DESCRIPTIONS['availability_zone'][1]
