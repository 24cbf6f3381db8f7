# SPDX-License-Identifier: Apache-2.0
"""The fewest live migrations after which a group satisfies its hard policies.

The group is planned as if its movable servers did not exist yet, with a
preference for the host of each one. This is the smallest number of moves,
since the solver meets preferences first. Preferences of the group itself do
not count.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision import refused_hosts
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.member_rows import host_of, uses_capacity
from nova_holistic.engine.reasons import of_engine
from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member, MemberDescription
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.model.plan import Plan, Reason, Unplaceable
from nova_holistic.model.policy import Encoder, Policy, Violations
from nova_holistic.repair import move_order
from nova_holistic.repair.move_order import Move
from nova_holistic.repair import violations
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposed repair of a group.

    :ivar moves: live migrations, in the order in which they are carried out
    :ivar planned_again: paths of planned members whose places are given up;
        they have no servers yet
    :ivar reasons: reasons why no proposal exists; the other fields are then
        empty
    """

    moves: tuple[Move, ...] = ()
    planned_again: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """The proposal as plain data for messages."""
        return {
            'moves': [{
                'member': move.member, 'instance_uuid': move.instance_uuid,
                'source': move.source, 'destination': move.destination}
                for move in self.moves],
            'planned_again': list(self.planned_again),
            'reasons': [reason.to_row() for reason in self.reasons]}


@dataclass(frozen=True, slots=True)
class RepairCase:
    """A group that may need a repair.

    :ivar group: document of the group, not bound to a snapshot
    :ivar snapshot: snapshot of the whole cloud with all servers, and with the
        traffic of other groups on its links
    :ivar movable: paths of built members whose servers can be live-migrated
    """

    record: GroupRecord
    group: Group
    members: Sequence[MemberRecord]
    snapshot: Snapshot
    movable: Collection[str]


def propose(conf, snapshot_planner: SnapshotPlanner, case: RepairCase,
            refused: refused_hosts.Refused) -> Proposal:
    """
    :param refused: hosts that Nova refused for members
    :raises InvalidDocument: the cloud no longer has such a flavor or level
    """
    moving = [row for row in case.members if row.destination is not None]
    if moving:
        return Proposal(reasons=tuple(Reason.of(row.member.path, MarkedText(
            'Nova is moving the server: wait until the move has ended, and '
            'confirm or revert a resize')) for row in moving))
    if not violations.violations(case.group, case.members, case.snapshot):
        return Proposal()
    answer: Plan | Proposal = Proposal()
    # A server on a disabled host stays there, unless no other repair exists:
    # the solver would not choose such a host.
    usable = {host.name for host in case.snapshot.hosts if host.enabled}
    for stuck in (True, False):
        free = [row for row in case.members
                if row.state == MemberState.PLANNED
                or row.state == MemberState.BUILT
                and row.member.path in case.movable
                and (row.place.host in usable or not stuck)]
        answer = _solved(conf, snapshot_planner, case, free, refused)
        if isinstance(answer, Plan):
            return _ordered(case, free, answer.hosts())
    return answer


def _solved(conf, snapshot_planner: SnapshotPlanner, case: RepairCase,
            free: Sequence[MemberRecord],
            refused: refused_hosts.Refused) -> Plan | Proposal:
    """New places of the free members; the others stay."""
    occupying = [row for row in case.members if uses_capacity(row)]
    placed = {row.member.path: row.place.host for row in occupying
              if row not in free}
    group = with_preferences(
        violations.checked_rules(case.group, case.members), free, occupying)
    request = PlanningRequest(
        group, case.record.objective, case.record.uuid, placed,
        violations.extra_servers(case.members), free,
        [host_of(row.place) for row in occupying if row not in free], refused)
    snapshot, why = snapshot_planner.usable(
        request, case.snapshot, links_counted=True)
    answer = solve(
        refused_hosts.with_forbidden_traits(group, refused), snapshot,
        placed=placed, objective=case.record.objective,
        settings=Settings(
            solver=conf.planner.solver, time_limit=conf.planner.time_limit))
    if isinstance(answer, Plan):
        return answer
    if isinstance(answer, Unplaceable):
        return Proposal(reasons=mark_names((*answer.reasons, *why), snapshot))
    return Proposal(reasons=(of_engine(answer.message),))


def _ordered(case: RepairCase, free: Sequence[MemberRecord],
             hosts: Mapping[str, str]) -> Proposal:
    moved = [row for row in free if hosts[row.member.path] != row.place.host]
    moves = [Move(row.member.path, row.instance_uuid or '', row.place.host,
                  hosts[row.member.path]) for row in moved
             if row.state == MemberState.BUILT]
    planned = [row for row in moved if row.state == MemberState.PLANNED]
    found, reasons = move_order.ordered(move_order.MoveContext(
        violations.checked_rules(case.group, case.members),
        [row for row in case.members
         if uses_capacity(row) and row not in planned],
        violations.with_known_hosts(case.snapshot, case.members),
        planned, violations.extra_servers(case.members)), moves)
    if reasons:
        return Proposal(reasons=tuple(reasons))
    return Proposal(tuple(found),
                    tuple(row.member.path for row in planned))


def with_preferences(group: Group, free: Sequence[MemberRecord],
                     occupying: Sequence[MemberRecord]) -> Group:
    """The group whose free members prefer to stay on their hosts."""
    number = 1.0 + sum(row.state == MemberState.PLANNED for row in free)
    found = _per_server(group, {row.member.path: row for row in occupying})
    return replace(found, policies=(*found.policies, *(
        StayPreference(weight=1.0 if row.state == MemberState.PLANNED
                       else number,
                       path=row.member.path, host=row.place.host)
        for row in free)))


def _per_server(group: Group, rows: Mapping[str, MemberRecord],
                prefix: str = '') -> Group:
    """Each server has a separate description with its actual resources."""
    def described(each: MemberDescription) -> list[MemberDescription]:
        names = [name for name in each.server_names() if prefix + name in rows]
        return [
            replace(each, absent=each.absent.union(
                other for other in each.server_names() if other != name),
                requirements=replace(
                    rows[prefix + name].member.requirements, flavor=None))
            for name in names]

    return replace(
        group,
        members=tuple(one for each in group.members
                      for one in described(each)),
        groups=tuple(_per_server(nested, rows, f'{prefix}{nested.name}/')
                     for nested in group.groups))


@dataclass(frozen=True, kw_only=True)
class StayPreference(Policy):
    """One member stays on its host: a preference that only repairs use."""

    type: ClassVar[str] = 'stays'
    local: ClassVar[bool] = True
    counts_all: ClassVar[bool] = False

    path: str
    host: str

    @property
    def summary(self) -> str:
        return format_message('stays on host {:name}', self.host)

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        found = placement.get(self.path)
        return Violations(int(found is not None and found.name != self.host))

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {HOST: True} if member.path == self.path else {}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        own = replace(scope, path=self.path, members=tuple(
            each for each in scope.members if each.path == self.path))
        encoder.penalise(self, scope, encoder.among(own, [
            host for host in encoder.candidates(own)
            if host.name != self.host]))
