# SPDX-License-Identifier: Apache-2.0
"""Providers that share their resources, in a real Placement."""

import uuid

VERSION = '1.38'


def add_sharing(adapter, name, roots, *traits, parent=None, **totals):
    """Create a provider that shares its resources with root providers; returns
    its UUID.

    :param adapter: keystoneauth adapter of Placement
    :param traits: further traits of the provider
    :param parent: UUID of the provider above it
    :param totals: amount of each resource class
    """
    made, aggregate = str(uuid.uuid4()), str(uuid.uuid4())
    adapter.post('/resource_providers', microversion=VERSION, json={
        'name': name, 'uuid': made,
        **({'parent_provider_uuid': parent} if parent else {})})
    change(adapter, made, 'inventories', {
        resource_class: {'total': total}
        for resource_class, total in totals.items()})
    change(adapter, made, 'traits', ['MISC_SHARES_VIA_AGGREGATE', *traits])
    for one in (made, *roots):
        join(adapter, one, aggregate)
    return made


def join(adapter, provider, aggregate):
    """Add a provider to an aggregate of Placement, and keep its other
    aggregates."""
    known = adapter.get(f'/resource_providers/{provider}/aggregates',
                        microversion=VERSION).json()['aggregates']
    change(adapter, provider, 'aggregates', [*known, aggregate])


def change(adapter, provider, part, value):
    generation = adapter.get(f'/resource_providers/{provider}',
                             microversion=VERSION).json()['generation']
    adapter.put(f'/resource_providers/{provider}/{part}',
                microversion=VERSION, json={
                    'resource_provider_generation': generation, part: value})
