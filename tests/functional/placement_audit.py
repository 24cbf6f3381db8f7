# SPDX-License-Identifier: Apache-2.0
"""Nothing but the given servers has allocations in Placement."""

from nova.cmd import manage


def audit(cloud, servers):
    """Assert that only these servers have allocations, ``nova-manage placement
    audit`` finds no orphans, and the computes, which compare their devices
    with Placement, change nothing."""
    no_others(cloud, servers)
    assert manage.PlacementCommands().audit(verbose=True) == 0


def no_others(cloud, servers):
    """Assert that only these servers have allocations, and the computes change
    nothing."""
    before = {server: resources(cloud, server) for server in servers}
    cloud.computes.run_periodics()
    assert {server: resources(cloud, server) for server in servers} == before
    listed = cloud.placement.get('/resource_providers', microversion='1.14')
    consumers = {
        consumer for each in listed.json()['resource_providers']
        for consumer in cloud.holds.consumers(each['uuid'])}
    assert consumers == set(servers)


def resources(cloud, consumer):
    """Amounts that are allocated for a consumer, by the UUID of the
    provider."""
    found = cloud.placement.get(f'/allocations/{consumer}').json()
    return {provider: each['resources']
            for provider, each in found['allocations'].items()}
