# SPDX-License-Identifier: Apache-2.0
"""Providers that share their resources are read with the hosts that use them:
by Placement's API and from its database, from a real Placement."""

import pytest

from nova_holistic.inventory.nova.computes import Compute
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider_rows import (
    ProviderRows)
from nova_holistic.inventory.resource_providers.provider_source import (
    Sharing)
from nova_holistic.inventory.resource_providers.provider_trees import (
    ProviderTrees)
from nova_holistic.inventory.snapshot_assembly import (
    NovaFacts, SnapshotAssembly)
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.aggregates import AggregatesTopology
from tests.functional.changing_providers import (  # noqa: F401
    metal_placement, PLAIN, Providers, VERSION)
from tests.functional.sharing_providers import add_sharing
from tests.functional.test_provider_trees import add_below


@pytest.fixture
def providers(placement):
    return Providers(placement)


def others(providers, listing):
    return {uuid for uuid, each in listing.items()
            if each.root and uuid not in providers.uuids}


def shared(providers, source):
    listing = source.list()
    return source.sharing(listing, others(providers, listing))


def test_a_provider_shares_with_the_trees_of_its_aggregates(
        providers, placement, tmp_path):
    one, two, three = (providers.add(PLAIN) for _ in range(3))
    card = add_below(providers, two, {'VGPU': {'total': 4}})
    nfs = add_sharing(placement.adapter, 'nfs', [one, card], DISK_GB=100)
    lone = add_sharing(placement.adapter, 'lone', [], DISK_GB=100)
    expected = {nfs: Sharing('nfs', frozenset([one, two])),
                lone: Sharing('lone', frozenset())}
    assert shared(providers, providers.reader) == expected
    path = tmp_path / 'placement.sqlite'
    placement.save(path)
    rows = ProviderRows(PlacementDatabase(f'sqlite:///{path}'))
    assert shared(providers, rows) == expected


def test_a_cloud_without_sharing_providers_costs_no_request(providers):
    providers.add(PLAIN)
    listing = providers.reader.list()
    providers.requests.clear()
    assert providers.reader.sharing(listing, others(
        providers, listing)) == {}
    assert not providers.requests.total()


def assembled(providers, source, assembly):
    """Read everything; returns the hosts."""
    listing = source.list()
    sharing = source.sharing(listing, others(providers, listing))
    return assembly.put(
        assembly.begin(), sharing=sharing, nova=NovaFacts(tuple(
            Compute(f'h{n}', f'h{n}', f'h{n}', uuid, True)
            for n, uuid in enumerate(providers.uuids))),
        providers=source.read([*providers.uuids, *sharing], listing)).hosts


def free(hosts):
    """Free amounts of shared DISK_GB, by host."""
    return {host.name: each.inventories['DISK_GB'].free for host in hosts
            for each in host.providers if each.sharing}


@pytest.fixture(params=['api', 'database'])
def source(request, providers, placement, tmp_path):
    """A source of providers, and a function that lets it see changes."""
    if request.param == 'api':
        return ProviderTrees(providers.reader), lambda: None
    path = tmp_path / 'placement.sqlite'
    rows = ProviderRows(PlacementDatabase(f'sqlite:///{path}'))
    return ProviderTrees(rows), lambda: placement.save(path)


def test_hosts_contain_what_is_shared_with_them(
        providers, placement, source):
    reader, save = source
    one, _, three = (providers.add(PLAIN) for _ in range(3))
    nfs = add_sharing(placement.adapter, 'nfs', [one, three], DISK_GB=100)
    providers.allocate({one: {'VCPU': 1}, nfs: {'DISK_GB': 30}})
    save()
    assembly = SnapshotAssembly(AggregatesTopology(['host']))
    hosts = assembled(providers, reader, assembly)
    assert free(hosts) == {'h0': 70, 'h2': 70}
    assert [host.servers for host in hosts] == [1, 0, 0]
    consumer = providers.allocate({three: {'VCPU': 1}, nfs: {'DISK_GB': 20}})
    save()
    # The provider is read again with each host that uses it, and all of them
    # get its new usage.
    after = assembly.put(assembly.begin(), providers=reader.reread_use(
        assembly.with_sharing([three]))).hosts
    assert free(after) == {'h0': 50, 'h2': 50}
    assert after[1] is hosts[1]
    # The deletion of an allocation does not raise the generation.
    providers.free(consumer)
    save()
    assert free(assembled(providers, reader, assembly)) == {
        'h0': 70, 'h2': 70}


def test_a_host_uses_its_own_disk_and_the_largest_storage(
        providers, placement):
    disk = PLAIN | {'DISK_GB': {'total': 10}}
    own, one, below = (providers.add(disk), providers.add(PLAIN),
                       providers.add(PLAIN))
    add_below(providers, below, {'DISK_GB': {'total': 10}})
    for name, total in (('small', 50), ('large', 100)):
        add_sharing(placement.adapter, name, [own, one, below],
                    DISK_GB=total)
    hosts = assembled(providers, ProviderTrees(providers.reader),
                      SnapshotAssembly(AggregatesTopology(['host'])))
    assert {host.uuid: [each.name for each in host.providers if each.sharing]
            for host in hosts} == {own: [], one: ['large'], below: []}


def test_known_changes_and_removed_providers(providers, placement):
    one, two = providers.add(PLAIN), providers.add(PLAIN)
    nfs = add_sharing(placement.adapter, 'nfs', [one, two], DISK_GB=100)
    reader = ProviderTrees(providers.reader)
    assembly = SnapshotAssembly(AggregatesTopology(['host']))
    assembled(providers, reader, assembly)
    since = assembly.begin()
    assert free(assembly.change_use(since, {
        one: UseChange(1, FrozenMapping({'VCPU': 1})),
        nfs: UseChange(1, FrozenMapping({'DISK_GB': 40}))}).hosts) == {
        'h0': 60, 'h1': 60}
    assert not assembly.uncounted()
    placement.adapter.delete(f'/resource_providers/{nfs}',
                             microversion=VERSION)
    assert not free(assembled(providers, reader, assembly))


def test_a_busy_storage_costs_the_same_requests_as_an_empty_one(
        providers, placement):
    """Each server of all hosts has an allocation at the storage."""
    one = providers.add(PLAIN)
    nfs = add_sharing(placement.adapter, 'nfs', [one], DISK_GB=100)
    listing = providers.reader.list()
    providers.reader.sharing(listing, {nfs})
    providers.reader.read([one, nfs], listing)
    for number in range(4):
        providers.allocate({nfs: {'DISK_GB': 5}})
        providers.requests.clear()
        found = providers.reader.reread_use([nfs])
        assert found[nfs].used() == {'DISK_GB': 5 * (number + 1)}
        assert set(providers.requests) == {
            'one/inventories', 'one/usages', 'one/traits'}
