# SPDX-License-Identifier: Apache-2.0
"""Records that are deleted when they have reached a certain age."""

from collections.abc import Callable
from datetime import datetime, timedelta

from nova_holistic import crash_points
from nova_holistic.table.history import deletions
from nova_holistic.table.store import PlacementTable


class RecordExpiry:
    """Plans without holds, statistics of hosts, deletions of groups, and the
    event history.

    The options of ``[engine]`` set the retention of all kinds but deletions.
    Each kind is deleted in separate transactions: if the process crashes in
    between, the next call deletes the rest.
    """

    def __init__(self, conf, table: PlacementTable,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._conf = conf.engine
        self._table = table
        self._clock = clock

    def delete(self) -> None:
        """Delete the records that are too old.

        :raises TableError: the table does not answer
        """
        now, conf = self._clock(), self._conf
        self._table.plans.forget(now - timedelta(seconds=conf.plan_retention))
        crash_points.reached('old.plans-deleted')
        self._table.statistics.forget(
            now - timedelta(seconds=conf.statistics_max_age))
        crash_points.reached('old.statistics-deleted')
        deletions.forget(self._table.database, now)
        crash_points.reached('old.deletions-forgotten')
        if conf.event_retention:
            self._table.history.prune(
                now - timedelta(days=conf.event_retention))
