# SPDX-License-Identifier: Apache-2.0
"""Reconciles claimed and built members with their servers in Nova."""

from collections.abc import Callable, Collection, Iterable, Mapping
from collections import Counter
from dataclasses import replace
from datetime import timedelta

from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.reconcile.members_with_servers import MembersWithServers
from nova_holistic.reconcile.missing_servers import MissingServers
from nova_holistic.reconcile.observed_servers import ObservedServers
from nova_holistic.reconcile.resized_servers import ResizedServers, Servers
from nova_holistic.reconcile.returned_places import ReturnedPlaces
from nova_holistic.reconcile.server_positions import (
    fields_of_build, is_settled, ServerPositions)
from nova_holistic.table.queries import overview
from nova_holistic.table.queries.overview import GroupOutline, MemberOutline
from nova_holistic.table.records import MemberRecord, MemberState, Place

LOG = logging.getLogger(__name__)

ERROR = 'ERROR'
BUILDING = 'BUILD'

Each = Callable[[Counter, str, Callable[..., bool], Iterable], None]
"""Calls a repair for each item and counts the repairs of this kind: see
``Reconciler._each``."""


class ServerReconciler:
    """Writes the host of each server to the row of its member. A member whose
    server is deleted, or was never built, gets its place back or is
    released."""

    def __init__(self, components: ReconcileComponents):
        self._conf = components.conf
        self._table = table = components.table
        self._holds = holds = components.holds
        self._instances = instances = components.instances
        self._clock = clock = components.clock
        self._observed = ObservedServers(instances, clock)
        self._members = MembersWithServers()
        # UUIDs of the servers whose members may need a correction.
        self._unsure: set[str] = set()
        # UUIDs of the servers that may have been resized.
        self._changed: set[str] = set()
        self._missing = MissingServers(components.conf, instances, holds)
        self._resized = ResizedServers(table, holds, clock)
        self._returning = ReturnedPlaces(table, holds, clock)
        self._positions = ServerPositions(
            components.inventory, table, instances, clock)

    def reconcile_members(self, repaired: Counter[str], each: Each) -> None:
        """Check every member with a server in an active group that was not
        correct in the previous pass, or has changed since then.

        :param repaired: number of repairs by kind, which is updated
        """
        self._positions.forget_places()
        outlines = self._table.outlines.read()
        changed = self._members.follow(outlines)
        self._note(changed)
        members = self._members.by_server
        self._observed.forget(changed - members.keys())
        try:
            self._observed.renew()
        except exceptions.HolisticError:
            LOG.exception('The list of changed servers cannot be read')
        self._note(self._observed.changed())
        self._unsure = {uuid for uuid in self._unsure
                        if uuid in members and not _is_correct(
                            members[uuid], self._observed.last(uuid))}
        views, failed = self._views()
        self._note(self._observed.changed())
        known = {uuid: members[uuid] for uuid in views}
        if self._missing.are_credible(
                known, views, self._members.outside(failed)):
            self._repair_members(
                repaired, known.values(), views, outlines.groups, each)
            self._resized.reconcile_members(
                repaired, Servers(members, self._changed, self._observed.last),
                each)
            self._changed = set()

    def reconcile_reported(self, repaired: Counter[str],
                           instance_uuids: Collection[str], each: Each
                           ) -> frozenset[str]:
        """Check the members of servers whose change was reported.

        A server that Nova does not know counts as deleted only if Nova has a
        record of the deletion. Unlike a complete pass, a report of a few
        servers does not show whether [nova] names another cloud.

        :returns: UUIDs of the servers whose members are not settled yet,
            without servers that belong to no member
        :raises TableError: the table does not respond
        """
        self._positions.forget_places()
        members = overview.members_of_servers(
            self._table.database, instance_uuids)
        groups = {group.uuid: group for group in overview.groups(
            self._table.database, {m.group_uuid for m in members})}
        views: dict[str, InstanceView | None] = {}
        for member in members:
            try:
                view = self._instances.get(member.instance_uuid)
                if view is not None or self._instances.was_deleted(
                        member.instance_uuid):
                    views[member.instance_uuid] = view
            except exceptions.HolisticError as error:
                LOG.warning('Server %s is left to the next pass: %s',
                            member.instance_uuid, error)
        known = [m for m in members if m.group_uuid in groups]
        self._repair_members(repaired, known, views, groups, each)
        return frozenset(
            m.instance_uuid for m in overview.members_of_servers(
                self._table.database, instance_uuids)
            if not _is_correct(m, views.get(m.instance_uuid))
            and not _is_under_way(views.get(m.instance_uuid)))

    def _repair_members(self, repaired: Counter[str],
                        members: Collection[MemberOutline],
                        views: Mapping[str, InstanceView | None],
                        groups: Mapping[str, GroupOutline],
                        each: Each) -> None:
        """Correct members that differ from the state of their servers in
        Nova."""
        incorrect = [m for m in members if m.instance_uuid in views
                     and not _is_correct(m, views[m.instance_uuid])]
        for row in overview.member_records(self._table.database, incorrect):
            case, repair = self._case(
                row, views[row.instance_uuid], groups[row.group_uuid])
            each(repaired, case, repair, [row])

    def _note(self, instance_uuids: Collection[str]) -> None:
        """Check these servers in this pass or, after an error, in the next.
        """
        self._unsure.update(instance_uuids)
        self._changed.update(instance_uuids)

    def _views(self) -> tuple[Mapping[str, InstanceView | None],
                              Collection[str]]:
        """The current state of the servers whose members may need a
        correction, and the projects whose servers Nova does not list."""
        by_project: dict[str, set[str]] = {}
        for uuid in self._unsure:
            by_project.setdefault(
                self._members.project(uuid), set()).add(uuid)
        views: dict[str, InstanceView | None] = {}
        failed = set()
        for project_id, servers in by_project.items():
            try:
                views.update(self._observed.read(servers, project_id))
            except exceptions.HolisticError:
                LOG.exception('Servers of project %s are not checked in this '
                              'pass',
                              project_id)
                failed.add(project_id)
        return views, failed

    def _case(self, member: MemberRecord, view: InstanceView | None,
              group: GroupOutline) -> tuple[str, Callable[..., bool]]:
        if view is None and member.state != MemberState.CLAIMED:
            return 'gone', lambda row: self._returning.give_back(row, group)
        if member.state == MemberState.BUILT:
            return 'moved', lambda row: self._positions.correct_later_row(
                row, view)
        if view is None or _never_ran(view) and not view.host:
            if view is not None and view.status == BUILDING:
                return 'stalled', lambda row: self._build_stalled(row, group)
            return 'unclaimed', lambda row: self._undo_claim(row, view, group)
        if _never_ran(view) and view.status == ERROR:
            return 'failed', lambda row: self._build_failed(row, view)
        return 'built', lambda row: self._server_built(row, view)

    def _server_built(self, member: MemberRecord,
                      view: InstanceView) -> bool:
        """Mark a member as built, because its server has run.

        A server that was shelved and offloaded is on no host: its member keeps
        its planned place.
        """
        if view.status == BUILDING or not (view.host or view.launched):
            return False
        return self._table.change_state(
            member.id, [member.state], MemberState.BUILT,
            self._clock(), of_instance=member.instance_uuid, held=False,
            destination=None,
            **fields_of_build(member, self._place_of_build(member, view)))

    def _place_of_build(self, member: MemberRecord,
                        view: InstanceView) -> Place:
        """The place of a server on a host. If Nova sent it to an alternate, it
        has the allocation that was chosen for the alternate."""
        place = self._positions.place(member, view.host, view.node)
        if place == member.place:
            return place
        given = self._table.alternates([member.id]).get(member.id, ())
        return next((replace(place, allocation=each.allocation)
                     for each in given if each.host == place.host), place)

    def _build_failed(self, member: MemberRecord, view: InstanceView) -> bool:
        """Mark a member as failed. Its server is on its host in ERROR, has
        never run, and uses the capacity until it is deleted."""
        return self._table.change_state(
            member.id, [MemberState.CLAIMED], MemberState.FAILED,
            self._clock(), of_instance=member.instance_uuid,
            **fields_of_build(member, self._place_of_build(member, view)))

    def _undo_claim(self, member: MemberRecord, view: InstanceView | None,
                    group: GroupOutline) -> bool:
        """Hold the place of a member again whose server was never built.

        This happens immediately if Nova proves that no further event follows.
        Otherwise the claim may be in progress, or the scheduler may have
        failed between claim and swap, or between swap and response: the grace
        period distinguishes these cases.
        """
        if not (self._older(member, self._conf.reconciler.grace)
                or self._given_up(member, view)):
            return False
        return self._returning.give_back(member, group)

    def _given_up(self, member: MemberRecord,
                  view: InstanceView | None) -> bool:
        """Whether Nova proves that the server will never be built.

        While the hold exists, the scheduler may not have responded yet, and no
        other consumer can take the capacity. There is one exception: if the
        row states that the member is held, an engine has begun to undo the
        claim. If a server in ERROR has no fault, a user may have set this
        status while Nova builds the server.
        """
        if not member.held and self._holds.exists(member.hold) is not None:
            return False
        if view is not None:
            return view.fault
        # Nova has no record of a server that was deleted after the response of
        # the scheduler and before its cell knew it, but frees its allocation.
        return self._instances.was_deleted(member.instance_uuid) or (
            not member.held
            and self._holds.exists(member.instance_uuid) is None)

    def _build_stalled(self, member: MemberRecord,
                       group: GroupOutline) -> bool:
        """Undo the claim of a server without a host that Nova has not changed
        for a long time, because a conductor failed after the scheduler had
        responded.

        If the conductor is only slow, the server is still created. Therefore
        the server keeps its capacity in Placement until it is deleted.
        """
        timeout = self._conf.reconciler.build_timeout
        if not timeout or not self._older(member, timeout):
            return False
        progress = self._instances.progressed_at(member.instance_uuid)
        if progress is not None and (
                progress > self._clock() - timedelta(seconds=timeout)):
            return False
        LOG.warning('Server %s, member %s of group %s, has been in BUILD '
                    'without a host for more than %s s: its claim is undone',
                    member.instance_uuid, member.member.path, group.uuid,
                    timeout)
        return self._returning.give_back(member, group, take_allocation=False)

    def _older(self, member: MemberRecord, seconds: int) -> bool:
        """Whether the member has been in its state for longer than this
        time."""
        since = member.updated_at
        return since is None or (
            since <= self._clock() - timedelta(seconds=seconds))


def _never_ran(view: InstanceView) -> bool:
    return not view.launched and view.status in (BUILDING, ERROR)


def _is_under_way(view: InstanceView | None) -> bool:
    """Whether another notification follows when a build or a move ends."""
    return view is not None and (
        view.status == BUILDING or view.may_have_two_hosts)


def _is_correct(member: MemberOutline, view: InstanceView | None) -> bool:
    """Whether the row of a member needs no correction."""
    if view is None:
        return False
    if member.state == MemberState.FAILED:
        return view.host is not None and _never_ran(view)
    return (member.state == MemberState.BUILT
            and is_settled(member.host, member.destination, view))
