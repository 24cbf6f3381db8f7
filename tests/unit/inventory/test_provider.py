# SPDX-License-Identifier: Apache-2.0
"""A resource provider after Placement's responses and after known changes."""

from nova_holistic.inventory.resource_providers.provider import Provider
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping

INVENTORY = {'total': 8, 'reserved': 0, 'allocation_ratio': 1.0,
             'min_unit': 1, 'max_unit': 8, 'step_size': 1}


def read():
    """A provider with one consumer, which has two VCPUs."""
    return Provider.from_placement([
        {'resource_provider_generation': 3,
         'allocations': {'a': {'resources': {'VCPU': 2}}}},
        {'resource_provider_generation': 3,
         'inventories': {'VCPU': INVENTORY, 'DISK_GB': INVENTORY}}],
        [f'CUSTOM_{number}' for number in range(50)])


def test_providers_with_equal_traits_share_them():
    """The traits of thousands of hosts use the memory of one set."""
    assert read().traits is read().traits


def test_a_known_change_of_use_leaves_everything_else():
    before = read()
    change = UseChange(2, FrozenMapping({'VCPU': 4, 'CUSTOM_ELSEWHERE': 1}))
    after = before.with_change(change)
    assert (after.used(), after.consumers) == ({'VCPU': 6, 'DISK_GB': 0}, 3)
    assert after.generation == before.generation
    assert after.with_change(-change) == before


def test_the_use_of_a_provider_is_never_negative():
    after = read().with_change(UseChange(-2, FrozenMapping({'VCPU': -3})))
    assert (after.used()['VCPU'], after.consumers) == (0, 0)


def test_a_change_of_use_does_not_count_the_consumers_of_a_provider():
    """An uncounted provider has one consumer, or none if nothing is used."""
    answer = {'resource_provider_generation': 3,
              'inventories': {'VCPU': INVENTORY}}
    before = Provider.with_use(answer, {'VCPU': 4}, ())
    assert (before.consumers, before.is_counted) == (1, False)
    for consumers, amount, expected in (1, 2, 1), (-1, -2, 1), (-1, -4, 0):
        after = before.with_change(UseChange(
            consumers, FrozenMapping({'VCPU': amount})))
        assert (after.consumers, after.is_counted) == (expected, False)
    counted = before.with_allocations({'allocations': {
        name: {'resources': {'VCPU': 2}} for name in 'ab'}})
    assert (counted.consumers, counted.is_counted) == (2, True)
    unused = Provider.with_use(answer, {'VCPU': 0}, ())
    assert (unused.consumers, unused.is_counted) == (0, True)
