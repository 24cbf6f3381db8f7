# SPDX-License-Identifier: Apache-2.0
"""The next borrower of the shared cloud finds no objects of earlier
borrowers."""

import uuid

from nova import exception
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from tests.functional.cloud_cleaning import Cleaning

RACK = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1')
             for number in (1, 2, 3))
OTHERS = (RACK[0], EmbeddedHost('cmp-2', zone='az2', vcpus=4),
          EmbeddedHost('cmp-4', load={'VCPU': 3}))
PAIR = {'name': 'pair', 'policies': [{'type': 'anti-affinity'}],
        'members': [{'name': 'node', 'flavor': 'small', 'count': 2}]}
OPTIONS = {('topology', 'labels'): ['power_feed']}


def use(cloud, monkeypatch):
    """Leave an object of every kind."""
    cloud.create_flavor('small', 2, 2048, 10)
    group = cloud.planner.create(PAIR, project_id=PROJECT, user_id=USER).uuid
    planned = cloud.table.members(group)[0].place.host
    build_fails(cloud, planned, monkeypatch)
    server = cloud.create_server(
        'node', 'small', {'group': group, 'member': 'node-0'},
        hints={'group': cloud.create_server_group(
            'apart', 'anti-affinity')})
    cloud.wait_for_status(server, 'ACTIVE')
    cloud.add_consumer('cmp-3', {'VCPU': 1})
    cloud.create_aggregate('ssd', {'disk': 'ssd'}, ['cmp-1'])
    provider = cloud.providers()['cmp-3']
    path = f'/resource_providers/{provider}/traits'
    present = cloud.placement.get(path).json()
    cloud.placement.put('/traits/CUSTOM_LEFT')
    cloud.placement.put(path, json=present | {
        'traits': [*present['traits'], 'CUSTOM_LEFT']})
    cloud.disable_compute('cmp-1')
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')


def build_fails(cloud, host, monkeypatch):
    def no_spawn(*args, **kwargs):
        raise exception.NovaException('out of order')

    monkeypatch.setattr(
        cloud.computes.services[host].manager.driver, 'spawn', no_spawn)


@pytest.mark.parametrize('scheduler', ['stock', 'holistic'])
def test_a_shared_cloud_is_empty_after_each_borrower(
        lend_cloud, monkeypatch, scheduler):
    with lend_cloud(RACK, options=OPTIONS) as cloud:
        assert cloud.conf.topology.labels == ['power_feed']
        with monkeypatch.context() as patched:
            use(cloud, patched)
    with lend_cloud(OTHERS, scheduler=scheduler) as cloud:
        assert cloud.scheduler == scheduler
        assert cloud.conf.topology.labels == []
        assert cloud.conf.holistic.failure_mode == 'reject'
        assert cloud.servers() == []
        assert not cloud.table.list_groups()
        assert cloud.compute.get('/flavors').json()['flavors'] == []
        assert cloud.used() == {
            'cmp-4': {'VCPU': 3, 'MEMORY_MB': 0, 'DISK_GB': 0}}
        hosts = {host.name: host for host in cloud.inventory.snapshot().hosts}
        assert {name: (host.location, host.inventories['VCPU'].total)
                for name, host in hosts.items()} == {
            'cmp-1': (('az1', 'r1'), 16), 'cmp-2': (('az2',), 4),
            'cmp-4': (('nova',), 16)}
        assert all(host.enabled for host in hosts.values())
        assert not any('CUSTOM_LEFT' in host.traits
                       for host in hosts.values())
        assert {aggregate['name'] for aggregate in cloud.aggregates()} == {
            'az1', 'az1-rack-r1', 'az2'}


def test_leftovers_that_cleaning_cannot_delete_are_named(lend_cloud):
    with lend_cloud(RACK) as cloud:
        cleaning = Cleaning(cloud)
        assert cleaning.leftovers() == []
        other_server = str(uuid.uuid4())
        cloud.placement.post('/resource_providers', json={
            'name': 'unknown-provider', 'uuid': other_server})
        cleaning.clean()
        assert cleaning.leftovers() == [('providers', ['unknown-provider'])]
        cloud.placement.delete(f'/resource_providers/{other_server}')
