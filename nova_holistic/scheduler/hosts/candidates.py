# SPDX-License-Identifier: Apache-2.0
"""Hosts that may take the servers of one create, according to Nova's
filters."""

from collections.abc import Iterator, Sequence
import contextlib
import itertools
from typing import Any

from nova import objects

from nova_holistic import exceptions
from nova_holistic.holds import allocation_bodies
from nova_holistic.scheduler.claim import (
    described_place, request_check, request_groups)
from nova_holistic.scheduler.claim.request_refusal import (
    HostRefused, RequestRefused)
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import all_hosts, locations, numa
from nova_holistic.scheduler.hosts.host_reader import HostReader
from nova_holistic.scheduler.policies import (
    exclusive_positions, membership, server_locations)
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.scheduler.policies.policy_evaluation import PolicyEvaluation
from nova_holistic.table.records import MemberRecord, Place

ALLOCATION_REQUEST_VERSION = '1.36'
"""Placement's microversion in which Nova writes allocation requests."""

UNKNOWN_FILTER = "Nova's filters"


class Candidates:
    """Checks hosts for the servers of one create. Each host is read only once.

    :ivar resource_request: nova.scheduler.utils.ResourceRequest of the
        request; it must be set before a host is checked
    :ivar is_single: whether the request is for one server. Then a chosen host
        is not needed again, and the server's resources are not subtracted
    """

    def __init__(self, context, spec: 'objects.RequestSpec',
                 connections: Connections, scheduler):
        """:param scheduler: the manager whose filters check hosts, and from
        whose view hosts are read
        """
        self._context = context
        self._spec = spec
        self._connections = connections
        self._scheduler = scheduler
        self._hosts = HostReader(
            scheduler.host_manager, scheduler.servicegroup_api,
            connections.placement, numa.is_needed(
                spec, scheduler.host_manager.enabled_filters))
        self._states: dict[tuple[str, str], Any] = {}
        self.resource_request: Any = None
        self.is_single = False

    def planned(self, own: Membership, instance_uuid: str,
                places: Sequence[Place], limit: int
                ) -> 'list[objects.Selection]':
        """The planned host of a member, then alternates.

        :param places: alternates to choose from, best first
        :param limit: maximum number of alternates
        :raises HostRefused: the planned host cannot take the server
        :raises RequestRefused: the request names another host
        """
        row = own.own
        self._set_instance(instance_uuid)
        request_check.check_destination(self._spec, row.place.host,
                                        row.place.node)
        cell = self._hosts.cell_of(
            self._context, row.place,
            (each.place.host for each in own.rows))
        server_locations.read_directly(cell)
        own.evaluation(self._connections, self._context)
        evaluation = own.complete_evaluation(self._connections)
        others = (place for place in places
                  if self._keeps_policies(evaluation, place))
        first = list(itertools.islice(others, limit))
        self._read(cell, [row.place, *first])
        state = self._admitted_state(own, cell, row.place)
        others = itertools.chain(first, others)
        passed = self._passed(own, [state, *self._alternates(
            own, cell, others, limit)])
        if state not in passed:
            raise self._rejection(own, state)
        # Filters may have refused some.
        found = [each for each in passed if each is not state]
        while len(found) < limit and (more := self._alternates(
                own, cell, others, limit - len(found))):
            found += self._passed(own, more)
        return self._selections(instance_uuid, state, found)

    def other_host(self, own: Membership, instance_uuid: str,
                   places: Sequence[Place], refusals: list[HostRefused]
                   ) -> 'tuple[Place, list[objects.Selection]] | None':
        """The first place that can take the server, with selections of it and
        of the other places in its cell that can take the server.

        :param places: places of the member in any cell, best first
        :param refusals: list to which the refusals of hosts are added
        :returns: None if no place can take the server
        """
        self._set_instance(instance_uuid)
        exclusive_positions.discard()
        evaluation = own.evaluation(self._connections, self._context)
        states = {}
        allowed = [place for place in places
                   if self._keeps_policies(evaluation, place)]
        self._read_together(allowed)
        for place in allowed:
            try:
                states[place] = self._admitted(own, place)
            except HostRefused as refusal:
                refusals.append(refusal)
            except RequestRefused:
                # The request names another host.
                continue
        passed = self._passed(own, list(states.values()))
        refusals += [self._rejection(own, state) for state in states.values()
                     if state not in passed]
        usable = [place for place, state in states.items() if state in passed]
        if not usable:
            return None
        first, *others = usable
        # Nova retries only on other hosts of the same cell.
        return first, self._selections(instance_uuid, states[first], [
            states[place] for place in others
            if states[place].cell_uuid == states[first].cell_uuid])

    def allowed(self, own: Membership, places: Sequence[Place],
                most: int) -> list[Place]:
        """The first places that satisfy the hard policies of the member's
        group, ordered by the cost of violated preferences.

        :param most: maximum number of places that are returned
        """
        if not places:
            return []
        evaluation = all_hosts.with_all_hosts(
            own.evaluation(self._connections, self._context),
            self._connections, own.rows)
        found = list(itertools.islice(
            (place for place in places
             if self._keeps_policies(evaluation, place)), most))
        return sorted(found, key=lambda place: evaluation.cost(
            self._located(place)))

    def keeps_policies(self, own: Membership) -> bool:
        """Whether the member's place in the table satisfies the hard policies
        of its group, given the current hosts of the other members.

        :raises HolisticError: these hosts cannot be read
        """
        evaluation = all_hosts.with_all_hosts(
            own.evaluation(self._connections, self._context),
            self._connections,
            own.rows)
        return not evaluation.objections(self._located(own.own.place))

    def _set_instance(self, instance_uuid: str) -> None:
        self._spec.instance_uuid = instance_uuid
        self._spec.obj_reset_changes(['instance_uuid'])

    def _admitted(self, own: Membership, place: Place) -> Any:
        """The state of a host that can take the server.

        :raises HostRefused: the host cannot take the server
        :raises RequestRefused: the request names another host
        """
        request_check.check_destination(self._spec, place.host, place.node)
        cell = self._hosts.cell_of(self._context, place)
        self._read(cell, [place])
        return self._admitted_state(own, cell, place)

    def _admitted_state(self, own: Membership, cell, place: Place) -> Any:
        """The state of a host of the cell that can take the server.

        :raises HostRefused: the host cannot take the server
        :raises RequestRefused: Placement does not answer
        """
        state = self._state(own.own, cell, place)
        self._hosts.check_admits(state, self._spec, self.resource_request)
        described_place.check(own, state, self._connections.topology.levels,
                              lambda: self._located(place))
        return state

    def _passed(self, own: Membership, states: Sequence[Any]) -> list[Any]:
        """Hosts that pass all of Nova's enabled filters."""
        if not states:
            return []
        membership.store_for_next_find(self._spec, own)
        return [state for state
                in self._scheduler.host_manager.get_filtered_hosts(
                    list(states), self._spec) if state.allocation_candidates]

    def _rejection(self, own: Membership, state: Any) -> HostRefused:
        """The refusal, with the filter of Nova that rejects the host. The
        filters run one by one, because Nova names the filter only in its
        log."""
        by = UNKNOWN_FILTER
        for each in self._scheduler.host_manager.enabled_filters:
            membership.store_for_next_find(self._spec, own)
            if not list(each.filter_all([state], self._spec)):
                by = type(each).__name__
                break
        return HostRefused("was rejected by Nova's filters", state.host, by)

    def _selections(self, instance_uuid: str, state: Any,
                    alternates: Sequence[Any]) -> 'list[objects.Selection]':
        if not self.is_single:
            self._scheduler._consume_selected_host(
                state, self._spec, instance_uuid=instance_uuid)
        return [_selection(state), *map(_selection, alternates)]

    def _read(self, cell, places: Sequence[Place]) -> None:
        """Read the hosts that have not been read yet with one query."""
        missing = [place for place in places
                   if (cell.uuid, place.host) not in self._states]
        if missing:
            self._states.update(
                ((cell.uuid, place.host), state) for place, state
                in self._hosts.states(self._context, cell, missing))

    def _read_together(self, places: Sequence[Place]) -> None:
        """Read the hosts of each cell with one query."""
        by_cell: dict[str, tuple[Any, list[Place]]] = {}
        for place in places:
            # A host that no longer exists is refused later.
            with contextlib.suppress(HostRefused):
                cell = self._hosts.cell_of(
                    self._context, place, [each.host for each in places])
                by_cell.setdefault(cell.uuid, (cell, []))[1].append(place)
        for cell, some in by_cell.values():
            self._read(cell, some)

    def _state(self, row: MemberRecord, cell, place: Place):
        """The state of the host, with the allocation request of the member
        and the usage of other servers of this request.

        :raises HostRefused: the host cannot take servers
        """
        state = self._states[cell.uuid, place.host]
        if isinstance(state, HostRefused):
            raise state
        state.allocation_candidates = [self._allocation_request(row, place)]
        return state

    def _allocation_request(self, row: MemberRecord,
                            place: Place) -> dict[str, Any]:
        """The allocation request that Placement would have proposed.

        :raises HostRefused: the member needs more than the root provider, and
            no providers were chosen on this host
        """
        wanted = row.member.requirements
        if place.allocation is not None:
            return request_groups.allocation_request(
                place.allocation, self.resource_request, wanted)
        if row.place.allocation is not None or wanted.request_groups:
            raise HostRefused('has no providers that were chosen for the '
                              'member', place.host)
        (allocation,) = allocation_bodies.allocations(row).values()
        return {'allocations': {place.provider: allocation},
                'mappings': {'': [place.provider]}}

    def _alternates(self, own: Membership, cell,
                    places: Iterator[Place], limit: int) -> list[Any]:
        """States of the next hosts of the cell that can take the server.

        :param limit: maximum number of hosts
        """
        found: list[Any] = []
        while wanted := list(itertools.islice(places, limit - len(found))):
            self._read(cell, wanted)
            for place in wanted:
                # A host that cannot take a server is not an alternate.
                with contextlib.suppress(exceptions.HolisticError):
                    found.append(self._admitted_state(own, cell, place))
        return found

    def _keeps_policies(self, evaluation: PolicyEvaluation,
                        place: Place) -> bool:
        try:
            return not evaluation.objections(self._located(place))
        except exceptions.HolisticError:
            # A host that cannot be located is not used.
            return False

    def _located(self, place: Place):
        return locations.locate_once(self._connections.topology, place.host,
                                     self._hosts.aggregates(place.host))


def _selection(state) -> 'objects.Selection':
    return objects.Selection.from_host_state(
        state, allocation_request=state.allocation_candidates[0],
        allocation_request_version=ALLOCATION_REQUEST_VERSION)
