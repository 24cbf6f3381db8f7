# SPDX-License-Identifier: Apache-2.0
"""Creates the volumes of groups for their users, and deletes those that were
never used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from oslo_log import log as logging

from nova_holistic.boot.cinder_volumes import CinderVolumes
from nova_holistic.boot.errors import RightUnavailable, VolumeNotDeleted
from nova_holistic.boot.rights import (
    end_right, open_right, Right, Rights)
from nova_holistic.boot.user_volumes import UserVolumes
from nova_holistic.boot.volume_round import Limits, VolumeRound
from nova_holistic.boot.volume_steps import VolumeSteps
from nova_holistic.engine.errors import OwnershipLost, WorkDelayed
from nova_holistic import exceptions
from nova_holistic.inventory.errors import ErrorAnswer, ServiceFailed
from nova_holistic.table.coordination.volume_creations import has_plan
from nova_holistic.table.created_volumes import (
    CLOSED, CreatedVolume, CreatedVolumeState, CreationStatus, UNFINISHED,
    VolumeCreation)
from nova_holistic.table.records import GroupRecord, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

LONGEST_DELAY = 300.0
"""Maximum interval in seconds between two attempts after failures."""
UNEXPECTED = ('an unexpected error occurred; the operator finds the details '
              'in the log')
REPEATED = ('a request to Cinder about the volume has failed and is repeated; '
            'the operator finds the details in the log')
"""Messages for users."""

Replan = Callable[[str], object]
"""Plans the lost volumes of a group again, by its UUID."""


class VolumeCreator:
    """Each call takes one step for each volume of a group. Any engine
    continues the work of any other one.

    Failed work is repeated until it succeeds. The interval doubles with each
    failure. The table contains it, so that it does not depend on an engine.
    """

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
        :raises WorkDelayed: a step has failed, and is repeated when the record
            is due again
        :raises HolisticError: keystone or the table does not answer; run again
        """
        group = self._table.get_group(record.group_uuid)
        rows = self._creations.volumes(record.group_uuid)
        try:
            if group is not None and has_plan(group, self._clock()):
                self._create(record, group, rows, replan)
            else:
                self._clean_up(record, rows)
        except ServiceFailed as error:
            self._finish(record, record.status, self._longer_delay(record))
            raise WorkDelayed(str(error)) from error

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
        after, failures = self._after(
            record, rows, steps.create,
            lambda row: self._count_error(record, row))
        lost = self._replan(record, replan) if steps.lost else {}
        status = _status(after)
        if status != CreationStatus.CREATING:
            self._end_right(record)
        self._finish_round(record, status, not lost and any(
            row != before or self._is_building(row)
            for before, row in zip(rows, after, strict=True)
            if row.path not in failures), {**failures, **lost})

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
        after, failures = self._after(
            record, rows, steps.clean_up, lambda row: row)
        if any(row.state not in CLOSED for row in after):
            self._finish_round(record, CreationStatus.COMPLETE, any(
                row != before for before, row in zip(rows, after, strict=True)
                if row.path not in failures), failures)
        elif not self._creations.close(record):
            raise OwnershipLost('another engine deletes its volumes')

    def _after(self, record: VolumeCreation, rows: Sequence[CreatedVolume],
               step: Callable[[CreatedVolume], CreatedVolume],
               unexpected: Callable[[CreatedVolume], CreatedVolume],
               ) -> tuple[Sequence[CreatedVolume], dict[str, str]]:
        """The rows after a step for each of them. A volume for which Cinder
        returns an error keeps its state until the next round, and does not
        delay the others.

        :param unexpected: called with a row whose step has failed for another
            reason; returns the row afterwards
        :returns: the rows, and a message about each volume that has failed
        """
        after: list[CreatedVolume] = []
        failed: dict[str, str] = {}
        for row in rows:
            try:
                after.append(step(row))
            except (ErrorAnswer, VolumeNotDeleted) as error:
                after.append(self._with_fault(record, row))
                failed[row.path] = str(error)
            except exceptions.HolisticError:
                raise
            except Exception as error:
                LOG.exception('A step of volume %(path)s of group %(group)s '
                              'has failed', {'path': row.path,
                                             'group': record.group_uuid})
                after.append(unexpected(row))
                failed[row.path] = repr(error)
        return after, failed

    def _with_fault(self, record: VolumeCreation,
                    row: CreatedVolume) -> CreatedVolume:
        """The row of a volume whose step is repeated."""
        row = self._current(record, row)
        if row.fault is not None:
            return row
        after = replace(row, fault=REPEATED)
        if not self._creations.change_volume(record, after, self._clock()):
            raise OwnershipLost(
                'the creation of its volumes belongs to another engine')
        return after

    def _current(self, record: VolumeCreation,
                 before: CreatedVolume) -> CreatedVolume:
        """The row after a failed step, which may have written it."""
        return next((each for each in self._creations.volumes(
            record.group_uuid) if each.path == before.path), before)

    def _count_error(self, record: VolumeCreation,
                     before: CreatedVolume) -> CreatedVolume:
        """The row of a volume after an unexpected error, which counts as an
        attempt: each further attempt may fail with the same error."""
        row = self._current(record, before)
        if row.state not in UNFINISHED:
            return row
        after = replace(row, tries=row.tries + 1, fault=UNEXPECTED)
        if after.tries >= self._conf.volume_tries:
            after = replace(after, state=CreatedVolumeState.FAILED)
        if not self._creations.change_volume(record, after, self._clock()):
            raise OwnershipLost(
                'the creation of its volumes belongs to another engine')
        return after

    def _finish_round(self, record: VolumeCreation, status: CreationStatus,
                      progress: bool, failures: Mapping[str, str]) -> None:
        """
        :param progress: whether another volume has changed or may change soon,
            so that an engine must read it again
        :param failures: messages about volumes that have failed, by path
        :raises WorkDelayed: volumes have failed
        """
        self._finish(record, status, self._conf.poll_interval
                     if progress or not failures
                     else self._longer_delay(record))
        if failures:
            path, why = next(iter(failures.items()))
            raise WorkDelayed(f'{len(failures)} volumes have failed; the '
                              f'first is {path}: {why}')

    def _longer_delay(self, record: VolumeCreation) -> float:
        """Twice the interval before this attempt, in seconds."""
        before = (record.due_at - record.updated_at).total_seconds()
        return max(self._conf.poll_interval, min(2 * before, LONGEST_DELAY))

    def _finish(self, record: VolumeCreation, status: CreationStatus,
                interval: float) -> None:
        now = self._clock()
        if not self._creations.finish(
                record, status, now, now + timedelta(seconds=interval)):
            raise OwnershipLost(
                'the creation of its volumes belongs to another engine')

    def _replan(self, record: VolumeCreation,
                replan: Replan) -> dict[str, str]:
        """Plan other pools for lost volumes.

        :returns: messages about volumes that have no pool yet, by path
        """
        why = 'the reasons of the group state why'
        try:
            replan(record.group_uuid)
        except exceptions.HolisticError as error:
            why = str(error)
        except Exception as error:
            LOG.exception('Volumes of group %s get no other pool yet',
                          record.group_uuid)
            why = repr(error)
        return {row.path: f'it has no pool: {why}' for row
                in self._table.volumes.of_group(record.group_uuid)
                if row.state == MemberState.LOST}

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
