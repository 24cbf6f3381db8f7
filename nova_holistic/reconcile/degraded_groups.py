# SPDX-License-Identifier: Apache-2.0
"""Groups whose servers no longer satisfy their hard policies.

Some operations bypass the policies: a live migration with a forced host, an
evacuation to a given host, or a move of a host to another rack or zone.
"""

from collections.abc import (
    Callable, Collection, Hashable, Mapping, Sequence)
from collections import Counter
from datetime import datetime, timedelta

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.decision.link_use import with_other_groups
from nova_holistic.engine.group_parser import GroupParser
from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.reconcile.lost_places import lose_place
from nova_holistic.reconcile.volume_positions import VolumePositions
from nova_holistic.repair.checked_cloud import CheckedCloud, PassSnapshot
from nova_holistic.repair.violations import (
    misplaced, planned_violations, violations)
from nova_holistic.table.changes import group_degradation
from nova_holistic.table.queries.outline_index import Outlines
from nova_holistic.table.queries.overview import GroupOutline, MemberOutline
from nova_holistic.table.queries.progress import WITH_SERVERS
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

CHECKED_STATES = (*WITH_SERVERS, GroupStatus.DEGRADED)
"""Statuses of groups that have servers."""

MAX_GROUPS = 500
"""Maximum number of groups that are checked in one pass. An engine that has
just started checks all groups with servers, if necessary in several passes."""


class DegradationCheck:
    """Checks a group again if anything that affects the result has changed
    since this object checked it last.

    Positions of members are compared in each pass, in memory.
    Hosts are compared every ``[reconciler] drift_interval`` seconds, which
    requires a snapshot of the cloud.

    The cached snapshot determines which groups are checked again. The decision
    that a policy is violated, or that a degraded group has recovered, is made
    on a complete snapshot, which is read at most once per pass.
    """

    def __init__(self, conf, inventory: CloudInventory,
                 table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._conf = conf.reconciler
        self._inventory = inventory
        self._table = table
        self._holds = holds
        self._clock = clock
        self._groups = GroupParser()
        # All groups at the last check.
        self._outlines = Outlines()
        # Those with servers, by UUID.
        self._latest: dict[str, _Outline] = {}
        # UUIDs of the groups that have changed since they were checked.
        self._due: set[str] = set()
        # The inputs of the last check of each group, by UUID.
        self._positions: dict[str, _Key] = {}
        self._surroundings: dict[str, Hashable] = {}
        # Groups with a policy that depends on all hosts of the cloud.
        self._wide: set[str] = set()
        # Groups with volumes, whose rows no outline contains.
        self._with_volumes: set[str] = set()
        self._volumes = VolumePositions(table, inventory)
        self._compared_at: datetime | None = None

    def check(self) -> Mapping[str, int]:
        """Check the groups for which an input has changed.

        :returns: number of ``degraded`` and ``recovered`` groups, and of
            ``misplaced`` members
        """
        self._follow(self._table.outlines.read())
        outlines = self._latest
        self._due = due = {uuid for uuid in self._due
                           if self._positions.get(uuid) != outlines[uuid][1]}
        compare = bool(outlines) and self._must_compare_hosts()
        if not due and not compare:
            return {}
        try:
            cloud = CheckedCloud(self._inventory.cached_snapshot())
        except exceptions.HolisticError:
            LOG.exception('The policies of groups with servers are not '
                          'checked in this pass')
            return {}
        if compare:
            due = due | {
                uuid for uuid, outline in outlines.items()
                if self._surroundings.get(uuid) != self._around(
                    cloud, outline) or uuid in self._with_volumes
                and outline[0].status == GroupStatus.DEGRADED}
            # Otherwise, the next comparison finds the other groups.
            if len(due) <= MAX_GROUPS:
                self._compared_at = self._clock()
        done: Counter[str] = Counter()
        sure = PassSnapshot(self._complete)
        for uuid in sorted(due)[:MAX_GROUPS]:
            try:
                self._check((cloud, sure), outlines[uuid], done)
            except exceptions.HolisticError:
                LOG.exception('The policies of group %s are not checked in '
                              'this pass', uuid)
        return +done

    def _complete(self) -> CheckedCloud:
        return CheckedCloud(self._inventory.snapshot(), self._volumes.pools)

    def _follow(self, outlines: Outlines) -> None:
        """Apply the changes of groups since the previous call. The stored
        inputs of groups without servers are deleted."""
        for uuid in outlines.changed_since(self._outlines):
            group = outlines.groups.get(uuid)
            members = outlines.by_group.get(uuid)
            if group and members and (group.status in CHECKED_STATES
                                      or self._had_servers(group)):
                self._latest[uuid] = _outline(group, members.values())
                self._due.add(uuid)
                continue
            for known in self._latest, self._positions, self._surroundings:
                known.pop(uuid, None)
            for uuids in self._due, self._wide, self._with_volumes:
                uuids.discard(uuid)
        self._outlines = outlines

    def _had_servers(self, group: GroupOutline) -> bool:
        """Whether all servers of the group were deleted. Their places, which
        are held again, may violate the policies, because the servers may have
        moved without the scheduler."""
        return (group.status == GroupStatus.PLANNED
                and group.uuid in self._latest)

    def _must_compare_hosts(self) -> bool:
        interval = timedelta(seconds=self._conf.drift_interval)
        return self._compared_at is None or not (
            timedelta() <= self._clock() - self._compared_at < interval)

    def _around(self, cloud: CheckedCloud, outline: '_Outline') -> Hashable:
        group, _, hosts = outline
        if group.uuid in self._wide:
            return cloud.whole
        return frozenset((name, cloud.state_of_host(name, group.exclusive))
                         for name in hosts)

    def _check(self, clouds: tuple[CheckedCloud, PassSnapshot],
               outline: '_Outline',
               done: Counter[str]) -> None:
        """Check the policies of one group, and write the result.

        :param clouds: the cached snapshot and a complete one
        :raises HolisticError: the check failed; try again
        """
        outlined, key, _ = outline
        found = self._table.group_with_members(outlined.uuid)
        if found is None or found[0].task is not None:
            return
        record, members = found
        try:
            group = self._groups.sized(record, members)
            cloud, checked, broken = self._broken(clouds, found, group)
        except exceptions.InvalidDocument as error:
            LOG.warning('The policies of group %s cannot be checked: %s',
                        record.uuid, error)
            cloud, checked, broken = clouds[0], members, None
        else:
            if any(rule.hard and not rule.local for scope in group.scopes()
                   for rule in scope.group.rules):
                self._wide.add(record.uuid)
        if broken and self._has_moved(record.uuid, key):
            # These members have no servers yet, so they get other places.
            stray = misplaced(group, checked, self._shared(
                record, group, cloud))
            for row in stray:
                done['misplaced'] += self._give_up(row)
                crash_points.reached('drift.place-given-up')
            if stray:
                return
        if broken:
            done['degraded'] += self._degrade(record, broken)
        elif broken is not None and record.status == GroupStatus.DEGRADED:
            done['recovered'] += group_degradation.recover(
                self._table.database, record, members, self._clock())
            crash_points.reached('drift.recovered')
        # The compare-and-swap uses the old status: if it has changed since
        # then, the next pass checks the group again.
        self._positions[record.uuid] = key
        self._surroundings[record.uuid] = self._around(cloud, outline)

    def _broken(self, clouds: tuple[CheckedCloud, PassSnapshot],
                found: tuple[GroupRecord, Sequence[MemberRecord]],
                group: Group) -> tuple[CheckedCloud, Sequence[MemberRecord],
                                       Sequence[Reason]]:
        """The violations of a group, and the snapshot and the members, with
        volumes, for which they were found."""
        cloud, sure = clouds
        record, members = found
        check = (planned_violations if record.status == GroupStatus.PLANNED
                 else violations)
        checked = self._volumes.added(record, members)
        has_volumes = len(checked) > len(members)
        if has_volumes:
            self._with_volumes.add(record.uuid)
        broken = check(group, checked, self._shared(record, group, cloud))
        if (self._inventory.has_cache or has_volumes) and (
                broken or record.status == GroupStatus.DEGRADED):
            cloud = sure()
            checked = self._volumes.added(
                record, members, lambda: cloud.pools)
            broken = check(group, checked, self._shared(record, group, cloud))
        return cloud, checked, broken

    def _shared(self, record: GroupRecord, group: Group,
                cloud: CheckedCloud) -> Snapshot:
        """The snapshot with the traffic of other groups on its links."""
        return with_other_groups(
            self._table, group, record.uuid, cloud.snapshot)

    def _degrade(self, record: GroupRecord,
                 broken: Sequence[Reason]) -> bool:
        """Write the violations of a group; returns whether they are new."""
        rows = [reason.to_row() for reason in broken]
        # A group that is not degraded may have violations of earlier servers.
        if (record.status == GroupStatus.DEGRADED
                and record.violations == tuple(rows)):
            return False
        if not group_degradation.degrade(
                self._table.database, record, rows, self._clock()):
            return False
        crash_points.reached('drift.degraded')
        LOG.warning('Group %s is degraded: %s', record.uuid,
                    '; '.join(violation.message for violation in broken))
        return True

    def _has_moved(self, group_uuid: str, key: '_Key') -> bool:
        """Whether a member has moved since the last check.

        If only hosts have changed, an operator may be moving a host to another
        rack, and no place is given up.
        """
        known = self._positions.get(group_uuid)
        return known is not None and known[-1] != key[-1]

    def _give_up(self, member: MemberRecord) -> bool:
        return lose_place(self._table, self._holds, member, self._clock())


_Key = tuple[int, bool, Hashable]
"""Changes with the definition of a group, with its status, and with the
positions of its members."""

_Outline = tuple[GroupOutline, _Key, Collection[str]]
"""A group, its key, and the names of its hosts."""


def _outline(group: GroupOutline,
             members: Collection[MemberOutline]) -> _Outline:
    key = (group.revision, group.status == GroupStatus.DEGRADED, frozenset(
        (member.id, member.state, member.position) for member in members))
    return group, key, {host for member in members
                        for host in member.position if host}
