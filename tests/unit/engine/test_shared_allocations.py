# SPDX-License-Identifier: Apache-2.0
"""The parts of allocations that come from sharing providers."""

from dataclasses import replace

from nova_holistic.engine.shared_allocations import of_own_providers
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.table.provider_allocation import ProviderAllocation
from tests.unit.builders import host


def test_a_storage_that_is_no_longer_used_is_left_out():
    """A larger storage was added after the allocation was made. A member that
    takes the allocation over gets its disk from the larger storage only."""
    larger = NestedProvider('larger', 'larger', '', FrozenMapping(
        {'DISK_GB': Inventory(200)}), sharing=True)
    card = NestedProvider('card', 'card', '', FrozenMapping(
        {'VGPU': Inventory(2)}))
    where = replace(host('h1', 'r1'), uuid='h1', providers=(card, larger))
    before = ProviderAllocation(
        FrozenMapping({
            'h1': FrozenMapping({'VCPU': 1}),
            'card': FrozenMapping({'VGPU': 1}),
            'smaller': FrozenMapping({'DISK_GB': 30})}),
        FrozenMapping({'': ('h1', 'card', 'smaller')}))
    assert of_own_providers(before, where) == ProviderAllocation(
        FrozenMapping({'h1': FrozenMapping({'VCPU': 1}),
                       'card': FrozenMapping({'VGPU': 1})}),
        FrozenMapping({'': ('h1', 'card')}))
