# SPDX-License-Identifier: Apache-2.0
"""The capacity of planned volumes that the states of Cinder's pools do not
include.

A volume service reports its capacity periodically. The scheduler subtracts a
volume from the state of a pool when it selects the pool, and the next report
replaces the state. Therefore a claimed volume is

* in the report, if Cinder had completed it before the report;
* in the state, if this process selected its pool after the report;
* in neither of them, in all other cases.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
import math
import time
from typing import Any

from cinder import context
from oslo_log import log as logging
from oslo_utils import timeutils

from nova_holistic.cinder import cinder_volumes
from nova_holistic.table.errors import TableError
from nova_holistic.table.records import MemberState
from nova_holistic.table.store import PlacementTable
from nova_holistic.table.volume_records import VolumeRecord

LOG = logging.getLogger(__name__)

REMEMBERED = timedelta(hours=1)
"""Time for which a selection is stored. Volume services report their capacity
much more often, and the selection has no effect after the report."""


@dataclass(frozen=True, slots=True)
class _Read:
    """One read of the table and of Cinder's database.

    :ivar at: value of the timer before the read
    :ivar planned: GiB of planned volumes without a volume, by pool
    :ivar completed: when Cinder completed the volumes of claimed rows
    """

    at: float = -math.inf
    planned: Mapping[str, int] = field(default_factory=dict)
    claimed: Sequence[VolumeRecord] = ()
    completed: Mapping[str, datetime] = field(default_factory=dict)


class PlannedCapacity:
    """Threads may share an instance."""

    def __init__(self, table: PlacementTable, lifetime: float,
                 outage_lifetime: float):
        """
        :param lifetime: seconds for which a read is used
        :param outage_lifetime: seconds for which a read is used if the table
            is unavailable
        """
        self._table = table
        self._lifetime = lifetime
        self._outage_lifetime = outage_lifetime
        self._last = _Read()
        self._selected: dict[str, tuple[str, datetime]] = {}

    def note_selection(self, volume_uuid: str, pool: str) -> None:
        """Note that the state of a pool includes a volume from now on, and
        remove old notes."""
        now = timeutils.utcnow()
        # The last note is the last one in the order of the mapping.
        self._selected.pop(volume_uuid, None)
        self._selected[volume_uuid] = pool, now
        for uuid, (_, selected) in list(self._selected.items()):
            if selected >= now - REMEMBERED:
                break
            self._selected.pop(uuid, None)

    def outside(self, states: Iterable[Any], own: str | None
                ) -> Mapping[str, int]:
        """GiB of planned volumes that are not in the states, by pool.

        :param states: states of pools, as Cinder's filters receive them
        :param own: UUID of a volume that is left out, because the request is
            for this volume
        """
        read = self._read()
        reported = {state.backend_id: (state.capabilities or {}).get(
            'timestamp') for state in states}
        found = Counter(read.planned)
        for row in read.claimed:
            if row.pool in reported and row.volume_uuid != own and not (
                    self._is_included(row, reported[row.pool], read)):
                found[row.pool] += row.volume.size_gb
        return found

    def _is_included(self, row: VolumeRecord, reported: datetime | None,
                     read: _Read) -> bool:
        pool, selected = self._selected.get(row.volume_uuid, (None, None))
        if pool == row.pool and (reported is None or selected > reported):
            return True
        completed = read.completed.get(row.volume_uuid)
        return bool(completed and reported and completed <= reported)

    def _read(self) -> _Read:
        """The last read if it is recent enough, or else a new one."""
        now = time.monotonic()
        if now - self._last.at < self._lifetime:
            return self._last
        try:
            self._last = self._read_again(now)
        except TableError as error:
            if now - self._last.at <= self._outage_lifetime:
                LOG.warning('The capacity of planned volumes cannot be read, '
                            'and the last read is used: %s', error)
                return self._last
            LOG.error('The capacity of planned volumes cannot be read, and '
                      'other volumes may use it: %s', error)
            return _Read()
        return self._last

    def _read_again(self, now: float) -> _Read:
        selected = set(self._selected)
        # In this order, a volume that is claimed between the two reads is
        # counted twice, not left out.
        planned = self._table.volumes.planned_gb(
            states=(MemberState.PLANNED,))
        claimed = self._table.volumes.in_states((MemberState.CLAIMED,))
        uuids = {row.volume_uuid for row in claimed}
        for uuid in selected - uuids:
            # A selection follows its claim, so this volume has no claim, or
            # no longer has one.
            self._selected.pop(uuid, None)
        volumes = cinder_volumes.read(context.get_admin_context(), uuids)
        return _Read(now, planned, claimed, {
            uuid: volume.completed_at for uuid, volume in volumes.items()
            if volume.completed_at is not None})
