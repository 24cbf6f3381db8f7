# SPDX-License-Identifier: Apache-2.0
"""Finds the planned place for a create with a pointer, or the reason why the
create is refused."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
import itertools

import nova.conf
from nova import objects
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.scheduler.claim.claims import Claims, UndoFailed
from nova_holistic.scheduler.claim import held_siblings
from nova_holistic.scheduler.claim.host_search import HostSearch
from nova_holistic.scheduler.claim.member_growth import MemberGrowth
from nova_holistic.scheduler.claim.replacement_host import ReplacementHost
from nova_holistic.scheduler.claim import request_check
from nova_holistic.scheduler.claim.request_refusal import (
    HostRefused, RequestRefused)
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts.candidates import Candidates
from nova_holistic.scheduler.hosts.host_reader import ZONE
from nova_holistic.scheduler import nova_errors
from nova_holistic.scheduler.pointed_request import PointedRequest
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.table.changes.claim import CLAIMABLE, SeenRows
from nova_holistic.table import errors as table_errors
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.queries.group_members import GroupMembers
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Choice:
    """The place chosen for one server of the request.

    :ivar own: the server's member, with the place that is tried
    :ivar selections: that place, then alternates
    :ivar taken: names of the planned hosts of all servers of the request
    :ivar refusals: one for each host that was refused before
    """

    own: Membership
    instance_uuid: str
    taken: Collection[str]
    selections: 'list[objects.Selection]' = field(default_factory=list)
    refusals: list[HostRefused] = field(default_factory=list)


class Lookup:
    """Answers one create. The number of steps does not depend on the size of
    the cloud: it reads the group, claims a row for each server, checks the
    planned hosts and swaps the holds. If a planned host is refused, it tries
    the member's alternates in their order, and then other hosts.
    """

    def __init__(self, context, request: PointedRequest,
                 connections: Connections, scheduler):
        """:param scheduler: the manager whose filters check hosts, and from
        whose view hosts are read
        """
        spec, self._request = request.spec, request
        self._context = context.elevated()
        # In this mode, stock Nova may still answer the original request.
        self._spec = (spec.obj_clone()
                      if CONF.holistic.failure_mode == 'yield' else spec)
        request_check.drop_default_zone(self._spec)
        self._connections = connections
        self._scheduler = scheduler
        self._candidates = Candidates(
            self._context, self._spec, connections, scheduler)
        search = HostSearch(
            self._context, self._spec, connections, scheduler.host_manager)
        self._replacement_host = ReplacementHost(
            search, connections, self._candidates)
        self._growth = MemberGrowth(self._context, self._spec, connections,
                                    self._candidates, search)

    def answer(self, pointer: Pointer, instance_uuids: Sequence[str],
               alternates: int) -> 'list[list[objects.Selection]]':
        """Selections for each instance: its planned host, then alternates.

        :param alternates: maximum number of alternates of each instance
        :raises HolisticError: an instance gets no place; then no instance has
            an allocation, and the reconciler undoes remaining claims
        :raises UndoFailed: an instance gets no place, and an instance may
            still have its planned allocation
        """
        user_id = (self._spec.user_id if 'user_id' in self._spec
                   else self._context.user_id)
        claims = Claims(self._connections, self._spec.project_id, user_id)
        try:
            with nova_errors.as_refusals():
                return self._answer(
                    claims, pointer, instance_uuids, alternates)
        except BaseException as error:
            undone = claims.undo(CONF.holistic.failure_mode != 'yield')
            if isinstance(error, exceptions.HolisticError) and not undone:
                raise UndoFailed(str(error)) from error
            raise

    def _answer(self, claims: Claims, pointer: Pointer,
                instance_uuids: Sequence[str], alternates: int
                ) -> 'list[list[objects.Selection]]':
        (record, rows), places = self._group(pointer)
        self._candidates.is_single = len(instance_uuids) == 1
        free = self._claimable_rows(pointer, record, rows, instance_uuids)
        seen = SeenRows(
            free if places is None else [
                replace(row, alternates=places) for row in free],
            are_bare=places is None,
            is_planned=record.status == GroupStatus.PLANNED)
        taken = [(self._take(claims, pointer, uuid, seen), uuid)
                 for uuid in instance_uuids]
        rows = self._growth.extended(rows)
        # A row that was claimed without being read may not match the request.
        self._matching_rows([row for row, _ in taken], every=True)
        choices = self._choices(claims, record, rows, taken, alternates)
        for choice in choices:
            self._swap(claims, choice, alternates)
        claims.confirm()
        return [choice.selections for choice in choices]

    def _take(self, claims: Claims, pointer: Pointer, instance_uuid: str,
              seen: SeenRows) -> MemberRecord:
        """A claimed row that was planned; if no planned row can be claimed,
        the row of a further server."""
        try:
            return claims.take(
                pointer.group, pointer.member, instance_uuid, seen)
        except table_errors.ClaimRefused as refusal:
            if self._connections.table.member_of_instance(instance_uuid):
                raise
            found = held_siblings.take_over(self._connections, pointer)
            if found is not None:
                row, others = found
                return self._growth.note(claims.take(
                    pointer.group, pointer.member, instance_uuid,
                    SeenRows([row], are_bare=False)), others)
            return self._growth.grow(claims, pointer, instance_uuid, refusal)

    def _choices(self, claims: Claims, record: GroupRecord,
                 rows: Sequence[MemberRecord],
                 taken: Sequence[tuple[MemberRecord, str]], limit: int
                 ) -> list[_Choice]:
        """A place for each claimed row, with its alternates."""
        hosts = {row.place.host for row, _ in taken}
        choices = []
        for row, uuid in taken:
            planned = not claims.is_grown(row)
            choice = _Choice(
                Membership(record, row, rows, by_plan=planned), uuid, hosts)
            try:
                choice.selections = self._candidates.planned(
                    choice.own, uuid, [place for place in row.alternates
                                       if place.host not in hosts], limit)
            except HostRefused as refusal:
                self._choose_other_host(claims, choice, refusal, limit)
                # The policies of the next server need the new host.
                rows = [replace(each, place=choice.own.own.place)
                        if each.id == row.id else each for each in rows]
            choices.append(choice)
        return choices

    def _swap(self, claims: Claims, choice: _Choice, limit: int) -> None:
        """Replace the hold with the server's allocation. If the host lacks
        capacity, another host is chosen."""
        while True:
            try:
                while not claims.write(choice.own.own, choice.own.rows):
                    self._evaluate_again(choice)
                claims.swap(choice.own.own)
                return
            except HostRefused as refusal:
                self._choose_other_host(claims, choice, refusal, limit)

    def _evaluate_again(self, choice: _Choice) -> None:
        """Check the chosen place with the other members at their current
        places.

        :raises HostRefused: a policy forbids the place
        :raises RequestRefused: the row or its group no longer exists
        """
        row = choice.own.own
        found = self._connections.table.group_cache.read(row.group_uuid)
        if not found or row.id not in found[1].by_id:
            raise RequestRefused('the claim was undone by another process')
        choice.own = Membership(found[0], row, found[1])
        if not self._candidates.keeps_policies(choice.own):
            raise HostRefused(
                "is forbidden by a policy of the member's group, since "
                'another member has a new place', row.place.host)

    def _choose_other_host(self, claims: Claims, choice: _Choice,
                           refusal: HostRefused, limit: int) -> None:
        """Choose another host that can take the server instead.

        :raises RequestRefused: no other host can take the server, or no other
            host may be chosen
        """
        row = choice.own.own
        zone_not_described = refusal.by == ZONE and (
            row.member.requirements.availability_zone is None)
        if zone_not_described or claims.is_repeated(row):
            # The request causes the refusal, or the server has its place.
            raise refusal
        choice.refusals.append(refusal)
        found = self._replacement_host.find(
            choice.own, choice.instance_uuid, choice.refusals)
        if found is None:
            cause = choice.refusals[0]
            if not cause.may_return:
                claims.give_up(row, choice.refusals)
            raise RequestRefused(
                f'{cause}, and none of its alternates can take the server' + (
                    ', and no other host that was tried can take it either'
                    if self._replacement_host.searched else '')) from cause
        place, (first, *others) = found
        LOG.info('Instance %(instance)s is placed on host %(host)s, since '
                 'host %(refused)s %(cause)s',
                 {'instance': choice.instance_uuid, 'host': place.host,
                  'refused': refusal.host, 'cause': refusal.cause})
        choice.own = replace(choice.own, own=claims.move(row, place))
        choice.selections = [first, *(
            each for each in others
            if each.service_host not in choice.taken)][:limit + 1]

    def _group(self, pointer: Pointer
               ) -> tuple[Found, Sequence[Place] | None]:
        """The group, and the member's alternates; None instead of alternates
        if they were not read."""
        if self._request.error is not None:
            raise self._request.error
        found = self._request.found
        # The message does not reveal whether another project has the group.
        if found is None or found[0].project_id != self._spec.project_id:
            raise RequestRefused(f'group {pointer.group} is not known in this '
                                 f'project')
        return found, self._request.alternates

    def _claimable_rows(
            self, pointer: Pointer, record: GroupRecord,
            rows: GroupMembers, instance_uuids: Sequence[str]
    ) -> Sequence[MemberRecord]:
        """Rows that the instances may claim; none if an instance may already
        have a row, or if only new members may match.

        :raises RequestRefused: the group has no members, or the request does
            not match the members of its pointer
        """
        if not rows:
            raise RequestRefused(
                f'group {record.uuid} has no planned members: it '
                f'is {record.status}')
        self._candidates.resource_request = request_check.resource_request(
            self._context, self._spec, self._scheduler.host_manager)
        pointed_at = rows.pointed_at(pointer.member)
        if not pointed_at:
            if not held_siblings.exists(
                    self._connections, record, rows, pointer.member):
                self._growth.must_be_possible(record, rows, pointer.member)
            return ()
        try:
            matching = self._matching_rows(pointed_at)
        except RequestRefused:
            if not self._growth.is_redefined(record, pointed_at):
                raise
            return ()
        if record.status not in CLAIMABLE or rows.have_any_of(instance_uuids):
            return ()
        return [row for row in matching if row.state == MemberState.PLANNED]

    def _matching_rows(self, rows: Sequence[MemberRecord], every: bool = False
                       ) -> list[MemberRecord]:
        """The rows that match the request. Rows of one member description
        differ if some were planned again after their flavor was redefined.

        :param every: whether every row must match
        :raises RequestRefused: no row matches, or not every row if required
        """
        found, refusals = [], []
        # Equal rows follow each other: each requirement is checked once.
        for wanted, alike in itertools.groupby(
                rows, lambda row: row.member.requirements):
            try:
                request_check.check_match(
                    self._spec, self._candidates.resource_request, wanted)
                found.extend(alike)
            except RequestRefused as refusal:
                refusals.append(refusal)
        if refusals and (every or not found):
            raise refusals[0]
        return found
