# SPDX-License-Identifier: Apache-2.0
"""Storage pools in an inventory document."""

from collections.abc import Mapping, Sequence
from typing import Any

from nova_holistic.documents.inventories.host_location import read_location
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.pool_capacity import PoolCapacity
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.storage_pools import (
    pool_traits, VOLUME_GB, volume_types)

CAPACITY_KEYS = (
    'total_capacity_gb', 'free_capacity_gb', 'provisioned_capacity_gb',
    'reserved_percentage', 'max_over_subscription_ratio',
    'thin_provisioning_support')


def read_pool(document: Mapping[str, Any], levels: Sequence[str],
              place: str) -> Host:
    """
    :param document: fits the schema
    :param place: its position
    :raises InvalidDocument: the location does not fit the levels, or a
        capacity is not a number
    """
    capacity = {key: document[key] for key in CAPACITY_KEYS
                if key in document}
    for key, value in capacity.items():
        # YAML has NaN, which is neither too small nor too large.
        if value != value:
            raise InvalidDocument(join(place, key), 'must be a finite number')
    return Host(
        name=document['name'], node=document['name'], uuid='',
        inventories=FrozenMapping({
            VOLUME_GB: PoolCapacity(**capacity).inventory()}),
        traits=pool_traits(document.get('volume_types', ())),
        servers=document.get('volumes', 0),
        enabled=document.get('enabled', True),
        **read_location(document, levels, place))


def pool_document(pool: Host, position: Mapping[str, Any]) -> dict[str, Any]:
    """A document of a pool with the same capacity.

    :param position: the keys of its location and labels
    """
    found = pool.inventories[VOLUME_GB]
    types = volume_types(pool)
    return {
        'name': pool.name, **position,
        'total_capacity_gb': found.capacity, 'free_capacity_gb': found.free,
        **({'volume_types': types} if types else {}),
        **({'volumes': pool.servers} if pool.servers else {}),
        **({} if pool.enabled else {'enabled': False})}
