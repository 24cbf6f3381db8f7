# SPDX-License-Identifier: Apache-2.0
"""The planned volumes of groups, which engines and Cinder's schedulers
share."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from nova_holistic.table.changes import (
    planned_rows, volume_claim, volume_states)
from nova_holistic.table.changes.first_change import FirstChange
from nova_holistic.table.coordination.volume_creations import (
    VolumeCreations)
from nova_holistic.table.database import Database, retried
from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.volume_records import (
    NOT_CREATED, OCCUPYING, VolumeClaim, VolumeRecord)


class Volumes:
    """The planned volumes. Every method is one short transaction, and every
    change of a state is a compare-and-swap. Threads may share an instance.

    :ivar creations: volumes that engines create
    """

    def __init__(self, database: Database):
        self._database = database
        self.creations = VolumeCreations(database)

    @retried
    def write(self, group_uuid: str, volumes: Sequence[VolumeRecord],
              engine: str | None = None) -> bool:
        """Replace all rows of the group that have no volume.

        :param engine: UUID of the engine that must own the group's task; None
            disables this check
        :returns: False if the engine does not own the task; then nothing is
            written
        :raises Duplicate: a volume has claimed one of the paths
        """
        with self._database.writer() as session:
            if engine is not None and not session.execute(
                    # The statement changes nothing, and prevents other
                    # engines from taking the task.
                    sa.update(GroupRow).where(
                        GroupRow.uuid == group_uuid, GroupRow.engine == engine)
                    .values(engine=engine)
                    .execution_options(synchronize_session=False)).rowcount:
                return False
            planned_rows.replace_volumes(session, group_uuid, volumes)
        return True

    def of_group(self, group_uuid: str) -> tuple[VolumeRecord, ...]:
        """All volumes of a group, in the order of its document."""
        return self._select(
            VolumeRow.position, VolumeRow.group_uuid == group_uuid)

    def of_volume(self, volume_uuid: str) -> VolumeRecord | None:
        """The row of a volume of Cinder; None if it has none."""
        return next(iter(self._select(
            VolumeRow.id, VolumeRow.volume_uuid == volume_uuid)), None)

    def in_states(self, states: Collection[MemberState]
                  ) -> tuple[VolumeRecord, ...]:
        """The volumes of all groups in these states."""
        return self._select(VolumeRow.id, VolumeRow.state.in_(states))

    def find(self, group_uuid: str, path: str,
             project_id: str | None = None) -> VolumeRecord:
        """The volume of a pointer: see ``volume_claim.find``."""
        return volume_claim.find(self._database, group_uuid, path, project_id)

    def claim(self, group_uuid: str, path: str, volume_uuid: str,
              now: datetime, project_id: str | None = None) -> VolumeClaim:
        """Assign a planned row to a volume: see ``volume_claim.claim``."""
        return volume_claim.claim(
            self._database, volume_claim.Target(group_uuid, path, project_id),
            volume_uuid, now)

    def undo(self, seen: VolumeRecord, now: datetime,
             refused: bool = False) -> bool:
        """Undo a claim whose create has failed: the row is planned again, or
        released if it is unwanted or the lease has passed.

        :param seen: the claimed row
        :param refused: whether Cinder refuses the pool; the row becomes lost
        :returns: False if the row has changed since it was read
        """
        if refused and not seen.unwanted:
            return volume_states.change(self._database, seen,
                                        MemberState.LOST, now) is not None
        return volume_states.end(self._database, seen, now)

    def built(self, seen: VolumeRecord, now: datetime) -> bool:
        """The volume of a claimed row exists in Cinder, which counts it from
        now on.

        :returns: False if the row has changed since it was read
        """
        return volume_states.change(
            self._database, seen, MemberState.BUILT, now) is not None

    def replan(self, seen: VolumeRecord, new: VolumeRecord,
               now: datetime) -> VolumeRecord | None:
        """A lost volume is planned in another pool.

        :param new: has the pool, its location and its labels
        :returns: the changed row; None if the row has changed since it was
            read
        """
        done = volume_states.change(
            self._database, seen, MemberState.PLANNED, now, pool=new.pool,
            location=list(new.location), labels=dict(new.labels))
        return done and replace(done, location=new.location,
                                labels=new.labels)

    def lose(self, seen: VolumeRecord, now: datetime) -> bool:
        """A planned volume has no place in its pool any longer.

        :returns: False if the row has changed since it was read
        """
        return volume_states.change(
            self._database, seen, MemberState.LOST, now) is not None

    def deleted(self, seen: VolumeRecord, now: datetime) -> bool:
        """The volume of a row was deleted: see ``volume_states.end``."""
        return volume_states.end(self._database, seen, now)

    def release(self, group_uuid: str, now: datetime,
                paths: Collection[str] | None = None,
                with_volumes: bool = False) -> int:
        """Release unclaimed volumes: see ``volume_states.release``."""
        return volume_states.release(
            self._database, group_uuid, now, paths, with_volumes)

    def release_at(self, first: FirstChange, now: datetime,
                   paths: Collection[str], with_volumes: bool) -> bool:
        """Release unclaimed volumes: see ``volume_states.release_at``."""
        return volume_states.release_at(
            self._database, first, now, paths, with_volumes)

    def expire(self, group_uuid: str, now: datetime) -> int:
        """Release unclaimed volumes if the lease of the group has passed: see
        ``volume_states.expire``."""
        return volume_states.expire(self._database, group_uuid, now)

    def release_unplanned(self, now: datetime) -> int:
        """Release unclaimed volumes of groups without a plan: see
        ``volume_states.release_unplanned``."""
        return volume_states.release_unplanned(self._database, now)

    def planned_gb(self, but_of: str | None = None,
                   built_since: datetime | None = None,
                   states: Collection[MemberState] = NOT_CREATED
                   ) -> Mapping[str, int]:
        """GiB of volumes of all groups by pool. By default, these are planned
        and claimed volumes: the capacity that Cinder does not count yet.

        :param but_of: UUID of a group that is left out
        :param built_since: also count the volumes that were built after this
            time, because the last report of their pool may not include them
        :param states: states of the volumes that are counted
        """
        counted = [VolumeRow.state.in_(states)]
        if built_since is not None:
            counted = [sa.or_(*counted, sa.and_(
                VolumeRow.state == MemberState.BUILT,
                VolumeRow.updated_at > built_since))]
        if but_of is not None:
            counted.append(VolumeRow.group_uuid != but_of)
        with self._database.reader() as session:
            return {pool: int(gib) for pool, gib in session.execute(
                sa.select(VolumeRow.pool, sa.func.sum(VolumeRow.size_gb))
                .where(*counted).group_by(VolumeRow.pool))}

    def placed(self, group_uuid: str) -> Mapping[str, str]:
        """The pool of each volume that uses capacity, by its path."""
        return {row.path: row.pool for row in self.of_group(group_uuid)
                if row.state in OCCUPYING}

    def _select(self, order, *where) -> tuple[VolumeRecord, ...]:
        with self._database.reader() as session:
            # Earlier releases gave a kept volume and a new one one position.
            return tuple(map(VolumeRecord.of_row, session.scalars(
                sa.select(VolumeRow).where(*where).order_by(
                    order, VolumeRow.id))))
