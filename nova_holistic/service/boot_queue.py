# SPDX-License-Identifier: Apache-2.0
"""Groups whose servers an engine creates."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
import threading

from oslo_log import log as logging

from nova_holistic.boot.booter import Booter, Hooks
from nova_holistic import crash_points
from nova_holistic.engine import reasons
from nova_holistic.messaging.context import RequestContext
from nova_holistic.service.work_queues import WorkQueue
from nova_holistic.table.boot_records import BootRecord
from nova_holistic.table.coordination.boots import Boots

LOG = logging.getLogger(__name__)


class BootQueue(WorkQueue):
    """The creation of servers takes minutes, so it has its own workers.

    :ivar stopping: set it to return all boots to the table soon
    """

    def __init__(self, conf, boots: Boots, booter: Booter, hooks: Hooks,
                 owner: tuple[str, Callable[[], datetime]]):
        """
        :param owner: id of the engine, and its clock
        """
        self._conf = conf
        self._boots = boots
        self._booter = booter
        self._hooks = hooks
        self._engine, self._clock = owner
        self.stopping = threading.Event()

    def waiting(self, limit: int) -> Sequence[str]:
        return self._boots.waiting(self._stale(), limit)

    def take(self, uuid: str) -> BootRecord | None:
        record = self._boots.take(
            uuid, self._engine, self._clock(), self._stale())
        crash_points.reached('boot.taken')
        return record

    def write_heartbeat(self, uuids: Collection[str]) -> None:
        self._boots.write_heartbeat(uuids, self._engine, self._clock())

    def return_work(self, uuid: str | None = None,
                    counted: bool = False) -> None:
        self._boots.return_work(self._engine, uuid, counted)

    def context(self, record: BootRecord) -> RequestContext:
        return RequestContext(
            record.request_id, record.project_id, record.user_id)

    def note_failure(self, record: BootRecord, error: Exception) -> None:
        self._boots.note_failure(record, reasons.of_repeated(
            'the creation or deletion of servers', error), self._clock())

    def do(self, record: BootRecord) -> None:
        why_not = self._too_often(record)
        work = self._hooks, self.stopping
        done = (self._booter.run(record, *work) if why_not is None
                else self._booter.give_up(record, why_not, *work))
        if not done:
            LOG.info('The creation of the servers of group %s is left to '
                     'another engine', record.group_uuid)
