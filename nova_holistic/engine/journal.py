# SPDX-License-Identifier: Apache-2.0
"""The journal of an update: holds that the rows of its group do not name.

It is written into the group's task before it is done: whoever takes over from
an engine that died finds there what to drop, and what to bring back.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from oslo_log import log as logging

from nova_holistic.engine import errors
from nova_holistic.engine.ownership import Ownership
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table import revising
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

_PUT, _VACATED, _UNNEEDED = 'put', 'vacated', 'unneeded'
"""Keys of a task: holds that are put or about to be; holds of members that
were vacated; holds that the revised group does not need."""


def holds_of(pending: Mapping[str, Any] | None) -> Sequence[str]:
    """All holds that a task may have left and no row tells of."""
    pending = pending or {}
    return [*pending.get(_PUT, ()), *pending.get(_UNNEEDED, ())]


def all_holds(pending: Mapping[str, Any]) -> Sequence[str]:
    """The same, and those of members that were vacated."""
    return [*holds_of(pending), *pending.get(_VACATED, ())]


class Journal:
    """The journal of one engine's update of one group."""

    def __init__(self, ownership: Ownership, table: PlacementTable,
                 holds: HoldClient,
                 clock: Callable[[], datetime]):
        """:param clock: gives naive UTC"""
        self._ownership = ownership
        self._record = ownership.record
        self._table = table
        self._holds = holds
        self._clock = clock
        self._pending = dict(ownership.record.pending or {})

    @property
    def revised(self) -> bool:
        """Whether the group is what was asked for already."""
        return _UNNEEDED in self._pending

    def revised_with(self, unneeded: Sequence[str]) -> Mapping[str, Any]:
        """The task once the group is what was asked for.

        :param unneeded: holds to be dropped then
        """
        return {**self._asked(), _UNNEEDED: list(unneeded)}

    def open(self, put: Sequence[str], vacated: Sequence[str] = ()) -> None:
        """Write down what is about to be done.

        :param put: holds
        :param vacated: holds of members whose room those are to have
        :raises OwnershipLost: the task is another engine's
        """
        pending = {**self._asked(), _PUT: list(put), _VACATED: list(vacated)}
        self._ownership.change(pending=pending)
        self._pending = pending

    def undo(self) -> None:
        """The group holds what its rows tell, and nothing else.

        :raises HoldsLeft: Placement does not answer
        :raises TableError: the table does not answer
        :raises OwnershipLost: the task is another engine's, and members that
            were vacated are left to it
        """
        put = self._pending.get(_PUT, ())
        if not put:
            return
        vacated = self._vacated()
        try:
            if vacated and self._holds.exists(put[0]) is not None:
                self._bring_back(put, vacated)
            else:
                self._drop(put)
        except hold_errors.HoldsError as error:
            raise errors.HoldsLeft(str(error)) from error
        if vacated:
            self._occupy([m.hold for m in vacated])
        self._pending = self._asked()

    def close(self, unneeded: Sequence[str] | None = None) -> None:
        """Drop what the revised group does not need.

        :param unneeded: what that is; None is what the task tells
        :raises HoldsLeft: Placement does not answer
        """
        if unneeded is None:
            unneeded = self._pending.get(_UNNEEDED, ())
        # What was put is the rows' own by now.
        self._pending = dict(self.revised_with(unneeded))
        try:
            self._drop(unneeded)
        except hold_errors.HoldsError as error:
            raise errors.HoldsLeft(str(error)) from error

    def _asked(self) -> dict[str, Any]:
        return {key: value for key, value in self._pending.items()
                if key not in (_PUT, _VACATED, _UNNEEDED)}

    def _vacated(self) -> Sequence[MemberRecord]:
        """Members whose room was given away, if they still want it. One that
        somebody else has occupied again may have lost it after that."""
        holds = set(self._pending.get(_VACATED, ()))
        return [m for m in self._table.members(self._record.uuid)
                if m.hold in holds and m.held
                and m.state in (MemberState.LOST, MemberState.PLANNED)]

    def _occupy(self, holds: Sequence[str]) -> None:
        if not revising.occupy(
                self._table.database, self._record.uuid,
                self._record.engine or '', holds, self._clock()):
            raise errors.OwnershipLost(
                'updating took too long and was given up meanwhile')

    def _bring_back(self, put: Sequence[str],
                    vacated: Sequence[MemberRecord]) -> None:
        owner = self._record.project_id, self._record.user_id
        try:
            self._holds.exchange(put, vacated, *owner)
        except hold_errors.CapacityGone as error:
            LOG.warning('Members of group %s have lost their places: %s',
                        self._record.uuid, error)
            self._drop(put)
            self._table.forget_holds([m.hold for m in vacated])

    def _drop(self, holds: Sequence[str]) -> None:
        self._holds.drop(holds, self._record.project_id,
                         self._record.user_id)
