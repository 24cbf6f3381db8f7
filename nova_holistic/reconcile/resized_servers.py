# SPDX-License-Identifier: Apache-2.0
"""Writes the allocated resources of resized servers to the rows of their
members.

A resize changes the flavor of the server. After its confirmation, Placement
has the new amounts, and the row still has the planned amounts.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
import functools
import itertools

from oslo_log import log as logging

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.table.changes import member_moves
from nova_holistic.table.provider_allocation import ProviderAllocation
from nova_holistic.table.queries import overview
from nova_holistic.table.queries.overview import MemberOutline
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

MOST_HOSTS = 100
"""Maximum number of hosts for which one pass queries Placement."""

CHECK_AGAIN = timedelta(hours=1)
"""Minimum time between the beginnings of two rounds. Each round checks all
servers once on hosts with new allocations since the previous round. A round
takes longer if the passes within this time cannot check all these hosts."""

Resources = Mapping[str, int]
Each = Callable[[Counter, str, Callable[..., bool], Iterable], None]
"""Calls a repair for each item and counts the repairs of this kind: see
``Reconciler._each``."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of members.

    :ivar members: claimed, built and failed members by the UUID of the server
    :ivar changed: UUIDs of the servers whose member or state in Nova has
        changed since the previous call, or that have no member now
    :ivar last: returns the last known state of the server with a UUID
    """

    members: Mapping[str, MemberOutline]
    changed: Collection[str]
    last: Callable[[str], InstanceView | None]


class ResizedServers:
    """Checks the resources of built members. Only one caller may use it at a
    time.

    Placement is queried only if a server has another flavor or host than at
    the last check, or if its host is due in this round: one request for each
    host. Servers that have changed come first. A server that was resized or
    moved takes one more request if it uses several providers. A round begins
    with one request that lists the generations of all providers. An engine
    that starts has no record of earlier checks, and queries every host once.
    """

    def __init__(self, table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._table = table
        self._holds = holds
        self._clock = clock
        # Flavor and host of a server at its last check, by its UUID; None if
        # it has moved since.
        self._checked: dict[str, tuple[str, str | None] | None] = {}
        # UUIDs of the servers that need no check in this round.
        self._round: set[str] = set()
        # UUIDs of the servers that this round has yet to compare.
        self._pending: set[str] = set()
        # Generation of each provider when this round began.
        self._generations: Mapping[str, int] = {}
        self._began: datetime | None = None
        self._is_complete = True

    def reconcile_members(self, repaired: Counter[str], servers: Servers,
                          each: Each) -> None:
        """Correct the resources of members whose servers were resized."""
        last = servers.last
        self._follow(servers)
        due = self._due(servers)
        self._pending = {m.instance_uuid for _, outlines in due
                         for m in outlines}
        self._is_complete = len(due) <= MOST_HOSTS
        for provider, outlines in due[:MOST_HOSTS]:
            try:
                allocated = self._holds.resources(provider)
            except hold_errors.HoldsError:
                LOG.exception('Resources of servers on %s are not checked',
                              provider)
                continue
            changed = {m.instance_uuid for m in outlines
                       if self._has_changed(m, last)}
            each(repaired, 'resized', functools.partial(
                self._correct, allocated, changed), overview.member_records(
                    self._table.database, outlines))
            self._checked.update(
                (m.instance_uuid, _key(last(m.instance_uuid)))
                for m in outlines)
            self._round.update(m.instance_uuid for m in outlines)
            self._pending.difference_update(
                m.instance_uuid for m in outlines)

    def _follow(self, servers: Servers) -> None:
        for uuid in servers.changed:
            if uuid in servers.members:
                self._pending.add(uuid)
            else:
                self._pending.discard(uuid)
                self._round.discard(uuid)
                self._checked.pop(uuid, None)
        now = self._clock()
        # A round that has not reached every host continues, because the next
        # round would begin with the same hosts.
        if self._began is None or self._is_complete and not (
                timedelta() <= now - self._began < CHECK_AGAIN):
            self._round &= self._unchanged(servers.members.values())
            self._pending |= servers.members.keys() - self._round
            self._began = now

    def _unchanged(self, members: Collection[MemberOutline]) -> set[str]:
        """UUIDs of the servers on providers without new allocations since the
        last call. Placement raises the generation of a provider when it writes
        an allocation there."""
        before = self._generations
        try:
            self._generations = now = self._holds.providers()
        except hold_errors.HoldsError as error:
            LOG.warning('All servers are checked for a resize again: %s',
                        error)
            self._generations = now = {}
        return {m.instance_uuid for m in members if m.provider in now
                and before.get(m.provider) == now[m.provider]}

    def _due(self, servers: Servers
             ) -> list[tuple[str, list[MemberOutline]]]:
        """Providers with the members that are checked there."""
        due, urgent = [], set()
        pending = [servers.members[uuid] for uuid in self._pending]
        for member in self._settled(pending, servers.last):
            changed = self._has_changed(member, servers.last)
            if changed:
                urgent.add(member.provider)
            if changed or member.instance_uuid not in self._round:
                due.append(member)
        due.sort(key=lambda m: (m.provider not in urgent, m.provider, m.id))
        return [(provider, list(provider_members)) for provider,
                provider_members in itertools.groupby(due, _provider)]

    def _settled(self, members: Collection[MemberOutline],
                 last: Callable[[str], InstanceView | None]
                 ) -> Iterator[MemberOutline]:
        """Built members whose servers are known and do not move."""
        for member in members:
            view = last(member.instance_uuid)
            if (member.state != MemberState.BUILT or view is None
                    or not view.flavor):
                continue
            if view.host != member.host or view.is_moving:
                self._checked[member.instance_uuid] = None
            else:
                yield member

    def _has_changed(self, member: MemberOutline,
                     last: Callable[[str], InstanceView | None]) -> bool:
        """Whether the server has another flavor or host than at the last
        check."""
        uuid = member.instance_uuid
        return uuid in self._checked and self._checked[uuid] != _key(
            last(uuid))

    def _correct(self, at_root: Mapping[str, Resources],
                 changed: Collection[str], member: MemberRecord) -> bool:
        """Write the allocated resources to the row of a member.

        :param at_root: resources at the root provider of the member's host by
            the UUID of the server
        :param changed: UUIDs of the servers that have changed since the last
            check
        :returns: whether the resources of the row have changed
        """
        found = at_root.get(member.instance_uuid)
        place, requirements = member.place, member.member.requirements
        before = _without_zeros(requirements.resources)
        if not found or found == _expected_at_root(member) and (
                place.allocation is None
                or member.instance_uuid not in changed):
            return False
        if place.allocation is not None or found.keys() != before.keys():
            # Some resources may come from other providers.
            body = self._holds.exists(member.instance_uuid)
            if body is None or place.provider not in body['allocations']:
                return False
            found = _outside_groups(body['allocations'], requirements)
            if not requirements.request_groups:
                place = replace(place, allocation=_allocation(
                    body['allocations'], place.provider))
        is_resized = found != before
        if not is_resized and place == member.place:
            return False
        if is_resized:
            LOG.info('Member %s of group %s has %s, and not %s: its server '
                     'was resized', member.member.path, member.group_uuid,
                     dict(found), before)
        planned = (requirements.resources if member.planned is None
                   else member.planned)
        return member_moves.correct(
            self._table.database, member, self._clock(), requirements=replace(
                requirements, resources=FrozenMapping(found)),
            place=place,
            planned=None if found == _without_zeros(planned) else planned
        ) and is_resized


def _expected_at_root(member: MemberRecord) -> Resources:
    """The amounts that the server has at the root provider according to its
    row."""
    place = member.place
    if place.allocation is None:
        return _without_zeros(member.member.requirements.resources)
    return place.allocation.resources.get(place.provider, {})


def _outside_groups(allocations: Mapping[str, Mapping[str, Resources]],
                    requirements: Requirements) -> Resources:
    """The amounts that a server has at all providers, without those of the
    request groups of its member."""
    total: Counter[str] = Counter()
    for each in allocations.values():
        total.update(each['resources'])
    for group in requirements.request_groups:
        total.subtract(group.resources)
    return {name: amount for name, amount in total.items() if amount > 0}


def _allocation(allocations: Mapping[str, Mapping[str, Resources]],
                root: str) -> ProviderAllocation | None:
    """The allocation of a server without request groups; None if it uses only
    the root provider of its host."""
    if allocations.keys() == {root}:
        return None
    return ProviderAllocation(
        FrozenMapping({uuid: FrozenMapping(each['resources'])
                       for uuid, each in allocations.items()}),
        FrozenMapping({'': tuple(allocations)}))


def _provider(member: MemberOutline) -> str:
    return member.provider


def _key(view: InstanceView) -> tuple[str, str | None]:
    return view.flavor, view.host


def _without_zeros(resources: Resources) -> Resources:
    """The amounts without zeros, as in Placement."""
    return {name: amount for name, amount in resources.items() if amount}
