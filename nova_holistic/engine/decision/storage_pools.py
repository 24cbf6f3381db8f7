# SPDX-License-Identifier: Apache-2.0
"""The storage pools on which a group with volumes is planned.

They are read for each plan of such a group, because no notification reports
their changes. Rules of Nova do not apply to them.
"""

from collections.abc import Collection
from dataclasses import replace

from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.storage_pools import (
    has_volumes, volume_places, with_pools)


def read(inventory: CloudInventory, group: Group,
         cloud: Snapshot) -> Snapshot:
    """The snapshot with the current pools, if the group has volumes.

    :raises InvalidDocument: no pools are known
    :raises HolisticError: the source of the pools does not respond
    """
    if not has_volumes(group):
        return cloud
    found = inventory.with_pools(cloud)
    if not found.pools:
        mistakes = exceptions.Mistakes()
        for place in volume_places(group):
            mistakes.add(exceptions.InvalidDocument(
                f'{place}.kind', 'volumes cannot be planned, because no '
                'storage pools are known; the operator configures Cinder in '
                '[cinder]'))
        mistakes.must_be_none()
    return found


def added(group: Group, snapshot: Snapshot,
          closed: Collection[str] = ()) -> Snapshot:
    """The snapshot with its pools among its hosts, if the group has volumes.

    :param closed: names of pools that count as disabled
    """
    if not has_volumes(group):
        return snapshot
    return with_pools(replace(snapshot, pools=tuple(
        replace(pool, enabled=pool.enabled and pool.name not in closed)
        for pool in snapshot.pools)))
