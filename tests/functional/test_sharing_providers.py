# SPDX-License-Identifier: Apache-2.0
"""Providers that share their resources are read with the hosts that use them:
by Placement's API and from its database, from a real Placement."""

from collections import defaultdict

import pytest

from nova_holistic.inventory.nova.computes import Compute
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider_rows import (
    ProviderRows)
from nova_holistic.inventory.resource_providers.provider_source import (
    roots_of, Sharing)
from nova_holistic.inventory.resource_providers.provider_trees import (
    ProviderTrees)
from nova_holistic.inventory.resource_providers.unused_sharing import (
    UnusedSharing)
from nova_holistic.inventory.snapshot_assembly import (
    NovaFacts, SnapshotAssembly)
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.aggregates import AggregatesTopology
from tests.functional.changing_providers import (  # noqa: F401
    metal_placement, PLAIN, Providers, VERSION)
from tests.functional.sharing_providers import add_sharing, join
from tests.functional.test_provider_trees import add_below


SHARED = '0f9a2d41-7a5e-4b7c-8e0f-2f5c1f3a9b10'
"""UUID of an aggregate."""


@pytest.fixture
def providers(placement):
    return Providers(placement)


def others(providers, listing):
    """UUIDs of all providers that are not in the trees of hosts."""
    roots = roots_of(listing)
    return {uuid for uuid in listing
            if roots.get(uuid, uuid) not in providers.uuids}


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


def disks_in_placement(placement):
    """Providers from which Placement would allocate DISK_GB, by root provider
    of the processors."""
    found = defaultdict(set)
    for request in placement.adapter.get(
            '/allocation_candidates?resources=VCPU:1,DISK_GB:5',
            microversion=VERSION).json()['allocation_requests']:
        where = {name: uuid for uuid, each in request['allocations'].items()
                 for name in each['resources']}
        found[where['VCPU']].add(where['DISK_GB'])
    return found


def test_a_reserved_disk_is_replaced_by_the_storage(
        providers, placement, source):
    """Placement proposes the storage for such a host, and never its disk."""
    reader, save = source
    reserved, full, free = (providers.add(
        PLAIN | {'DISK_GB': {'total': 10, **limits}})
        for limits in ({'reserved': 10}, {}, {}))
    nfs = add_sharing(placement.adapter, 'nfs', [reserved, full, free],
                      DISK_GB=100)
    providers.allocate({full: {'DISK_GB': 10}})
    save()
    hosts = {host.uuid: host for host in assembled(
        providers, reader, SnapshotAssembly(AggregatesTopology(['host'])))}
    assert free_disks(hosts[reserved]) == {nfs: 100}
    assert disks_in_placement(placement)[reserved] == {nfs}
    # Placement would also allocate the storage for hosts whose own disk has
    # capacity, and plans use only this disk.
    assert free_disks(hosts[full]) == {full: 0}
    assert disks_in_placement(placement)[full] == {nfs}
    assert free_disks(hosts[free]) == {free: 10}
    assert disks_in_placement(placement)[free] == {free, nfs}


def free_disks(host):
    """Free amount of DISK_GB, by UUID of the provider with any capacity."""
    return {uuid: inventories['DISK_GB'].free for uuid, inventories in (
        (host.uuid, host.inventories),
        *((each.uuid, each.inventories) for each in host.providers))
        if 'DISK_GB' in inventories and inventories['DISK_GB'].capacity}


def add_root(placement, name):
    """Create a root provider without inventories; returns its UUID."""
    return placement.adapter.post('/resource_providers', json={
        'name': name}, microversion=VERSION).json()['uuid']


def test_a_pool_below_a_storage_is_reported(
        providers, placement, source, caplog):
    """Placement does not support such a pool: it fails to propose hosts for
    servers with disks."""
    reader, save = source
    one = providers.add(PLAIN)
    ceph = add_root(placement, 'ceph')
    pool = add_sharing(placement.adapter, 'pool', [one], parent=ceph,
                       DISK_GB=100)
    nfs = add_sharing(placement.adapter, 'nfs', [one], DISK_GB=50)
    save()
    listing = reader.list()
    found = reader.sharing(listing, others(providers, listing))
    assert found.keys() == {pool, nfs}
    unused = UnusedSharing()
    for _ in range(2):
        assert unused.without_nested(found, listing).keys() == {nfs}
    assert [text.partition(' has the trait')[0] for text in caplog.messages
            if 'Plans do not' in text] == [
        'Provider pool below another provider']


def test_a_compute_that_shares_its_resources_is_reported(
        providers, placement, caplog):
    """Placement allocates the disk of one compute to a server on another one,
    and its processors as well, which Nova cannot do."""
    one, two = providers.add(PLAIN), providers.add(PLAIN | {
        'DISK_GB': {'total': 50}})
    card = add_below(providers, one, {'VGPU': {'total': 4}}, 'card')
    for uuid in two, card:
        providers.give_traits(uuid, ['MISC_SHARES_VIA_AGGREGATE'])
    for uuid in one, two:
        join(placement.adapter, uuid, SHARED)
    assert disks_in_placement(placement)[one] == {two}
    reader = ProviderTrees(providers.reader)
    hosts = assembled(providers, reader,
                      SnapshotAssembly(AggregatesTopology(['host'])))
    assert [[each.name for each in host.providers] for host in hosts] == [
        ['card'], []]
    unused = UnusedSharing()
    for _ in range(2):
        unused.check_computes(reader.read(providers.uuids))
    assert [text.partition(' has the trait')[0] for text in caplog.messages
            if 'Plans do not' in text] == [
        'Provider card below a compute node', f'Compute node {two}']


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
