# SPDX-License-Identifier: Apache-2.0
"""A create that has a pointer gets its planned place, or a reason why not."""

from collections.abc import Sequence
from typing import Any

from nova import objects

from nova_holistic import exceptions
from nova_holistic.holds import client as holds_client
from nova_holistic.scheduler.claims import Claims
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import HostReader
from nova_holistic.scheduler.judge import Judge
from nova_holistic.scheduler import locations
from nova_holistic.scheduler import membership
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.scheduler.refusal import Refused
from nova_holistic.scheduler import request
from nova_holistic.table.records import GroupRecord, MemberRecord, Place

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
        self._states: dict[str, Any] = {}
        self._asked: Any = None

    def answer(self, pointer: Pointer, instance_uuids: Sequence[str],
               alternates: int) -> 'list[list[objects.Selection]]':
        """Selections for each instance: its planned host, then alternates.

        :param alternates: how many at most
        :raises HolisticError: there is no such place for one of them; then
            none has one, and all is as it was
        """
        record = self._group(pointer)
        rows = self._connections.table.members(record.uuid)
        self._check(pointer, record, rows)
        user_id = (self._spec.user_id if 'user_id' in self._spec
                   else self._context.user_id)
        claims = Claims(self._connections, self._spec.project_id, user_id)
        try:
            owned = {row.instance_uuid for row in rows}
            taken = [(claims.take(record.uuid, pointer.member, uuid,
                                  uuid in owned), uuid)
                     for uuid in instance_uuids]
            hosts = {row.place.host for row, _ in taken}
            selections = [
                self._judge(record, rows, row, uuid, hosts, alternates)
                for row, uuid in taken]
            claims.swap()
            return selections
        except BaseException:
            claims.undo()
            raise

    def _group(self, pointer: Pointer) -> GroupRecord:
        record = self._connections.table.get_group(pointer.group)
        # Whether another project has it is none of this one's business.
        if record is None or record.project_id != self._spec.project_id:
            raise Refused(f'group {pointer.group} is not known in this '
                          f'project')
        return record

    def _check(self, pointer: Pointer, record: GroupRecord,
               rows: Sequence[MemberRecord]) -> None:
        """The request is one that the members pointed at can be made of."""
        if not rows:
            raise Refused(f'group {record.uuid} has no planned members: it '
                          f'is {record.status}')
        pointed_at = membership.pointed_at(rows, pointer.member)
        if not pointed_at:
            raise Refused(f'group {record.uuid} has no member '
                          f'{pointer.member!r}')
        self._asked = request.resource_request(
            self._context, self._spec, self._scheduler.host_manager)
        request.check_match(
            self._spec, self._asked, pointed_at[0].member.requirements)

    def _judge(self, record, rows, row: MemberRecord, instance_uuid: str,
               planned_hosts: set[str], alternates: int
               ) -> 'list[objects.Selection]':
        """All of Nova's enabled filters judge the planned host."""
        spec = self._spec
        spec.instance_uuid = instance_uuid
        spec.obj_reset_changes(['instance_uuid'])
        request.check_destination(spec, row.place.host, row.place.node)
        state = self._state(row, row.place)
        self._hosts.check_admits(state, spec, self._asked)
        judge = membership.Membership(record, row, rows).judge(
            self._connections, self._context)
        candidates = self._alternates(
            judge, row, planned_hosts, state.cell_uuid, alternates)
        membership.prepare(spec, judge)
        passed = list(self._scheduler.host_manager.get_filtered_hosts(
            [state, *candidates], spec))
        if state not in passed or not state.allocation_candidates:
            raise Refused("its planned host was rejected by Nova's filters")
        self._scheduler._consume_selected_host(
            state, spec, instance_uuid=instance_uuid)
        return [_selection(state), *(
            _selection(candidate) for candidate in candidates
            if candidate in passed and candidate.allocation_candidates)]

    def _state(self, row: MemberRecord, place: Place):
        """The host, with what the members of this request took of it."""
        if place.host not in self._states:
            self._states[place.host] = self._hosts.state(self._context, place)
        state = self._states[place.host]
        state.allocation_candidates = [_allocation_request(row, place)]
        return state

    def _alternates(self, judge: Judge, row: MemberRecord,
                    planned_hosts: set[str], cell_uuid: str, limit: int):
        """Hosts of the same cell that keep the group's policies too."""
        found: list[Any] = []
        for place in row.alternates:
            if len(found) == limit:
                break
            if place.host in planned_hosts:
                continue
            try:
                if judge.objections(self._located(place)):
                    continue
                state = self._state(row, place)
                self._hosts.check_admits(state, self._spec, self._asked)
            except exceptions.HolisticError:
                # A host that cannot be read or located is no alternate.
                continue
            if state.cell_uuid == cell_uuid:
                found.append(state)
        return found

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
