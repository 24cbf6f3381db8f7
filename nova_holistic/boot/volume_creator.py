# SPDX-License-Identifier: Apache-2.0
"""Creates the volumes of groups for their users, and deletes those that were
never used."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from oslo_log import log as logging

from nova_holistic.boot.cinder_volumes import CinderVolumes
from nova_holistic.boot.errors import RightUnavailable
from nova_holistic.boot.rights import (
    end_right, open_right, Right, Rights)
from nova_holistic.boot.user_volumes import UserVolumes
from nova_holistic.boot.volume_round import Limits, VolumeRound
from nova_holistic.boot.volume_steps import VolumeSteps
from nova_holistic.engine.errors import OwnershipLost
from nova_holistic import exceptions
from nova_holistic.inventory.errors import ErrorAnswer
from nova_holistic.table.coordination.volume_creations import has_plan
from nova_holistic.table.created_volumes import (
    CLOSED, CreatedVolume, CreatedVolumeState, CreationStatus, UNFINISHED,
    VolumeCreation)
from nova_holistic.table.records import GroupRecord, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

WAIT_FOR_POOL = 30.0
"""Interval in seconds at which an engine reads a group with a volume that has
no pool."""
UNEXPECTED = ('an unexpected error occurred; the operator finds the details '
              'in the log')
"""Message for users."""

Replan = Callable[[str], object]
"""Plans the lost volumes of a group again, by its UUID."""


class VolumeCreator:
    """Each call takes one step for each volume of a group. Any engine
    continues the work of any other one."""

    def __init__(self, conf, table: PlacementTable, rights: Rights | None,
                 cinder: CinderVolumes, clock: Callable[[], datetime]):
        """
        :param rights: None if this engine has no key for them
        :param clock: returns naive UTC
        """
        self._conf = conf.boot
        self._table = table
        self._creations = table.volumes.creations
        self._rights = rights
        self._cinder = cinder
        self._clock = clock

    def run(self, record: VolumeCreation, replan: Replan) -> None:
        """Take the next step for each volume of a group.

        :param record: as ``creations.take`` returned it
        :raises OwnershipLost: another engine continues
        :raises HolisticError: Cinder, keystone or the table does not answer;
            run again
        """
        group = self._table.get_group(record.group_uuid)
        rows = self._creations.volumes(record.group_uuid)
        if group is not None and has_plan(group, self._clock()):
            self._create(record, group, rows, replan)
        else:
            self._clean_up(record, rows)

    def _create(self, record: VolumeCreation, group: GroupRecord,
                rows: Sequence[CreatedVolume], replan: Replan) -> None:
        right: list[Right] = []

        def user() -> UserVolumes:
            if not right:
                right.append(open_right(self._rights, record))
            if right[0].volumes is None:
                raise RightUnavailable('this engine has no [cinder]')
            return right[0].volumes

        steps = VolumeRound(
            record, self._table.volumes, self._cinder, self._clock, group,
            user, Limits(self._conf.volume_tries, self._conf.parallel,
                         self._conf.build_timeout),
            sum(self._is_building(row) for row in rows))
        after = self._after(
            record, rows, steps.create,
            lambda row: self._count_error(record, row))
        waits = steps.lost and not self._replan(record, replan)
        status = _status(after)
        if status != CreationStatus.CREATING:
            self._end_right(record)
        self._finish(record, status, WAIT_FOR_POOL if waits
                     else self._conf.poll_interval)

    def _is_building(self, row: CreatedVolume) -> bool:
        """Whether Cinder may still work on the volume. A volume whose state
        Cinder cannot return does not count for longer than a create may take.
        """
        return row.state == CreatedVolumeState.CREATING and (
            row.attempted_at is None
            or (self._clock() - row.attempted_at).total_seconds()
            < self._conf.build_timeout)

    def _clean_up(self, record: VolumeCreation,
                  rows: Sequence[CreatedVolume]) -> None:
        """Delete the volumes of a group without a plan."""
        self._end_right(record)
        steps = VolumeSteps(
            record, self._table.volumes, self._cinder, self._clock)
        after = self._after(record, rows, steps.clean_up, lambda row: row)
        if any(row.state not in CLOSED for row in after):
            self._finish(record, CreationStatus.COMPLETE,
                         self._conf.poll_interval)
        elif not self._creations.close(record):
            raise OwnershipLost('another engine deletes its volumes')

    def _after(self, record: VolumeCreation, rows: Sequence[CreatedVolume],
               step: Callable[[CreatedVolume], CreatedVolume],
               unexpected: Callable[[CreatedVolume], CreatedVolume],
               ) -> Sequence[CreatedVolume]:
        """The rows after a step for each of them. A volume for which Cinder
        returns an error keeps its state until the next round, and does not
        delay the others.

        :param unexpected: called with a row whose step has failed for another
            reason; returns the row afterwards
        """
        after, failed = [], []
        for row in rows:
            try:
                after.append(step(row))
            except ErrorAnswer as error:
                after.append(row)
                failed.append((row.path, error))
            except exceptions.HolisticError:
                raise
            except Exception:
                LOG.exception('A step of volume %(path)s of group %(group)s '
                              'has failed', {'path': row.path,
                                             'group': record.group_uuid})
                after.append(unexpected(row))
        if failed:
            LOG.warning(
                'Cinder returns errors about %(number)d volumes of group '
                '%(group)s, which are tried again later. The first is '
                '%(path)s: %(error)s',
                {'number': len(failed), 'group': record.group_uuid,
                 'path': failed[0][0], 'error': failed[0][1]})
        return after

    def _count_error(self, record: VolumeCreation,
                     before: CreatedVolume) -> CreatedVolume:
        """The row of a volume after an unexpected error, which counts as an
        attempt: each further attempt may fail with the same error."""
        # The failed step may have written the row.
        row = next((each for each in self._creations.volumes(
            record.group_uuid) if each.path == before.path), before)
        if row.state not in UNFINISHED:
            return row
        after = replace(row, tries=row.tries + 1, fault=UNEXPECTED)
        if after.tries >= self._conf.volume_tries:
            after = replace(after, state=CreatedVolumeState.FAILED)
        if not self._creations.change_volume(record, after, self._clock()):
            raise OwnershipLost(
                'the creation of its volumes belongs to another engine')
        return after

    def _finish(self, record: VolumeCreation, status: CreationStatus,
                interval: float) -> None:
        now = self._clock()
        if not self._creations.finish(
                record, status, now, now + timedelta(seconds=interval)):
            raise OwnershipLost(
                'the creation of its volumes belongs to another engine')

    def _replan(self, record: VolumeCreation, replan: Replan) -> bool:
        """Whether each volume has a pool again."""
        try:
            replan(record.group_uuid)
        except exceptions.HolisticError as error:
            LOG.warning('Volumes of group %s get no other pool yet: %s',
                        record.group_uuid, error)
        except Exception:
            LOG.exception('Volumes of group %s get no other pool yet',
                          record.group_uuid)
        return all(row.state != MemberState.LOST for row
                   in self._table.volumes.of_group(record.group_uuid))

    def _end_right(self, record: VolumeCreation) -> None:
        """Delete the right to act for the user, which is not needed any
        longer."""
        if record.credential is not None:
            end_right(self._rights, record)


def _status(rows: Sequence[CreatedVolume]) -> CreationStatus:
    if any(row.state in UNFINISHED for row in rows):
        return CreationStatus.CREATING
    if any(row.state == CreatedVolumeState.FAILED for row in rows):
        return CreationStatus.FAILED
    return CreationStatus.COMPLETE
