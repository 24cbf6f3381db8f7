# SPDX-License-Identifier: Apache-2.0
"""The volumes of groups as members that never move, for checks and repairs."""

from collections.abc import Callable, Sequence

from oslo_log import log as logging

from nova_holistic.engine import volume_rows
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.repair.checked_cloud import Pools
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Place)
from nova_holistic.table.store import PlacementTable
from nova_holistic.table.volume_records import OCCUPYING, VolumeRecord

LOG = logging.getLogger(__name__)


class VolumePositions:
    """Adds rows for the volumes of a group that use capacity to the rows of
    its members.

    These rows are claimed, without a server and without requirements, so that
    neither a check nor a repair considers another place for them.
    """

    def __init__(self, table: PlacementTable, inventory: CloudInventory):
        self._table = table
        self._inventory = inventory

    def added(self, record: GroupRecord, members: Sequence[MemberRecord],
              pools: Callable[[], Pools] | None = None
              ) -> Sequence[MemberRecord]:
        """The members, and the volumes of their group. Unchanged if the group
        has no such volumes.

        :param pools: returns the current positions of the pools; called only
            if the group has such volumes. None means the positions when the
            volumes were planned, which also apply to pools without a current
            position
        :raises TableError: the table does not respond
        """
        rows = [row for row in volume_rows.of_group(self._table, record)
                if row.state in OCCUPYING]
        if not rows:
            return members
        places = {row.pool: volume_rows.planned_place(row) for row in rows}
        if pools is not None:
            places |= pools()
        return [*members, *(_member(row, places[row.pool]) for row in rows)]

    def added_now(self, record: GroupRecord, members: Sequence[MemberRecord],
                  cloud: Snapshot) -> Sequence[MemberRecord]:
        """The members, and the volumes of their group at the current positions
        of their pools.

        :raises TableError: the table does not respond
        """
        return self.added(record, members, lambda: self.pools(cloud))

    def pools(self, cloud: Snapshot) -> Pools:
        """The current positions of all pools; empty if Cinder does not
        respond.

        :param cloud: snapshot whose hosts determine the positions
        """
        try:
            found = self._inventory.with_pools(cloud).pools
        except exceptions.HolisticError as error:
            LOG.warning('The storage pools cannot be read, and volumes count '
                        'at their planned positions: %s', error)
            return {}
        return {pool.name: Place(
            pool.name, pool.node, '', pool.location,
            tuple(sorted(pool.labels.items()))) for pool in found}


def _member(row: VolumeRecord, place: Place) -> MemberRecord:
    return MemberRecord(
        -row.id, row.group_uuid,
        Member(row.path, row.description, Requirements()), place, '', False,
        MemberState.CLAIMED)
