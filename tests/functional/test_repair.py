# SPDX-License-Identifier: Apache-2.0
"""Live migrations restore the hard policies of a degraded group."""

from dataclasses import replace

import pytest

from nova_holistic.embedded.calls.servers import PROJECT
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from tests.functional.claims import (
    APART, create, document, host_of_active, SMALL)
from tests.unit.api.service import ADMIN, MEMBER, refusal, Service

OWNER = replace(MEMBER, project=PROJECT)

HOSTS = tuple(
    EmbeddedHost(name, zone='az1', rack=rack, vcpus=vcpus)
    for name, rack, vcpus in (
        ('cmp-1', 'r1', 2), ('cmp-2', 'r2', 2), ('big-0', 'r3', 8),
        ('big-1', 'r4', 8)))
"""The first two hosts have capacity for one small server each."""


@pytest.fixture(scope='module')
def running(lend_cloud):
    options = {('topology', 'levels'): ['az', 'rack', 'host']}
    with lend_cloud(HOSTS, options=options) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def service(cloud):
    """The API, and an engine in this process."""
    return Service(cloud.table, DirectEngine(
        cloud.conf, cloud.clock, PlanningParts(
            cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle,
            cloud.repairer)))


def repair(service, group, apply=False, token=ADMIN):
    return service.ask('POST', f'/v1/groups/{group}/repair?wait=30',
                       {'repair': {'apply': apply}}, token)


def test_one_live_migration_repairs_a_group(cloud, service):
    group, servers = built(cloud, document('a', 'b', policies=APART), {
        'a': 'big-0', 'b': 'big-1'})
    assert repair(service, group).json['repair'] == {
        'moves': [], 'planned_again': [], 'reasons': []}
    cloud.force_live_migration(servers['b'], 'big-0')
    assert refusal(repair(service, group, token=OWNER))[:2] == (
        403, 'holistic.forbidden')
    found = repair(service, group).json['repair']
    ((member, source),) = [(move['member'], move['source'])
                           for move in found['moves']]
    assert (source, found['reasons']) == ('big-0', [])
    # A request for the proposal reads the hosts of the servers.
    assert cloud.reconciler.reconcile() == {'degraded': 1}
    shown = service.ask('GET', f'/v1/groups/{group}',
                        token=OWNER).json['group']
    assert shown['status'] == 'degraded'
    (violation,) = shown['violations']
    assert 'holds 2 members' in violation['message']
    assert 'big-0' not in violation['message']
    answer = repair(service, group, apply=True)
    assert answer.status_int == 202
    shown = answer.json['group']
    assert (shown['status'], shown['task'], shown['reasons'],
            shown['violations']) == ('complete', None, [], [])
    assert cloud.host_of(servers[member]) != 'big-0'
    assert row_of_nova(cloud, group, servers)
    assert cloud.reconciler.reconcile() == {}


def test_servers_move_in_the_only_possible_order(cloud, service):
    """Member a must move to the host of b, which has capacity for one
    server."""
    definition = {'name': 'chain', 'groups': [
        {'name': name, 'policies': [{'type': 'location', 'path': path}],
         'members': [{'name': 's', 'flavor': 'small'}]}
        for name, path in {'a': 'az1/r2', 'b': 'az1/r4'}.items()]}
    group, servers = built(cloud, definition, {
        'a/s': 'cmp-2', 'b/s': 'big-1'})
    cloud.force_live_migration(servers['a/s'], 'cmp-1')
    cloud.force_live_migration(servers['b/s'], 'cmp-2')
    assert cloud.reconciler.reconcile()['degraded'] == 1
    found = repair(service, group).json['repair']
    assert [(move['member'], move['destination'])
            for move in found['moves']] == [
        ('b/s', 'big-1'), ('a/s', 'cmp-2')]
    shown = repair(service, group, apply=True).json['group']
    assert (shown['status'], shown['reasons']) == ('complete', [])
    assert [cloud.host_of(servers[path]) for path in servers] == [
        'cmp-2', 'big-1']


def test_a_refused_migration_stops_the_repair(cloud, service, monkeypatch):
    """The finished moves remain, and the next repair continues."""
    group, servers = built(cloud, document('a', 'b', policies=APART), {
        'a': 'big-0', 'b': 'big-1'})
    cloud.force_live_migration(servers['b'], 'big-0')
    cloud.reconciler.reconcile()
    live_migrate = type(cloud.instances).live_migrate

    def to_a_disabled_host(self, instance, host):
        cloud.disable_compute(host)
        live_migrate(self, instance, host)

    with monkeypatch.context() as refused:
        refused.setattr(
            type(cloud.instances), 'live_migrate', to_a_disabled_host)
        shown = repair(service, group, apply=True).json['group']
    assert shown['status'] == 'degraded'
    (reason,) = shown['reasons']
    assert reason['message'].startswith('the live migration to host ')
    assert cloud.host_of(servers['a']) == cloud.host_of(servers['b'])
    shown = repair(service, group, apply=True).json['group']
    assert (shown['status'], shown['reasons']) == ('complete', [])


def built(cloud, definition, places):
    """A group with servers of all its members, and the servers by member."""
    group = cloud.plan(definition, places, resources=SMALL)
    servers = {path: create(cloud, group, path) for path in places}
    for path, server in servers.items():
        assert host_of_active(cloud, server) == places[path]
    cloud.reconciler.reconcile()
    assert cloud.table.get_group(group).status == 'complete'
    return group, servers


def row_of_nova(cloud, group, servers):
    """Whether the table has Nova's host of each server."""
    return all(cloud.row(group, path).place.host == cloud.host_of(server)
               for path, server in servers.items())
