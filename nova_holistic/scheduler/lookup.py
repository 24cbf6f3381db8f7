# SPDX-License-Identifier: Apache-2.0
"""A create that has a pointer gets its planned place, or a reason why not."""

from collections.abc import Iterator, Sequence
import contextlib
import itertools
from typing import Any

from nova import objects

from nova_holistic import exceptions
from nova_holistic.holds import client as holds_client
from nova_holistic.scheduler.claims import Claims, NotUndone
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import HostReader
from nova_holistic.scheduler.judge import Judge
from nova_holistic.scheduler import locations
from nova_holistic.scheduler import membership
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.scheduler.refusal import Refused
from nova_holistic.scheduler import request
from nova_holistic.scheduler import unanswered
from nova_holistic.table.claim import CLAIMABLE
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Place)

ALLOCATION_REQUEST_VERSION = '1.36'
"""Placement's microversion in which Nova writes allocation requests."""


class Lookup:
    """One create. Its steps are few and do not depend on the size of the
    cloud: read the group, claim, judge the planned host, swap.
    """

    def __init__(self, context, spec: 'objects.RequestSpec',
                 connections: Connections, scheduler):
        """:param scheduler: the manager whose filters judge, and whose view
            of hosts is read
        """
        self._context = context.elevated()
        # Stock Nova may still get this request, and as it came.
        self._spec = spec.obj_clone()
        self._connections = connections
        self._scheduler = scheduler
        self._hosts = HostReader(
            scheduler.host_manager, scheduler.servicegroup_api,
            connections.placement)
        self._states: dict[tuple[str, str], Any] = {}
        self._asked: Any = None

    def answer(self, pointer: Pointer, instance_uuids: Sequence[str],
               alternates: int) -> 'list[list[objects.Selection]]':
        """Selections for each instance: its planned host, then alternates.

        :param alternates: how many at most
        :raises HolisticError: there is no such place for one of them; then
            none has one, and all is as it was
        :raises NotUndone: none is given one, and not all is as it was
        """
        user_id = (self._spec.user_id if 'user_id' in self._spec
                   else self._context.user_id)
        claims = Claims(self._connections, self._spec.project_id, user_id)
        try:
            with unanswered.refused():
                return self._answer(
                    claims, pointer, instance_uuids, alternates)
        except BaseException as error:
            undone = claims.undo()
            if isinstance(error, exceptions.HolisticError) and not undone:
                raise NotUndone(str(error)) from error
            raise

    def _answer(self, claims: Claims, pointer: Pointer,
                instance_uuids: Sequence[str], alternates: int
                ) -> 'list[list[objects.Selection]]':
        record, rows = self._group(pointer)
        seen = self._free(pointer, record, rows, instance_uuids)
        taken = [(claims.take(record.uuid, pointer.member, uuid, seen), uuid)
                 for uuid in instance_uuids]
        # One that was not seen may be for another request.
        self._matching([row for row, _ in taken], every=True)
        hosts = {row.place.host for row, _ in taken}
        places = self._connections.table.alternates(
            [row.id for row, _ in taken]) if alternates else {}
        selections = [
            self._judge(
                membership.Membership(record, row, rows, by_plan=True),
                uuid, [place for place in places.get(row.id, ())
                       if place.host not in hosts], alternates)
            for row, uuid in taken]
        claims.swap()
        return selections

    def _group(self, pointer: Pointer
               ) -> tuple[GroupRecord, Sequence[MemberRecord]]:
        found = self._connections.table.rosters.read(pointer.group)
        # Whether another project has it is none of this one's business.
        if found is None or found[0].project_id != self._spec.project_id:
            raise Refused(f'group {pointer.group} is not known in this '
                          f'project')
        return found

    def _free(self, pointer: Pointer, record: GroupRecord,
              rows: Sequence[MemberRecord], instance_uuids: Sequence[str]
              ) -> Sequence[MemberRecord]:
        """Rows that the instances may take; none where one may have its own.

        :raises Refused: the request is not one that the members pointed at
            can be made of
        """
        if not rows:
            raise Refused(f'group {record.uuid} has no planned members: it '
                          f'is {record.status}')
        pointed_at = membership.pointed_at(rows, pointer.member)
        if not pointed_at:
            raise Refused(f'group {record.uuid} has no member '
                          f'{pointer.member!r}')
        self._asked = request.resource_request(
            self._context, self._spec, self._scheduler.host_manager)
        matching = self._matching(pointed_at)
        owners = {row.instance_uuid for row in rows}
        if record.status not in CLAIMABLE or owners.intersection(
                instance_uuids):
            return ()
        return [row for row in matching if row.state == MemberState.PLANNED]

    def _matching(self, rows: Sequence[MemberRecord], every: bool = False
                  ) -> list[MemberRecord]:
        """Those that the request asks for: servers of one description differ
        once some were planned anew with a flavor that was redefined.

        :raises Refused: it asks for none of them, or not for every one
        """
        found, refusals = [], []
        # Rows alike follow one another: they are compared, not checked.
        for wanted, alike in itertools.groupby(
                rows, lambda row: row.member.requirements):
            try:
                request.check_match(self._spec, self._asked, wanted)
                found.extend(alike)
            except Refused as refusal:
                refusals.append(refusal)
        if refusals and (every or not found):
            raise refusals[0]
        return found

    def _judge(self, own: membership.Membership, instance_uuid: str,
               places: Sequence[Place], alternates: int
               ) -> 'list[objects.Selection]':
        """All of Nova's enabled filters judge the planned host.

        :param places: alternates to choose from, best first
        """
        spec, row = self._spec, own.own
        spec.instance_uuid = instance_uuid
        spec.obj_reset_changes(['instance_uuid'])
        request.check_destination(spec, row.place.host, row.place.node)
        judge = own.judge(self._connections, self._context)
        cell = self._hosts.cell_of(self._context, row.place)
        others = (place for place in places
                  if self._keeps_policies(judge, place))
        first = list(itertools.islice(others, alternates))
        self._read(cell, [row.place, *first])
        state = self._state(row, cell, row.place)
        self._hosts.check_admits(state, spec, self._asked)
        candidates = self._alternates(
            row, cell, itertools.chain(first, others), alternates)
        membership.prepare(spec, own)
        passed = list(self._scheduler.host_manager.get_filtered_hosts(
            [state, *candidates], spec))
        if state not in passed or not state.allocation_candidates:
            raise Refused("its planned host was rejected by Nova's filters")
        self._scheduler._consume_selected_host(
            state, spec, instance_uuid=instance_uuid)
        return [_selection(state), *(
            _selection(candidate) for candidate in candidates
            if candidate in passed and candidate.allocation_candidates)]

    def _read(self, cell, places: Sequence[Place]) -> None:
        """Read what has not been read yet of the hosts, together."""
        missing = [place for place in places
                   if (cell.uuid, place.host) not in self._states]
        if missing:
            self._states.update(
                ((cell.uuid, place.host), state) for place, state
                in self._hosts.states(self._context, cell, missing))

    def _state(self, row: MemberRecord, cell, place: Place):
        """The host, with what the members of this request took of it.

        :raises Refused: it can take no server
        """
        state = self._states[cell.uuid, place.host]
        if isinstance(state, Refused):
            raise state
        state.allocation_candidates = [_allocation_request(row, place)]
        return state

    def _alternates(self, row: MemberRecord, cell,
                    places: Iterator[Place], limit: int) -> list[Any]:
        """Those hosts of the cell that can take the server too."""
        found: list[Any] = []
        while wanted := list(itertools.islice(places, limit - len(found))):
            self._read(cell, wanted)
            for place in wanted:
                # A host that cannot take a server is no alternate.
                with contextlib.suppress(exceptions.HolisticError):
                    state = self._state(row, cell, place)
                    self._hosts.check_admits(state, self._spec, self._asked)
                    found.append(state)
        return found

    def _keeps_policies(self, judge: Judge, place: Place) -> bool:
        try:
            return not judge.objections(self._located(place))
        except exceptions.HolisticError:
            # It cannot be located.
            return False

    def _located(self, place: Place):
        return locations.located(self._connections.topology, place.host,
                                 self._hosts.aggregates(place.host))


def _selection(state) -> 'objects.Selection':
    return objects.Selection.from_host_state(
        state, allocation_request=state.allocation_candidates[0],
        allocation_request_version=ALLOCATION_REQUEST_VERSION)


def _allocation_request(row: MemberRecord, place: Place) -> dict[str, Any]:
    """As Placement would have proposed it."""
    (allocation,) = holds_client.allocations(row).values()
    return {'allocations': {place.provider: allocation},
            'mappings': {'': [place.provider]}}
