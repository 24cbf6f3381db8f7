# SPDX-License-Identifier: Apache-2.0
"""Groups whose volumes an engine creates or deletes."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from nova_holistic.boot.volume_creator import Replan, VolumeCreator
from nova_holistic.engine import reasons
from nova_holistic.messaging.context import RequestContext
from nova_holistic.service.work_queues import WorkQueue
from nova_holistic.table.coordination.volume_creations import VolumeCreations
from nova_holistic.table.created_volumes import VolumeCreation


class VolumeQueue(WorkQueue):
    """An engine takes a group for one step of each of its volumes, and
    returns it until the next step is due."""

    def __init__(self, conf, creations: VolumeCreations,
                 creator: VolumeCreator, replan: Replan,
                 owner: tuple[str, Callable[[], datetime]]):
        """
        :param owner: id of the engine, and its clock
        """
        self._conf = conf
        self._creations = creations
        self._creator = creator
        self._replan = replan
        self._engine, self._clock = owner

    def waiting(self, limit: int) -> Sequence[str]:
        return self._creations.waiting(self._clock(), self._stale(), limit)

    def take(self, uuid: str) -> VolumeCreation | None:
        return self._creations.take(
            uuid, self._engine, self._clock(), self._stale())

    def write_heartbeat(self, uuids: Collection[str]) -> None:
        self._creations.write_heartbeat(uuids, self._engine, self._clock())

    def return_work(self, uuid: str | None = None,
                    counted: bool = False) -> None:
        # The attempts of each volume are counted, not those of the group.
        self._creations.return_work(self._engine, uuid)

    def context(self, record: VolumeCreation) -> RequestContext:
        return RequestContext(
            record.request_id, record.project_id, record.user_id)

    def note_failure(self, record: VolumeCreation, error: Exception) -> None:
        self._creations.note_failure(record, reasons.of_repeated(
            'the creation or deletion of volumes', error), self._clock())

    def do(self, record: VolumeCreation) -> None:
        self._creator.run(record, self._replan)
