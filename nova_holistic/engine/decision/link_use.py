# SPDX-License-Identifier: Apache-2.0
"""The traffic of all groups together on the uplinks of domains.

The table has the traffic of each group on each uplink, and the totals. A plan
reads the totals, and its traffic is reserved before it is accepted. After
other changes, for example a release or a live migration, the traffic of the
changed groups is determined again from the places of their members, before the
next plan that needs it and in each pass of the reconciler.
"""

from collections.abc import Callable, Sequence

from oslo_log import log as logging

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.decision.planning_request import CheckedPlan
from nova_holistic.engine.member_rows import host_of
from nova_holistic.engine import volume_rows
from nova_holistic import exceptions
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.link_demand import (
    free_mbps, limits_links, link_demand, with_demand)
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.changes.link_demands import Demand, LinksVersion
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState)
from nova_holistic.table.states import OCCUPYING
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


def with_other_groups(table: PlacementTable, group: Group,
                      group_uuid: str | None, snapshot: Snapshot) -> Snapshot:
    """The snapshot in which the traffic of all other groups uses bandwidth of
    the uplinks; unchanged if the group limits no links."""
    if not snapshot.links or not limits_links(group):
        return snapshot
    return with_demand(snapshot, table.links.demand_of_others(group_uuid))


class LinkUse:
    """Reads and writes the traffic of groups."""

    def __init__(self, table: PlacementTable, policy_types: PolicyTypes):
        self._table = table
        self._policy_types = policy_types

    def counted(self, group: Group, group_uuid: str | None,
                snapshot: Snapshot) -> Snapshot:
        """The snapshot in which the traffic of all other groups uses bandwidth
        of the uplinks. Changes of places since the last call are taken into
        account. The snapshot is unchanged if the group limits no links."""
        if snapshot.links and limits_links(group):
            self.refresh()
        return with_other_groups(self._table, group, group_uuid, snapshot)

    def refresh(self) -> int:
        """Determine the traffic of groups that have changed.

        :returns: the number of these groups
        """
        changed = self._table.links.changed()
        for seen in changed:
            self._settle(seen)
        return len(changed)

    def reserve(self, group_uuid: str, decision: CheckedPlan,
                snapshot: Callable[[], Snapshot],
                new: bool) -> Sequence[Reason]:
        """Reserve the traffic of a plan.

        :param snapshot: returns a snapshot without the traffic of groups
        :param new: whether no member of the group has a place yet
        :returns: the reasons why the traffic cannot be reserved; empty if it
            is reserved
        """
        if not limits_links(decision.group):
            return ()
        cloud = decision.snapshot
        hosts = {host.name: host for host in (*cloud.hosts, *cloud.pools)}
        demand = link_demand(decision.group, {
            path: hosts[name] for path, name
            in decision.plan.hosts().items()}, cloud)
        full = self._table.links.reserve(
            group_uuid, demand, free_mbps(snapshot()), new)
        return () if full is None else [_taken(full)]

    def settle(self, group_uuid: str, group: Group) -> None:
        """Determine the traffic of a group whose plan was accepted.

        The caller must own the task of the group, unless the group has no
        task.
        """
        if limits_links(group):
            seen = self._table.links.version(group_uuid)
            if seen is not None:
                self._settle(seen, owned=True)

    def _settle(self, seen: LinksVersion, owned: bool = False) -> None:
        found = self._table.group_with_members(seen.group_uuid)
        if found is None:
            return
        try:
            demand = self._demand(*found)
        except exceptions.InvalidDocument as error:
            LOG.error('It is not known which traffic group %s reserves: %s',
                      seen.group_uuid, error)
            demand = {}
        self._table.links.settle(seen, demand, owned)

    def _demand(self, record: GroupRecord,
                members: Sequence[MemberRecord]) -> Demand:
        placement = {row.member.path: host_of(row.next_place)
                     for row in members if _has_place(row)}
        # A lost volume keeps its traffic until it is planned again.
        placement |= {
            row.path: host_of(volume_rows.planned_place(row))
            for row in volume_rows.of_group(self._table, record)
            if row.state != MemberState.RELEASED}
        group = parse_group(record.document, self._policy_types).resized(
            placement.keys())
        return link_demand(group, placement, Snapshot(record.levels, ()))


def _has_place(row: MemberRecord) -> bool:
    """Whether the member uses capacity at its place, or is about to: a lost
    member that is held is being planned."""
    return row.state in OCCUPYING or (
        row.state == MemberState.LOST and row.held)


def _taken(domain: Domain) -> Reason:
    return Reason.of('', format_message(
        'other groups have taken the bandwidth of the uplink of {} {:name}',
        domain.level, '/'.join(domain.path)))
