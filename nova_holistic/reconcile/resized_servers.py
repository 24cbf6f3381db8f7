# SPDX-License-Identifier: Apache-2.0
"""Writes the allocated resources of resized servers to the rows of their
members.

A resize changes the flavor of the server. After its confirmation, Placement
has the new amounts, and the row still has the planned amounts.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
import functools
import itertools

from oslo_log import log as logging

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.reconcile.instances import InstanceView
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


class ResizedServers:
    """Checks the resources of built members. Only one caller may use it at a
    time.

    Placement is queried only if a server has another flavor or host than at
    the last check, or if its host is due in this round: one request for each
    host. Servers that have changed come first. A round begins with one request
    that lists the generations of all providers. An engine that starts has no
    record of earlier checks, and queries every host once.
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
        # Generation of each provider when this round began.
        self._generations: Mapping[str, int] = {}
        self._began: datetime | None = None
        self._is_complete = True

    def reconcile_members(self, repaired: Counter[str],
                          members: Collection[MemberOutline],
                          last: Callable[[str], InstanceView | None],
                          each: Each) -> None:
        """Correct the resources of members whose servers were resized.

        :param members: claimed and built members
        :param last: returns the last known state of the server with a UUID
        """
        self._forget(members)
        due = self._due(members, last)
        self._is_complete = len(due) <= MOST_HOSTS
        for provider, outlines in due[:MOST_HOSTS]:
            try:
                allocated = self._holds.resources(provider)
            except hold_errors.HoldsError:
                LOG.exception('Resources of servers on %s are not checked',
                              provider)
                continue
            each(repaired, 'resized', functools.partial(
                self._correct, allocated), overview.member_records(
                    self._table.database, outlines))
            self._checked.update(
                (m.instance_uuid, _key(last(m.instance_uuid)))
                for m in outlines)
            self._round.update(m.instance_uuid for m in outlines)

    def _forget(self, members: Collection[MemberOutline]) -> None:
        now = self._clock()
        # A round that has not reached every host continues, because the next
        # round would begin with the same hosts.
        if self._began is None or self._is_complete and not (
                timedelta() <= now - self._began < CHECK_AGAIN):
            self._round &= self._unchanged(members)
            self._began = now
        current = {m.instance_uuid for m in members}
        self._round &= current
        self._checked = {uuid: key for uuid, key in self._checked.items()
                         if uuid in current}

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

    def _due(self, members: Collection[MemberOutline],
             last: Callable[[str], InstanceView | None]
             ) -> list[tuple[str, list[MemberOutline]]]:
        """Providers with the members that are checked there."""
        due, urgent = [], set()
        for member in self._settled(members, last):
            uuid = member.instance_uuid
            changed = (uuid in self._checked
                       and self._checked[uuid] != _key(last(uuid)))
            if changed:
                urgent.add(member.provider)
            if changed or uuid not in self._round:
                due.append(member)
        due.sort(key=lambda m: (m.provider not in urgent, m.provider))
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

    def _correct(self, allocated: Mapping[str, Resources],
                 member: MemberRecord) -> bool:
        """Write the allocated resources to the row of a member.

        :param allocated: resources on the member's host by the UUID of the
            server
        :returns: whether the row has changed
        """
        requirements = member.member.requirements
        found = allocated.get(member.instance_uuid)
        if not found or found == _without_zeros(requirements.resources):
            return False
        LOG.info('Member %s of group %s has %s, and not %s: its server was '
                 'resized', member.member.path, member.group_uuid,
                 dict(found), dict(requirements.resources))
        planned = (requirements.resources if member.planned is None
                   else member.planned)
        return self._table.change_state(
            member.id, [MemberState.BUILT], MemberState.BUILT, self._clock(),
            of_instance=member.instance_uuid, requirements=replace(
                requirements, resources=FrozenMapping(found)),
            planned=None if found == _without_zeros(planned) else planned)


def _provider(member: MemberOutline) -> str:
    return member.provider


def _key(view: InstanceView) -> tuple[str, str | None]:
    return view.flavor, view.host


def _without_zeros(resources: Resources) -> Resources:
    """The amounts without zeros, as in Placement."""
    return {name: amount for name, amount in resources.items() if amount}
