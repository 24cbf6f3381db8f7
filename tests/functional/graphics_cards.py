# SPDX-License-Identifier: Apache-2.0
"""Graphics cards of embedded hosts, as nested providers."""

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping

FAST = 'HW_GPU_API_VULKAN'
"""A trait that some of the cards have."""


def card(name, number, *traits):
    """A card with this number of virtual GPUs."""
    return NestedProvider('', name, '', FrozenMapping({
        'VGPU': Inventory(number)}), frozenset(traits))
