# SPDX-License-Identifier: Apache-2.0
"""Drops holds so that the server of a failed host can be evacuated.

A server that has run takes precedence over a place without a server. Only
holds of members without servers are given up, only if Nova finds no host
otherwise, and only on a host that all of Nova's filters accept. The members
are lost, and an engine plans them again.
"""

from collections.abc import Iterator, Sequence
from collections import defaultdict
import contextlib
from dataclasses import replace

import nova.conf
from nova import objects
from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.holds import errors as holds_errors
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.scheduler.claim.host_capacity import (
    Free, freed, HostCapacity, is_enough)
from nova_holistic.scheduler.claim import request_check
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts.candidates import Candidates
from nova_holistic.scheduler.policies import membership
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.table.provider_allocation import ProviderAllocation
from nova_holistic.table.records import MemberRecord, MemberState, Place

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

NONE, GROUP, ANY = 'none', 'group', 'any'
"""Values of [holistic] evacuate_over_holds."""


class EvacuationCapacity:
    """Frees capacity for one server that is evacuated."""

    def __init__(self, context, spec: 'objects.RequestSpec',
                 connections: Connections, scheduler):
        """
        :param context: context of an administrator
        :param scheduler: the manager whose filters check hosts
        """
        self._context = context
        self._spec = spec.obj_clone()
        self._connections = connections
        self._capacity = HostCapacity(connections.placement)
        self._candidates = Candidates(
            context, self._spec, connections, scheduler)
        self._request = request_check.resource_request(
            context, self._spec, scheduler.host_manager)
        self._candidates.resource_request = self._request

    def free(self, instance_uuid: str) -> bool:
        """Drop the holds that block the server on one host. Hosts with few of
        them are tried first.

        :returns: whether all these holds were given up; False also if no such
            host was found, or if [holistic] evacuate_over_holds forbids it
        :raises HolisticError: the table or Placement does not answer
        """
        own = membership.find(self._connections, self._spec)
        if own is None or CONF.holistic.evacuate_over_holds == NONE:
            return False
        ignored = set(self._spec.ignore_hosts or ()
                      if 'ignore_hosts' in self._spec else ())
        for rows in sorted(self._options(own, ignored), key=len):
            if self._is_accepted(own, rows, instance_uuid):
                return self._give_up(rows, instance_uuid)
        return False

    def _options(self, own: Membership, ignored: set[str]
                 ) -> Iterator[Sequence[MemberRecord]]:
        """The holds whose capacity the server needs on a host, for at most
        [holistic] search_hosts hosts. Placement gets two requests about each
        of their providers. They are the hosts on which the fewest holds
        suffice, even if nothing else is free there."""
        by_provider: dict[str, list[MemberRecord]] = defaultdict(list)
        for row in self._planned(own):
            if row.place.host not in ignored:
                by_provider[row.place.provider].append(row)
        likely = sorted(by_provider.items(),
                        key=lambda item: _expectation(item[1], self._request))
        classes = [name for name, amount
                   in self._request.merged_resources().items() if amount]
        for provider, rows in likely[:CONF.holistic.search_hosts]:
            found = _blocking_holds(
                rows, self._request, self._capacity.free(provider, classes))
            if found:
                yield found

    def _planned(self, own: Membership) -> Sequence[MemberRecord]:
        if CONF.holistic.evacuate_over_holds == GROUP:
            return [row for row in own.rows
                    if row.state == MemberState.PLANNED and row.held]
        return self._connections.table.find_members(
            [MemberState.PLANNED], held=True)

    def _is_accepted(self, own: Membership, rows: Sequence[MemberRecord],
                     instance_uuid: str) -> bool:
        """Whether Nova's filters and the policies of the server's group accept
        the host without these members."""
        gone = {row.id for row in rows}
        left = [row for row in own.rows if row.id not in gone]
        return self._candidates.other_host(
            Membership(own.record, own.own, left), instance_uuid,
            [_place(own.own, rows)], []) is not None

    def _give_up(self, rows: Sequence[MemberRecord],
                 instance_uuid: str) -> bool:
        """Change the members to lost and drop their holds. A member that is
        claimed at the same time keeps its hold.

        :returns: whether all of them are lost
        """
        table, now = self._connections.table, self._connections.clock()
        lost = []
        for row in rows:
            if table.change_state(row.id, {MemberState.PLANNED},
                                  MemberState.LOST, now, of_hold=row.hold):
                lost.append(row)
            crash_points.reached('evacuation.member-lost')
        for row in lost:
            LOG.warning(
                'The hold of member %(member)s of group %(group)s on host '
                '%(host)s is given up for instance %(instance)s, which is '
                'evacuated', {'member': row.member.path,
                              'group': row.group_uuid,
                              'host': row.place.host,
                              'instance': instance_uuid})
            reason = Reason.of(row.member.path, format_message(
                'its place on host {:name} was given up for a server that '
                'was evacuated', row.place.host))
            table.refusals.add(row, (), reason.to_row(), now)
            crash_points.reached('evacuation.refusal-written')
            # If this fails, the reconciler drops the hold later.
            with contextlib.suppress(holds_errors.HoldsError):
                self._connections.holds.drop([row.hold])
                crash_points.reached('evacuation.hold-dropped')
                table.forget_holds([row.hold])
            crash_points.reached('evacuation.place-given-up')
        return len(lost) == len(rows)


def _place(member: MemberRecord, rows: Sequence[MemberRecord]) -> Place:
    """The place of these holds, for the check by Nova's filters. Placement
    chooses the providers after the holds are dropped. Until then, the place
    has the providers of one of the holds, or those of the member with another
    root provider.

    :param member: the member whose server is evacuated
    """
    there, before = rows[0].place, member.place.allocation
    chosen = [row.place for row in rows if row.place.allocation is not None]
    if chosen or before is None:
        return chosen[0] if chosen else there
    root = {member.place.provider: there.provider}
    return replace(there, allocation=ProviderAllocation(
        FrozenMapping({root.get(uuid, uuid): amounts for uuid, amounts
                       in before.resources.items()}),
        FrozenMapping({
            suffix: tuple(root.get(uuid, uuid) for uuid in providers)
            for suffix, providers in before.mappings.items()})))


def _blocking_holds(rows: Sequence[MemberRecord], request, free: Free
                    ) -> Sequence[MemberRecord]:
    """Few holds that free enough capacity, the largest first; empty if none is
    needed, or if all of them do not free enough.

    :param request: nova.scheduler.utils.ResourceRequest of the server
    :param free: free capacity of the providers of the host
    """
    wanted, found = request.merged_resources(), []
    for row in sorted(rows, key=lambda row: -_size(row, wanted)):
        if not is_enough(request, free):
            found.append(row)
            free = freed(free, row)
    return found if is_enough(request, free) else ()


def _expectation(rows: Sequence[MemberRecord], request) -> tuple[bool, int]:
    """A key for sorting hosts: whether all holds together are too small, and
    the number of holds that suffice."""
    found = _blocking_holds(rows, request, {})
    return not found, len(found)


def _size(row: MemberRecord, wanted) -> float:
    """Sum of the shares of each requested resource that the hold has."""
    resources = row.member.requirements.resources
    return sum(min(1.0, resources.get(name, 0) / amount)
               for name, amount in wanted.items() if amount)
