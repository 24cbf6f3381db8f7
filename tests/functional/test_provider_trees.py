# SPDX-License-Identifier: Apache-2.0
"""Providers below a host are read with it: by Placement's API and from its
database, from a real Placement."""

import uuid

import pytest

from nova_holistic.inventory.nova.computes import Compute
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider_rows import (
    ProviderRows)
from nova_holistic.inventory.resource_providers.provider_trees import (
    ProviderTrees)
from nova_holistic.inventory.snapshot_assembly import (
    NovaFacts, SnapshotAssembly)
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.aggregates import AggregatesTopology
from tests.functional.changing_providers import (  # noqa: F401
    metal_placement, PLAIN, Providers, VERSION)

VGPU = {'VGPU': {'total': 4}}


@pytest.fixture
def providers(placement):
    return Providers(placement)


@pytest.fixture
def trees(providers):
    return ProviderTrees(providers.reader)


def add_below(providers, parent, inventories, name=None):
    """Create a provider below another one; returns its UUID."""
    one = str(uuid.uuid4())
    providers.service.adapter.post('/resource_providers', json={
        'name': name or one, 'uuid': one, 'parent_provider_uuid': parent},
        microversion=VERSION)
    providers.offer(one, inventories)
    return one


def test_a_host_contains_the_providers_below_it(providers, trees):
    root, plain = providers.add(PLAIN), providers.add(PLAIN)
    card = add_below(providers, root, VGPU, 'card')
    function = add_below(providers, card, {}, 'function')
    providers.give_traits(card, ['HW_CPU_X86_AVX'])
    providers.allocate({root: {'VCPU': 1}, card: {'VGPU': 3}})
    found = trees.read(providers.uuids, trees.list())
    below = {each.name: each for each in found[root].below}
    assert below['card'].inventories['VGPU'].free == 1
    assert below['card'].traits == {'HW_CPU_X86_AVX'}
    assert (below['card'].parent, below['function'].parent) == ('', card)
    assert below['function'].uuid == function
    assert found[root].consumers == 1
    assert found[plain].below == ()


@pytest.mark.parametrize('below', [0, 2])
def test_only_nested_providers_cost_requests(providers, trees, below):
    roots = [providers.add(PLAIN) for _ in range(3)]
    for root in roots[:1] * below:
        add_below(providers, root, VGPU)
    providers.read()
    listing = trees.list()
    providers.requests.clear()
    trees.read(providers.uuids, listing)
    # One request reads the inventories of each nested provider.
    assert providers.parts == below
    providers.requests.clear()
    trees.read(providers.uuids, listing)
    # One request reads the list of usages, which contains nested providers.
    assert (providers.lists, providers.parts) == (1, 0)


def test_a_tree_that_did_not_change_is_the_same_object(providers, trees):
    root = providers.add(PLAIN)
    card = add_below(providers, root, VGPU)
    first = trees.read(providers.uuids, trees.list())
    assert trees.read(providers.uuids, trees.list())[root] is first[root]
    consumer = providers.allocate({card: {'VGPU': 1}})
    second = trees.read(providers.uuids, trees.list())[root]
    assert second.below[0].inventories['VGPU'].used == 1
    # A deletion does not raise the generation of any provider.
    providers.free(consumer)
    third = trees.read(providers.uuids, trees.list())[root]
    assert third == first[root]


@pytest.mark.parametrize('method', ['reread', 'reread_use'])
def test_a_nested_provider_is_read_again_with_its_root(
        providers, trees, method):
    root = providers.add(PLAIN)
    card = add_below(providers, root, VGPU)
    trees.read(providers.uuids, trees.list())
    providers.allocate({card: {'VGPU': 2}})
    found = getattr(trees, method)([card])
    assert list(found) == [root]
    assert found[root].below[0].inventories['VGPU'].used == 2


def test_a_deleted_nested_provider_is_gone(providers, trees):
    root = providers.add(PLAIN)
    card = add_below(providers, root, VGPU)
    assert trees.read(providers.uuids, trees.list())[root].below
    providers.service.adapter.delete(f'/resource_providers/{card}')
    assert not trees.reread([root])[root].below
    assert not trees.read(providers.uuids, trees.list())[root].below


def test_trees_of_providers_that_were_removed_are_not_stored(
        providers, trees):
    first, second = (providers.add(PLAIN) for _ in range(2))
    card, _ = (add_below(providers, root, VGPU) for root in (first, second))
    trees.read(providers.uuids, trees.list())
    for removed in card, first:
        providers.service.adapter.delete(f'/resource_providers/{removed}')
    listing = trees.list()
    assert first not in listing
    assert list(trees._known) == [second]


def test_the_database_shows_the_same_trees(placement, tmp_path):
    path = tmp_path / 'placement.sqlite'
    providers = Providers(placement)
    root, _ = providers.add(PLAIN), providers.add(PLAIN)
    card = add_below(providers, root, VGPU, 'card')
    add_below(providers, card, {'SRIOV_NET_VF': {'total': 8}}, 'function')
    providers.allocate({root: {'VCPU': 1}, card: {'VGPU': 3}})
    placement.save(path)
    rows = ProviderTrees(ProviderRows(
        PlacementDatabase(f'sqlite:///{path}')))
    api = ProviderTrees(providers.fresh())
    expected = api.read(providers.uuids, api.list())
    assert len(expected[root].below) == 2
    assert rows.read(providers.uuids, rows.list()) == expected
    assert rows.reread(providers.uuids) == expected


def test_a_known_change_of_a_nested_provider_needs_no_reading(
        providers, trees):
    root = providers.add(PLAIN)
    card = add_below(providers, root, VGPU)
    assembly = SnapshotAssembly(AggregatesTopology(['host']))
    assembly.put(assembly.begin(), nova=NovaFacts(
        (Compute('h1', 'h1', 'h1', root, True),)),
        providers=trees.read(providers.uuids, trees.list()))
    since = assembly.begin()
    (host,) = assembly.change_use(since, {
        root: UseChange(1, FrozenMapping({'VCPU': 2})),
        card: UseChange(1, FrozenMapping({'VGPU': 1}))}).hosts
    assert host.inventories['VCPU'].used == 2
    assert host.providers[0].inventories['VGPU'].used == 1
    assert not assembly.take_doubtful()
    # The read may already contain this change.
    assembly.put(assembly.begin(), providers=trees.reread([root]))
    assembly.change_use(since, {
        card: UseChange(1, FrozenMapping({'VGPU': 1}))})
    assert assembly.take_doubtful() == {root}
