# SPDX-License-Identifier: Apache-2.0
"""The deletion of volumes that an engine has created, and what their creation
has in common with it.

Before each request, the table states what the engine is about to do. So
another engine finds the volume of an engine that was killed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from oslo_log import log as logging

from nova_holistic.boot.cinder_volumes import (
    BUILDING, CinderVolume, CinderVolumes, DELETING, ERROR, NOT_DELETED,
    UNUSED)
from nova_holistic.boot.errors import VolumeNotDeleted
from nova_holistic import crash_points
from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.table.coordination.volumes import Volumes
from nova_holistic.table.created_volumes import (
    CLOSED, CreatedVolume, CreatedVolumeState, VolumeCreation)
from nova_holistic.table.errors import ClaimRefused
from nova_holistic.table.volume_records import VolumeRecord

LOG = logging.getLogger(__name__)

REPEAT_AFTER = timedelta(seconds=60)
"""After this time, a create request without a response has had no effect if
Cinder has no volume of it."""


@dataclass(slots=True)
class VolumeSteps:
    """One step for each volume of a group. All methods raise OwnershipLost if
    another engine owns the creation, ServiceFailed if Cinder does not answer,
    and VolumeNotDeleted if Cinder has failed to delete a volume."""

    record: VolumeCreation
    volumes: Volumes
    cinder: CinderVolumes
    clock: Callable[[], datetime]

    def clean_up(self, row: CreatedVolume) -> CreatedVolume:
        """The next step of a volume of a group without a plan."""
        if row.state in CLOSED:
            return row
        if row.volume_uuid is None:
            row = self.find(row)
        if row.volume_uuid is not None:
            return self.remove(row)
        if row.attempt is not None and not self.is_old(row):
            return row
        return self.write(row, state=CreatedVolumeState.ENDED)

    def remove(self, row: CreatedVolume) -> CreatedVolume:
        """Delete a volume that is not wanted any longer, unless a user has
        used or changed it."""
        volume = self.cinder.get(row.volume_uuid)
        if volume is None:
            self.note_deletion(row)
            others = self.of_attempt(row)
            if not others:
                return self.write(row, state=CreatedVolumeState.ENDED)
            # No user can have used a volume that has failed.
            return self.write(
                row, volume_uuid=others[0].uuid,
                seen_at=None if others[0].status == ERROR else row.seen_at)
        # An engine that was killed may have sent the request. A volume that is
        # being deleted was not necessarily changed by its user.
        if volume.status in (*BUILDING, DELETING):
            return row
        if volume.status == NOT_DELETED:
            # An administrator resets the status when the fault has ended.
            raise VolumeNotDeleted(
                f'Cinder cannot delete volume {volume.uuid}, which no group '
                f'needs: its status is {NOT_DELETED}')
        if not self.is_unused(row, volume) or not self.delete(volume.uuid):
            LOG.info('Volume %s is not deleted: it was used or changed',
                     volume.uuid)
            self.delete_others(row)
            return self.write(row, state=CreatedVolumeState.KEPT)
        return self.write(row, state=CreatedVolumeState.DELETING)

    def is_unused(self, row: CreatedVolume, volume: CinderVolume) -> bool:
        """Whether no user has used or changed the volume."""
        if row.state == CreatedVolumeState.FAILED and volume.status != ERROR:
            # Cinder completed it after the time-out. No engine has observed
            # what its user did since then.
            return False
        if row.state == CreatedVolumeState.DELETING and (
                volume.status == ERROR):
            # It was unused when its deletion was requested. After a failure,
            # an administrator has reset its status. No user can use it.
            return volume.project_id == self.record.project_id
        settled = row.state != CreatedVolumeState.CREATING
        return volume.status in UNUSED and (
            volume.project_id == self.record.project_id) and not (
                settled and row.seen_at not in (None, volume.last_change))

    def find(self, row: CreatedVolume) -> CreatedVolume:
        """The row with the volume of its last attempt, if Cinder has it."""
        best = self.best_of_attempt(row)
        return row if best is None else self.write(
            row, volume_uuid=best.uuid)

    def best_of_attempt(self, row: CreatedVolume) -> CinderVolume | None:
        """The volume of the last attempt; if it has several, the member, or
        else a volume that has not failed. None if Cinder has none."""
        planned = self.planned(row)
        claimed = planned and planned.volume_uuid
        return min(self.of_attempt(row), default=None, key=lambda volume: (
            volume.uuid != claimed, volume.status == ERROR, volume.uuid))

    def of_attempt(self, row: CreatedVolume) -> list[CinderVolume]:
        if row.attempt is None:
            return []
        return [volume for volume in self.cinder.of_attempt(
            row.attempt, self.record.project_id) if volume.status != DELETING]

    def delete_others(self, row: CreatedVolume) -> bool:
        """Delete the other volumes of an attempt whose request was sent twice,
        if they have failed. They have no member.

        :returns: whether Cinder is creating another one
        """
        others = [volume for volume in self.of_attempt(row)
                  if volume.uuid != row.volume_uuid]
        for volume in others:
            if volume.status == ERROR:
                self.delete(volume.uuid)
        return any(volume.status in BUILDING for volume in others)

    def delete(self, volume_uuid: str) -> bool:
        done = self.cinder.delete(volume_uuid)
        crash_points.reached('volume.deleted')
        return done

    def note_deletion(self, row: CreatedVolume) -> None:
        planned = self.planned(row)
        if planned is not None and planned.volume_uuid == row.volume_uuid:
            self.volumes.deleted(planned, self.clock())
            crash_points.reached('volume.pool-given-up')

    def planned(self, row: CreatedVolume) -> VolumeRecord | None:
        """The row of the member."""
        try:
            return self.volumes.find(self.record.group_uuid, row.path)
        except ClaimRefused:
            return None

    def is_old(self, row: CreatedVolume) -> bool:
        """Whether the last create request has no effect any longer."""
        return (row.attempted_at is None
                or self.clock() - row.attempted_at > REPEAT_AFTER)

    def write(self, row: CreatedVolume, **changes: Any) -> CreatedVolume:
        after = replace(row, **changes)
        if not self.volumes.creations.change_volume(
                self.record, after, self.clock()):
            raise OwnershipLost(
                'the creation of its volumes belongs to another engine')
        crash_points.reached('volume.row-written')
        return after
