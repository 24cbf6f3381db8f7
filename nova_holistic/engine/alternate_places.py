# SPDX-License-Identifier: Apache-2.0
"""The places of alternates, with the providers of members that use more than
root providers.

Nova builds a server on an alternate with the allocation that the scheduler has
returned, and does not ask Placement for providers. Therefore, Placement
proposes them when the alternates are found, after the places of the group are
held. Nothing is held on alternates: if the providers are in use later,
Placement refuses the allocation, and Nova tries the next alternate.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from oslo_log import log as logging

from nova_holistic.engine.member_rows import place_of
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic.engine.provider_choice import ProviderChoice, uses_tree
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.table.provider_allocation import ProviderAllocation
from nova_holistic.table.records import MemberRecord, Place

LOG = logging.getLogger(__name__)


class AlternatePlaces:
    """Converts alternate hosts to the places that the table stores."""

    def __init__(self, parts: PlannerComponents):
        self._parts = parts
        self._choice = ProviderChoice(parts)

    def of(self, alternates: Sequence[tuple[MemberRecord, Sequence[Host]]]
           ) -> Mapping[int, Sequence[Place]]:
        """The places of alternates by the row ID of the member, without
        members that have none.

        If a member uses more than the root provider on its planned host or on
        one of its alternates, all of its alternates have an allocation. Hosts
        for which Placement proposes no providers are left out, and so are
        those that it was not asked about within the planner's time limit.

        :param alternates: members with their hosts, the best first
        :raises HoldsError: Placement does not respond
        """
        chosen = self._chosen([
            (row, hosts) for row, hosts in alternates
            if row.place.allocation is not None
            or any(uses_tree(row.member.requirements, host)
                   for host in hosts)])
        found = {row.id: [place for host in hosts
                          if (place := _place(chosen, row, host))]
                 for row, hosts in alternates}
        return {row: places for row, places in found.items() if places}

    def _chosen(self, rows: Sequence[tuple[MemberRecord, Sequence[Host]]]
                ) -> Mapping[int, Mapping[str, ProviderAllocation]]:
        """For each member by its row ID, host name to an allocation."""
        found: dict[int, dict[str, ProviderAllocation]] = {
            row.id: {} for row, _ in rows}
        until = self._parts.clock() + timedelta(
            seconds=self._parts.conf.planner.time_limit)
        for host, members in _by_host(rows):
            if self._parts.clock() >= until:
                LOG.warning('Members of group %s have fewer alternates, '
                            'because Placement responds slowly',
                            members[0].group_uuid)
                break
            for row, allocation in self._choice.on_alternate(host, members):
                found[row][host.name] = allocation
        return found


def _by_host(rows: Sequence[tuple[MemberRecord, Sequence[Host]]]
             ) -> Sequence[tuple[Host, Sequence[MemberRecord]]]:
    """Hosts with the members that may be built there: first the best host of
    each member."""
    found: dict[str, tuple[Host, list[MemberRecord]]] = {}
    most = max((len(hosts) for _, hosts in rows), default=0)
    for number in range(most):
        for row, hosts in rows:
            for host in hosts[number:number + 1]:
                found.setdefault(host.name, (host, []))[1].append(row)
    return list(found.values())


def _place(chosen: Mapping[int, Mapping[str, ProviderAllocation]],
           row: MemberRecord, host: Host) -> Place | None:
    """The place of a member on an alternate; None if it has no providers."""
    if row.id not in chosen:
        return place_of(host)
    allocation = chosen[row.id].get(host.name)
    return allocation and place_of(host, allocation)
