# SPDX-License-Identifier: Apache-2.0
"""Finds alternates for the members of a planned group.

A group is planned as soon as its places are held. Afterwards, one engine at a
time finds alternates for its members. Until then a create whose planned host
is refused searches for another host.
"""

from collections.abc import Mapping, Sequence

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.alternate_places import AlternatePlaces
from nova_holistic.engine.decision import moving_members, row_requests
from nova_holistic.engine import errors
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic.table.changes.alternates import Seen, Written
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Place)
from nova_holistic.table.store import OCCUPYING

LOG = logging.getLogger(__name__)


class AlternatesFinder:
    """Finds alternates for planned members and writes them to the table.

    Alternates that were found for an earlier state of the group are never
    written. In this case, the search is repeated.
    """

    def __init__(self, parts: PlannerComponents):
        self._parts = parts

    def find(self, group_uuid: str, engine: str) -> None:
        """Find and write alternates for planned members without alternates.

        A member stays without alternates if no other host is suitable.

        :param engine: UUID of the engine that has taken the group in
            ``table.due_alternates``
        :raises OwnershipLost: another engine has this work, it was requested
            again, or the group no longer exists
        :raises OutdatedPlan: members got other places during each attempt; the
            alternates are still due
        :raises HoldsError: Placement does not respond; the alternates are
            still due
        """
        for _ in range(self._parts.conf.planner.attempts):
            outcome = self._attempt(group_uuid, engine)
            if outcome is Written.LOST:
                raise errors.OwnershipLost(
                    f'alternates of group {group_uuid}: {outcome.value}')
            if outcome is Written.WRITTEN:
                return
        raise errors.OutdatedPlan(
            f'alternates of group {group_uuid}: {outcome.value}')

    def _attempt(self, group_uuid: str, engine: str) -> Written:
        table = self._parts.table
        # The group is read first: if it is revised before its members are
        # read, nothing is written.
        record = table.get_group(group_uuid)
        if record is None:
            return Written.LOST
        members = table.members(group_uuid)
        wanted = [m for m in members
                  if m.state == MemberState.PLANNED and not m.alternates]
        found: Mapping[int, Sequence[Place]] = {}
        if (record.status in CLAIMABLE and wanted
                and self._parts.conf.planner.alternates):
            try:
                found = self._alternates(record, members, wanted)
            except exceptions.InvalidDocument as error:
                LOG.warning('Members of group %s get no alternates: %s',
                            group_uuid, error)
        crash_points.reached('alternates.found')
        return table.due_alternates.write(
            Seen(group_uuid, record.revision, members), engine, found)

    def _alternates(self, record: GroupRecord,
                    members: Sequence[MemberRecord],
                    wanted: Sequence[MemberRecord]
                    ) -> Mapping[int, Sequence[Place]]:
        """The alternates by the row ID of the member, without members for
        which no alternate was found.

        :param wanted: planned members without alternates
        :raises InvalidDocument: the cloud no longer has such a flavor or level
        :raises HoldsError: Placement does not respond
        """
        # The request contains members without alternates as members without a
        # place, and the capacity of their holds as free capacity.
        request = row_requests.request_for_members(
            self._parts, record, members, wanted, vacated=wanted)
        occupying = [m for m in members if m.state in OCCUPYING]
        found = self._parts.snapshot_planner.alternates(
            request, {**request.placed, **moving_members.placed(occupying)}, {
                m.member.path: [place.host for place in m.alternates]
                for m in occupying
                if m.state in (MemberState.PLANNED, MemberState.CLAIMED)})
        return AlternatePlaces(self._parts).of([
            (row, hosts) for row in wanted
            if (hosts := found.get(row.member.path))])
