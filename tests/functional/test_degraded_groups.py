# SPDX-License-Identifier: Apache-2.0
"""A group is degraded as long as its servers violate its hard policies."""

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.reconcile import degraded_groups
from nova_holistic.repair.violations import violations
from tests.functional.claims import (
    APART, create, document, host_of_active, HOSTS, SMALL)

RACKS_APART = [{'type': 'anti-affinity', 'level': 'rack'}]


@pytest.fixture(scope='module')
def running(lend_cloud):
    options = {('topology', 'levels'): ['az', 'rack', 'host'],
               ('reconciler', 'drift_interval'): 3600}
    with lend_cloud(HOSTS, options=options) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def checked_groups(monkeypatch):
    """The number of groups whose policies were checked since the last call."""
    calls = []

    def counting(*arguments):
        calls.append(arguments)
        return violations(*arguments)

    def number():
        found = len(calls)
        calls.clear()
        return found

    monkeypatch.setattr(degraded_groups, 'violations', counting)
    return number


def test_a_forced_migration_degrades_the_group_until_it_is_undone(
        cloud, checked_groups):
    """The scheduler is not involved: only the reconciler can detect the
    violation."""
    group, servers = built(cloud, APART, {'a': 'cmp-0', 'b': 'cmp-1'})
    others, _ = built(cloud, APART, {'a': 'cmp-2', 'b': 'cmp-3'})
    assert checked_groups() == 2
    assert cloud.reconciler.reconcile() == {}
    assert checked_groups() == 0
    cloud.force_live_migration(servers['b'], 'cmp-0')
    assert cloud.reconciler.reconcile() == {'moved': 1, 'degraded': 1}
    assert checked_groups() == 1
    record = cloud.table.get_group(group)
    assert record.status == 'degraded'
    (reason,) = record.violations
    assert reason['at'] == 'anti-affinity'
    assert reason['names'] == ['az1/r0/cmp-0']
    assert cloud.table.get_group(others).status == 'complete'
    # The group stays degraded, and its check is not repeated.
    cloud.reconciler.reconcile()
    checked_groups()
    assert cloud.reconciler.reconcile() == {}
    assert checked_groups() == 0
    cloud.force_live_migration(servers['b'], 'cmp-4')
    assert cloud.reconciler.reconcile() == {'moved': 1, 'recovered': 1}
    record = cloud.table.get_group(group)
    assert (record.status, record.violations) == ('complete', ())


def test_the_other_members_of_a_degraded_group_can_be_claimed(cloud):
    group, servers = built(
        cloud, APART, {'a': 'cmp-0', 'b': 'cmp-1', 'c': 'cmp-2'}, 'ab')
    cloud.force_live_migration(servers['b'], 'cmp-0')
    assert cloud.reconciler.reconcile()['degraded'] == 1
    assert host_of_active(cloud, create(cloud, group, 'c')) == 'cmp-2'
    assert cloud.reconciler.reconcile()['built'] == 1
    assert cloud.table.get_group(group).status == 'degraded'
    cloud.delete_server(servers['b'])
    # The place next to the other server is not held again. The member is
    # planned on another host.
    assert cloud.reconciler.reconcile() == {
        'gone': 1, 'misplaced': 1, 'replanned': 1}
    assert cloud.reconciler.reconcile() == {'recovered': 1}
    assert cloud.table.get_group(group).status == 'building'
    assert cloud.row(group, 'b').place.host not in ('cmp-0', 'cmp-2')


def test_a_host_in_another_rack_degrades_the_group(cloud):
    """The operator moves a host to another rack, and no server moves."""
    cloud.conf.set_override('drift_interval', 0, group='reconciler')
    group, _ = built(cloud, RACKS_APART, {'a': 'cmp-0', 'b': 'cmp-1'})
    move_to_rack(cloud, 'cmp-1', 'r0')
    try:
        assert cloud.reconciler.reconcile() == {'degraded': 1}
        assert cloud.table.get_group(group).status == 'degraded'
    finally:
        move_to_rack(cloud, 'cmp-1', 'r1')
    assert cloud.reconciler.reconcile() == {'recovered': 1}
    assert cloud.table.get_group(group).status == 'complete'


def test_a_host_in_two_racks_concerns_only_groups_with_members_there(cloud):
    """The operator adds a host to its new rack before it leaves the old one.
    In the meantime, groups on other hosts are planned and built."""
    cloud.conf.set_override('drift_interval', 0, group='reconciler')
    group, _ = built(cloud, RACKS_APART, {'a': 'cmp-0', 'b': 'cmp-1'})
    aggregate = cloud.create_aggregate('new', {'rack': 'r9'}, ['cmp-1'])
    try:
        assert cloud.reconciler.reconcile() == {'degraded': 1}
        (reason,) = cloud.table.get_group(group).violations
        assert reason['at'] == 'anti-affinity'
        other = cloud.planner.create(
            document('a', 'b', policies=RACKS_APART),
            project_id=PROJECT, user_id=USER)
        assert other.status == 'planned', other.reasons
        hosts = {host_of_active(cloud, create(cloud, other.uuid, path))
                 for path in 'ab'}
        assert 'cmp-1' not in hosts
    finally:
        cloud.act_on_aggregate(aggregate, 'remove_host', host='cmp-1')
    assert cloud.reconciler.reconcile() == {'built': 2, 'recovered': 1}


def built(cloud, policies, places, members=None):
    """A group with servers of these members, and the servers by member."""
    group = cloud.plan(document(*places, policies=policies), places,
                       resources=SMALL)
    servers = {path: create(cloud, group, path) for path in members or places}
    for path, server in servers.items():
        assert host_of_active(cloud, server) == places[path]
    cloud.reconciler.reconcile()
    assert cloud.table.get_group(group).status in ('building', 'complete')
    return group, servers


def move_to_rack(cloud, host, rack):
    for aggregate in cloud.aggregates():
        is_in_aggregate = host in aggregate['hosts']
        if 'rack' in aggregate['metadata'] and is_in_aggregate != (
                aggregate['metadata']['rack'] == rack):
            cloud.act_on_aggregate(aggregate['id'], 'remove_host'
                                   if is_in_aggregate else 'add_host',
                                   host=host)
