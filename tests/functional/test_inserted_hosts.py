# SPDX-License-Identifier: Apache-2.0
"""Servers are scheduled on hosts without a service as on any other host."""

import pytest

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import wait_for

RUNNING = EmbeddedHost('cmp-1', zone='az1', rack='r1', vcpus=8,
                       traits=('CUSTOM_GREEN', 'HW_CPU_X86_AVX2'),
                       load={'VCPU': 3})
INSERTED = EmbeddedHost('row-1', zone='az1', rack='r1', vcpus=8,
                        traits=('CUSTOM_GREEN', 'HW_CPU_X86_AVX2'),
                        load={'VCPU': 3})
ELSEWHERE = EmbeddedHost('row-2', zone='az2', rack='r1', vcpus=32)


@pytest.fixture(scope='module')
def cloud(own_cloud):
    with own_cloud([RUNNING], scheduler='stock') as cloud:
        cloud.insert_hosts([INSERTED, ELSEWHERE])
        cloud.create_flavor('large', 16, 1024, 1)
        yield cloud


@pytest.mark.parametrize('what', ['inventories', 'usages', 'aggregates'])
def test_placement_shows_inserted_hosts_like_running_ones(cloud, what):
    providers = cloud.providers()
    running, inserted = (
        cloud.placement.get(
            f'/resource_providers/{providers[name]}/{what}').json()[what]
        for name in ('cmp-1', 'row-1'))
    assert running and running == inserted


def test_an_inserted_host_has_its_configured_traits(cloud):
    provider = cloud.providers()['row-1']
    traits = cloud.placement.get(
        f'/resource_providers/{provider}/traits').json()['traits']
    assert {'CUSTOM_GREEN', 'HW_CPU_X86_AVX2'} <= set(traits)


def test_nova_lists_inserted_hosts_as_hypervisors_that_are_up(cloud):
    # From 2.88 on, Nova asks each compute how long it has been running.
    hypervisors = cloud.compute.get(
        '/os-hypervisors/detail', microversion='2.87').json()['hypervisors']
    found = {hypervisor['hypervisor_hostname']: hypervisor
             for hypervisor in hypervisors}
    for host in ('row-1', 'row-2'):
        assert found[host]['state'] == 'up'
        assert found[host]['status'] == 'enabled'
        # As for a running compute, Placement and Nova have the same UUID.
        assert found[host]['id'] == cloud.providers()[host]


def test_zones_and_racks_contain_running_and_inserted_hosts(cloud):
    hosts = {aggregate['name']: sorted(aggregate['hosts'])
             for aggregate in cloud.aggregates()}
    assert hosts == {
        'az1': ['cmp-1', 'row-1'], 'az1-rack-r1': ['cmp-1', 'row-1'],
        'az2': ['row-2'], 'az2-rack-r1': ['row-2']}


def test_the_scheduler_selects_an_inserted_host(cloud):
    server = cloud.create_server('large', 'large')
    allocations = wait_for(lambda: cloud.allocations(server) or None,
                           'server large placed')
    assert set(allocations) == {cloud.providers()['row-2']}


def test_an_inserted_host_has_the_traits_of_a_running_one(cloud):
    running, inserted = (
        set(cloud.placement.get(
            f'/resource_providers/{cloud.providers()[host.name]}/traits',
            microversion='1.39').json()['traits'])
        for host in (RUNNING, INSERTED))
    assert running == inserted
