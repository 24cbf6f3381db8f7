# SPDX-License-Identifier: Apache-2.0
"""The storage pools on which a group with volumes is planned.

They are read for each plan of such a group, because no notification reports
their changes. Rules of Nova do not apply to them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections import Counter
from dataclasses import replace

from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.inventory import Inventory, with_use_changed
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.model.storage_pools import (
    has_volumes, pool_traits, VOLUME_GB, volume_places, volumes_of,
    with_pools)
from nova_holistic.table.store import PlacementTable
from nova_holistic.table.volume_records import NOT_CREATED, VolumeRecord


def read(inventory: CloudInventory, table: PlacementTable,
         request: PlanningRequest, cloud: Snapshot) -> Snapshot:
    """The snapshot with the current pools, if the group has volumes. Planned
    volumes of other groups, and of this group if they stay, use capacity. It
    has the default volume type if a volume without a type needs a pool.

    :raises InvalidDocument: no pools are known
    :raises HolisticError: the source of the pools does not respond
    :raises TableError: the table does not respond
    """
    group = request.group
    if not has_volumes(group):
        return cloud
    # A volume that Cinder reports between the two reads counts twice until
    # the next plan. In the reverse order, it would not count at all.
    planned = Counter(table.volumes.planned_gb(request.uuid))
    for row in request.volumes:
        if row.state in NOT_CREATED:
            planned[row.pool] += row.volume.size_gb
    found = inventory.with_pools(cloud)
    if not found.pools:
        mistakes = exceptions.Mistakes()
        for place in volume_places(group):
            mistakes.add(exceptions.InvalidDocument(
                f'{place}.kind', 'volumes cannot be planned, because no '
                'storage pools are known; the operator configures Cinder in '
                '[cinder]'))
        mistakes.must_be_none()
    return _with_default_type(
        inventory, request, replace(found, pools=_with_missing(tuple(
            replace(pool, inventories=with_use_changed(
                pool.inventories, {VOLUME_GB: planned[pool.name]}))
            for pool in found.pools), request.volumes)))


def _with_default_type(inventory: CloudInventory, request: PlanningRequest,
                       snapshot: Snapshot) -> Snapshot:
    """The snapshot with the default volume type, if a volume without a type
    needs a pool."""
    staying = {row.path for row in request.volumes}
    if all(volume.volume_type is not None or member.path in staying
           for member in volumes_of(request.group)
           if (volume := member.requirements.volume)):
        return snapshot
    return replace(snapshot, default_volume_type=(
        inventory.default_volume_type(request.project_id)))


def objections(volumes: Sequence[VolumeRecord],
               snapshot: Callable[[], Snapshot]) -> Sequence[Reason]:
    """The reasons why planned volumes cannot stay in their pools. If two
    groups have planned the same capacity at the same time, at least one of
    them finds this.

    :param volumes: planned volumes of a group, as the table has them
    :param snapshot: returns what the group may use without its own volumes
    """
    if not volumes:
        return ()
    sizes: Counter[str] = Counter()
    for row in volumes:
        sizes[row.pool] += row.volume.size_gb
    hosts = snapshot().by_name()
    return [Reason.of('', format_message(
        'storage pool {:name} has no capacity for the volumes any longer',
        name)) for name, size in sorted(sizes.items())
        if not _takes(hosts.get(name), size)]


def _takes(pool: Host | None, size: int) -> bool:
    return pool is not None and pool.enabled and (
        size <= pool.inventories[VOLUME_GB].free)


def _with_missing(pools: Sequence[Host],
                  volumes: Sequence[VolumeRecord]) -> tuple[Host, ...]:
    """The pools, and the pools of volumes that Cinder no longer has. Those
    are disabled."""
    missing: Mapping[str, Host] = {row.pool: Host(
        row.pool, row.pool, '', row.location,
        FrozenMapping({VOLUME_GB: Inventory(0)}), enabled=False,
        traits=pool_traits({kind for each in volumes if each.pool == row.pool
                            and (kind := each.volume.volume_type)}),
        labels=FrozenMapping(row.labels)) for row in volumes}
    known = {pool.name for pool in pools}
    return (*pools, *(pool for name, pool in missing.items()
                      if name not in known))


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
