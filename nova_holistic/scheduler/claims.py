# SPDX-License-Identifier: Apache-2.0
"""The rows that one request takes: all of them, or none in the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from oslo_log import log as logging

from nova_holistic.engine import freeing
from nova_holistic import exceptions
from nova_holistic.holds import errors as holds_errors
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.refusal import Refused
from nova_holistic.table.records import MemberRecord, MemberState

LOG = logging.getLogger(__name__)


class NotUndone(exceptions.HolisticError):
    """An instance may have its planned allocation still: stock Nova would
    put a second one beside it. The cause tells what went wrong first."""


@dataclass(slots=True)
class _Claim:
    row: MemberRecord
    instance_uuid: str
    repeated: bool
    swapped: bool = False


class Claims:
    """Takes rows, swaps their holds, and gives back what it took."""

    def __init__(self, connections: Connections, project_id: str,
                 user_id: str):
        """:param project_id: of the servers, and with user_id the owner of
            their allocations
        """
        self._table = connections.table
        self._holds = connections.holds
        self._clock = connections.clock
        self._owner = (project_id, user_id)
        self._claims: list[_Claim] = []

    def take(self, group_uuid: str, path: str, instance_uuid: str,
             seen: Sequence[MemberRecord]) -> MemberRecord:
        """The member's row becomes the instance's, or is so already.

        :param seen: planned rows at that path, as just read
        :raises ClaimRefused: there is nothing to be had at that path
        """
        claim = self._table.take(
            group_uuid, path, instance_uuid, self._clock(),
            [row for row in seen if row.id not in self._taken()])
        self._claims.append(_Claim(claim.row, instance_uuid, claim.repeated))
        return claim.row

    def _taken(self) -> set[int]:
        return {claim.row.id for claim in self._claims}

    def swap(self) -> None:
        """Every hold becomes its instance's allocation.

        :raises Refused: a hold, its host's room, or a claim is gone
        :raises HoldsError: Placement does not answer
        """
        for claim in self._claims:
            # From here on an answer may get lost: undoing looks what is there.
            claim.swapped = True
            self._swap(claim)
        # A reconciler took this scheduler for dead, or the group is deleted.
        owners = self._table.owners(self._taken())
        if any(owners.get(claim.row.id) != claim.instance_uuid
               for claim in self._claims):
            raise Refused('the member was taken back meanwhile')

    def _swap(self, claim: _Claim) -> None:
        # Placement's own words name providers, which are not the user's
        # business.
        try:
            self._holds.swap(claim.row, claim.instance_uuid, *self._owner)
        except holds_errors.HoldGone as error:
            raise Refused(f'the hold of member {claim.row.member.path!r} has '
                          f'vanished from Placement') from error
        except holds_errors.CapacityGone as error:
            raise Refused('its planned host has not the room any more'
                          ) from error

    def undo(self) -> bool:
        """Every row taken is planned again, and held.

        What cannot be undone now stays claimed, for the reconciler to find.

        :returns: whether all was undone that may have been swapped
        """
        complete = True
        for claim in self._claims:
            if claim.repeated:
                continue
            try:
                self._undo(claim)
            except exceptions.HolisticError as error:
                LOG.warning(
                    'Member %(member)s of group %(group)s stays claimed for '
                    'instance %(instance)s: %(error)s',
                    {'member': claim.row.member.path,
                     'group': claim.row.group_uuid,
                     'instance': claim.instance_uuid, 'error': error})
                complete = complete and not claim.swapped
        self._claims = []
        return complete

    def _undo(self, claim: _Claim) -> None:
        state, held = MemberState.PLANNED, True
        if claim.swapped:
            try:
                self._holds.unswap(
                    claim.row, claim.instance_uuid, *self._owner)
            except holds_errors.HoldGone:
                state, held = MemberState.LOST, False
        undone = self._table.change_state(
            claim.row.id, {MemberState.CLAIMED}, state, self._clock(),
            of_instance=claim.instance_uuid, instance_uuid=None, held=held)
        if not undone and claim.swapped and held:
            # Whoever took the row back, or deleted it, looked for its hold
            # while the instance had it.
            freeing.drop_if_unwanted(self._table, self._holds, claim.row)
        self._table.settle(claim.row.group_uuid, self._clock())
