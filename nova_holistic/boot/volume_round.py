# SPDX-License-Identifier: Apache-2.0
"""The creation of volumes by an engine, step by step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
import uuid as uuidlib

from oslo_log import log as logging

from nova_holistic.boot.cinder_volumes import (
    BUILDING, DELETING, ERROR, NOT_DELETED, UNUSED)
from nova_holistic.boot.errors import (
    CreateRefused, RightUnavailable, TooManyRequests)
from nova_holistic.boot.user_requests import KEYSTONE
from nova_holistic.boot.user_volumes import create_body, UserVolumes
from nova_holistic.boot.volume_steps import VolumeSteps
from nova_holistic import crash_points
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.table.created_volumes import (
    CreatedVolume, CreatedVolumeState)
from nova_holistic.table.records import GroupRecord, MemberState
from nova_holistic.table.volume_records import VolumeRecord

LOG = logging.getLogger(__name__)

NO_RIGHT = ('the service may no longer act for the user: the right has '
            'expired or was deleted, or the user or a role of the user was '
            'removed')
NO_CLAIM = ("Cinder's scheduler has created the volume without its member: "
            'the operator has to enable the driver HolisticScheduler')
NO_ANSWER = 'Cinder does not answer the create request'
FAILED = 'Cinder has failed to create the volume'
"""Messages for users."""


@dataclass(frozen=True, slots=True)
class Limits:
    """
    :ivar tries: maximum number of attempts for each volume
    :ivar parallel: maximum number of volumes of a group that are created at
        the same time
    :ivar build_timeout: seconds until a create counts as failed
    """

    tries: int
    parallel: int
    build_timeout: float


@dataclass(slots=True)
class VolumeRound(VolumeSteps):
    """One step for each volume of a group with a plan.

    :ivar user: returns the volumes of the user; it raises RightUnavailable
    :ivar building: number of volumes that Cinder is creating
    :ivar lost: whether a volume waits for another pool
    :ivar zones: availability zones of the volume services, when they are read
    """

    group: GroupRecord
    user: Callable[[], UserVolumes]
    limits: Limits
    building: int = 0
    lost: bool = False
    zones: Mapping[str, str] | None = None

    def create(self, row: CreatedVolume) -> CreatedVolume:
        """The next step of a volume."""
        if row.state == CreatedVolumeState.WAITING:
            return self._begin(row)
        if row.state == CreatedVolumeState.CREATING:
            return self._follow(row)
        if row.state == CreatedVolumeState.DELETING:
            return self._delete_failed(row)
        if row.state == CreatedVolumeState.AVAILABLE:
            planned = self.planned(row)
            if planned is None or planned.unwanted or (
                    planned.volume_uuid != row.volume_uuid):
                return self.remove(row)
        return row

    def _begin(self, row: CreatedVolume) -> CreatedVolume:
        planned = self.planned(row)
        if planned is None or planned.state in (
                MemberState.RELEASED, MemberState.BUILT):
            # The user has released it, or has created the volume.
            return self.write(row, state=CreatedVolumeState.ENDED)
        if planned.state == MemberState.LOST:
            self.lost = True
        if planned.state != MemberState.PLANNED or (
                self.building >= self.limits.parallel):
            return row
        zone = self._zone(planned)
        self.building += 1
        return self._send(self.write(
            row, state=CreatedVolumeState.CREATING, volume_uuid=None,
            seen_at=None, attempt=str(uuidlib.uuid4()),
            attempted_at=self.clock(), tries=row.tries + 1), zone)

    def _zone(self, planned: VolumeRecord | None) -> str | None:
        """The availability zone of the pool; None if Cinder does not know the
        pool."""
        if planned is None:
            return None
        if self.zones is None:
            self.zones = self.cinder.zones()
        return self.zones.get(planned.pool.partition('#')[0])

    def _send(self, row: CreatedVolume, zone: str | None) -> CreatedVolume:
        try:
            volume = self.user().create(
                create_body(self.group, row.path, row.attempt, zone))
        except RightUnavailable as error:
            LOG.error('Volume %(path)s of group %(group)s cannot be created: '
                      '%(error)s', {'path': row.path, 'error': error,
                                    'group': self.record.group_uuid})
            return self.write(
                row, state=CreatedVolumeState.FAILED, fault=NO_RIGHT)
        except CreateRefused as error:
            return self.write(
                row, state=CreatedVolumeState.FAILED, fault=str(error))
        except ServiceFailed as error:
            if error.service == KEYSTONE or isinstance(
                    error, TooManyRequests):
                LOG.warning('Volume %(path)s of group %(group)s is created '
                            'later: %(error)s',
                            {'path': row.path, 'error': error,
                             'group': self.record.group_uuid})
                # Without a token, nothing was sent. In the other case, Cinder
                # has not carried out the request.
                return self.write(row, tries=row.tries - 1)
            LOG.warning('Volume %(path)s of group %(group)s may exist, and is '
                        'searched for: %(error)s',
                        {'path': row.path, 'error': error,
                         'group': self.record.group_uuid})
            return row
        crash_points.reached('volume.created')
        return self.write(row, volume_uuid=volume)

    def _send_again(self, row: CreatedVolume) -> CreatedVolume:
        """Repeat a request that had no effect."""
        if row.tries >= self.limits.tries:
            return self.write(row, state=CreatedVolumeState.FAILED,
                              fault=NO_ANSWER)
        zone = self._zone(self.planned(row))
        return self._send(self.write(
            row, attempted_at=self.clock(), tries=row.tries + 1), zone)

    def _follow(self, row: CreatedVolume) -> CreatedVolume:
        """Wait until Cinder has created the volume, or has failed."""
        if row.volume_uuid is None:
            row = self.find(row)
        if row.volume_uuid is None:
            return self._send_again(row) if self.is_old(row) else row
        volume = self.cinder.get(row.volume_uuid)
        if volume is None or volume.status == ERROR:
            member = self._member(row)
            if member is not None:
                return self.write(row, volume_uuid=member)
        if volume is None:
            return self.write(row, state=CreatedVolumeState.ENDED,
                              fault='the volume was deleted')
        if volume.status in BUILDING:
            return self._still_building(row)
        if volume.status == ERROR:
            return self._failed(row, volume.fault or FAILED)
        # Cinder's scheduler claims the row before it selects the pool.
        planned = self.volumes.of_volume(row.volume_uuid)
        if planned is None or planned.path != row.path:
            return self._failed(row, NO_CLAIM)
        if not self.is_unused(row, volume):
            self.delete_others(row)
            return self.write(row, fault=None, state=CreatedVolumeState.KEPT)
        if row.seen_at != volume.last_change:
            # The volume service also writes to the volume after it is
            # available.
            return self.write(row, seen_at=volume.last_change)
        if self.delete_others(row) and not self._is_late(row):
            # Cinder's scheduler is about to refuse them.
            return row
        return self.write(row, fault=None, state=CreatedVolumeState.AVAILABLE)

    def _member(self, row: CreatedVolume) -> str | None:
        """UUID of another volume of the attempt that is the member: the
        request was sent twice, and the scheduler answered this one first."""
        planned = self.planned(row)
        if planned is None or planned.volume_uuid == row.volume_uuid:
            return None
        return next((volume.uuid for volume in self.of_attempt(row)
                     if volume.uuid == planned.volume_uuid), None)

    def _still_building(self, row: CreatedVolume) -> CreatedVolume:
        if not self._is_late(row):
            return row
        return self.write(
            row, state=CreatedVolumeState.FAILED, fault='the volume is not '
            f'available after {self.limits.build_timeout:g} seconds')

    def _is_late(self, row: CreatedVolume) -> bool:
        return (self.clock() - row.attempted_at
                ).total_seconds() >= self.limits.build_timeout

    def _failed(self, row: CreatedVolume, fault: str) -> CreatedVolume:
        """End an attempt whose volume exists."""
        row = replace(row, fault=fault)
        planned, pools = self.planned(row), row.refused_pools
        if self._may_repeat(row) and planned is not None and (
                planned.volume_uuid in (None, row.volume_uuid)):
            pools = (*pools, planned.pool)
        return self._delete_failed(self.write(
            row, state=CreatedVolumeState.DELETING, fault=fault,
            refused_pools=pools))

    def _may_repeat(self, row: CreatedVolume) -> bool:
        return row.tries < self.limits.tries and row.fault != NO_CLAIM

    def _delete_failed(self, row: CreatedVolume) -> CreatedVolume:
        """Delete the volume of a failed attempt. Another attempt may follow
        when it is gone."""
        self._give_pool_up(row)
        volume = self.cinder.get(row.volume_uuid)
        if volume is None:
            self.note_deletion(row)
            return self._after_deletion(row)
        if volume.status == NOT_DELETED:
            return self.write(row, state=CreatedVolumeState.FAILED)
        if volume.status in UNUSED:
            self.delete(volume.uuid)
        elif volume.status != DELETING:
            return self.write(row, state=CreatedVolumeState.KEPT)
        return row

    def _after_deletion(self, row: CreatedVolume) -> CreatedVolume:
        """Another volume of the attempt is deleted, too, or followed if it
        has not failed. Without one, another attempt may follow."""
        other = self.best_of_attempt(row)
        if other is None:
            return self.write(
                row, volume_uuid=None, attempt=None,
                state=CreatedVolumeState.WAITING if self._may_repeat(row)
                else CreatedVolumeState.FAILED)
        return self.write(
            row, volume_uuid=other.uuid,
            state=row.state if other.status in (ERROR, NOT_DELETED)
            else CreatedVolumeState.CREATING)

    def _give_pool_up(self, row: CreatedVolume) -> None:
        """The member of a failed volume is planned again, in another pool if
        another attempt follows."""
        planned = self.planned(row)
        if planned is None:
            return
        refused = (self._may_repeat(row)
                   and planned.pool in row.refused_pools[-1:])
        if planned.volume_uuid == row.volume_uuid and (
                planned.state == MemberState.CLAIMED):
            self.volumes.undo(planned, self.clock(), refused)
            crash_points.reached('volume.pool-given-up')
        elif refused and planned.state == MemberState.PLANNED:
            self.volumes.lose(planned, self.clock())
            crash_points.reached('volume.pool-given-up')
