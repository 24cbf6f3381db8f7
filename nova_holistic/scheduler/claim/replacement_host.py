# SPDX-License-Identifier: Apache-2.0
"""Finds another host for a server whose planned host is refused."""

from collections.abc import Collection, Sequence
from datetime import timedelta
import time
from typing import Any

import nova.conf
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.scheduler.claim.host_search import HostSearch
from nova_holistic.scheduler.claim.request_refusal import HostRefused
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts.candidates import Candidates
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.table.batches import batches
from nova_holistic.table.records import MemberRecord, MemberState, Place

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

BATCH_SIZE = 5
"""Number of hosts that are read and filtered in one batch. The search stops
after the first batch that has a host for the server."""

Found = tuple[Place, list[Any]]
"""A place, and one nova.objects.Selection for it and for each alternate."""


class ReplacementHost:
    """Tries a member's alternates, then the hosts that a search finds.

    The searches of one request share the time of [holistic]
    search_time_limit, and one search tries [holistic] search_hosts hosts.

    :ivar searched: whether hosts other than the alternates were considered
    """

    def __init__(self, search: HostSearch, connections: Connections,
                 candidates: Candidates):
        self._search = search
        self._connections = connections
        self._candidates = candidates
        self._deadline: float | None = None
        self.searched = False

    def find(self, own: Membership, instance_uuid: str,
             refusals: list[HostRefused]) -> Found | None:
        """The best place that can take the server, with selections.

        :param refusals: refusals of the hosts that were tried; the function
            adds one for each further host that cannot take the server
        :returns: None if no place was found
        """
        tried = {refusal.host for refusal in refusals}
        places = [place for place in self._alternates(own.own)
                  if place.host not in tried]
        found = self._candidates.other_host(
            own, instance_uuid, places, refusals)
        if found is None and self._remaining_time() > 0:
            self.searched = True
            found = self._search_hosts(own, instance_uuid, refusals)
        return found

    def _search_hosts(self, own: Membership, instance_uuid: str,
                      refusals: list[HostRefused]) -> Found | None:
        # These hosts are not from the plan, so the cloud is read again.
        own = Membership(own.record, own.own, own.rows)
        avoided = ({refusal.host for refusal in refusals}
                   | self._refused_hosts(own.own))
        try:
            places = self._search.places(own, avoided, self._remaining_time())
        except exceptions.HolisticError as error:
            LOG.warning('No other host can be searched for member %(member)s '
                        'of group %(group)s: %(error)s',
                        {'member': own.own.member.path,
                         'group': own.record.uuid, 'error': error})
            return None
        build_hosts = self._build_hosts(own)
        places = sorted(places, key=lambda place: place.host in build_hosts)[
            :CONF.holistic.search_hosts]
        for some in batches(places, BATCH_SIZE):
            if self._remaining_time() <= 0:
                break
            found = self._candidates.other_host(
                own, instance_uuid, some, refusals)
            if found is not None:
                return found
        return None

    def _alternates(self, row: MemberRecord) -> Sequence[Place]:
        return self._connections.table.alternates([row.id]).get(row.id, ())

    def _build_hosts(self, own: Membership) -> Collection[str]:
        """Hosts to which Nova may send other servers of the group that are
        being built, without another request to a scheduler."""
        building = [row.id for row in own.rows if row.id != own.own.id
                    and row.state == MemberState.CLAIMED]
        return {place.host for places in self._connections.table.alternates(
            building).values() for place in places}

    def _refused_hosts(self, row: MemberRecord) -> Collection[str]:
        """Hosts that Nova refused for members of the same description."""
        lifetime = CONF.planner.refusal_lifetime
        if not lifetime:
            return set()
        return set(self._connections.table.refusals.of_group(
            row.group_uuid, self._connections.clock() - timedelta(
                seconds=lifetime)).get(row.member.description, ()))

    def _remaining_time(self) -> float:
        """Remaining time of the searches of this request in seconds."""
        if self._deadline is None:
            self._deadline = (time.monotonic()
                              + CONF.holistic.search_time_limit)
        return self._deadline - time.monotonic()
