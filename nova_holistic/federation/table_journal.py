# SPDX-License-Identifier: Apache-2.0
"""The journal of a saga, in the placement table."""

from collections.abc import Callable, Sequence
from datetime import datetime

from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.saga.journal import PartRecord, PartState
from nova_holistic.table.coordination.parts import GroupPart, Parts


class TableJournal:
    """The parts of one group, written by the process that owns its task, or by
    any process while the group has no task."""

    def __init__(self, parts: Parts, group_uuid: str, owner: str | None,
                 clock: Callable[[], datetime], revision: int | None = None):
        """
        :param owner: the process that owns the task of the group; None: the
            group has no task
        :param clock: returns naive UTC
        :param revision: the revision that the group must have; None: any. The
            owner of a task knows every change of its group, but other
            processes must not write if a task has begun and ended since they
            read the group
        """
        self._parts = parts
        self._group_uuid = group_uuid
        self._owner = owner
        self._clock = clock
        self._revision = revision

    def write(self, part: PartRecord) -> None:
        """See ``Journal.write``. The row of a part that is undone is deleted.
        """
        if part.state == PartState.UNDONE:
            self._parts.remove([part.key])
            return
        if not self._parts.write(GroupPart(
                part.key, self._group_uuid, part.child, part.name,
                part.paths, str(part.state), self._clock(), part.group_uuid,
                part.lease_end, child_project=part.project_id),
                self._owner, self._revision):
            raise JournalRefused(
                f'group {self._group_uuid} was deleted, has changed, or '
                'belongs to another process')

    def read(self) -> Sequence[PartRecord]:
        """The parts that may exist in children."""
        return tuple(map(record_of, self._parts.of_group(self._group_uuid)))


def record_of(part: GroupPart) -> PartRecord:
    """The record of a row of the table."""
    return PartRecord(
        part.idempotency_key, part.child, part.name, tuple(part.paths),
        PartState(part.state), part.lease_expires_at, part.child_group,
        part.child_project)
