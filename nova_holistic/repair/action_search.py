# SPDX-License-Identifier: Apache-2.0
"""Searches hosts for servers that have to change, and an order of the moves.

As for a repair, servers prefer to stay on their hosts. A resized server always
gets another host: by default, Nova does not resize on the same host, and
otherwise counts both sizes there until the resize is confirmed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision import refused_hosts
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.member_rows import host_of, uses_capacity
from nova_holistic.engine.reasons import of_engine
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.model.plan import Plan, Reason, Unplaceable
from nova_holistic.repair.intermediate_hosts import indirect_sequence
from nova_holistic.repair.move_order import (
    longest_sequence, Move, MoveContext, MoveSequence)
from nova_holistic.repair.proposal import with_preferences
from nova_holistic.repair.server_changes import (
    change_of, ServerChange, ServerStatus)
from nova_holistic.repair import violations
from nova_holistic.solver.check import fits
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState

ATTEMPTS = 4
"""Maximum number of plans for which an order is searched. In each additional
plan, blocked servers may not get the hosts to which they cannot move."""

_Barred = Mapping[str, Collection[str]]
"""Names of the hosts that members may not have, by path."""


@dataclass(frozen=True, slots=True)
class ActionCase:
    """A group whose definition may have changed.

    :ivar group: its document, not bound to a snapshot
    :ivar snapshot: snapshot of the whole cloud with all servers, and with the
        traffic of other groups on its links
    :ivar servers: servers of built members in Nova, by path
    :ivar refused: hosts that Nova refused for members
    """

    record: GroupRecord
    group: Group
    members: Sequence[MemberRecord]
    snapshot: Snapshot
    servers: Mapping[str, ServerStatus]
    refused: refused_hosts.Refused

    def changes(self) -> Mapping[str, ServerChange]:
        """The differences between each built server and the definition."""
        wanted = {each.path: each for each
                  in bind(self.group, self.snapshot).all_members()}
        return {
            path: change_of(row, wanted[path], self.servers.get(path),
                            self.snapshot)
            for row in self.members for path in [row.member.path]
            if row.state == MemberState.BUILT and path in wanted}


@dataclass(frozen=True, slots=True)
class FoundSequence:
    """
    :ivar planned_again: paths of planned members whose places are given up
        before the first move
    """

    sequence: MoveSequence
    planned_again: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Moves:
    """The moves of one plan, in no order."""

    context: MoveContext
    moves: Sequence[Move]

    def found(self, sequence: MoveSequence) -> FoundSequence:
        return FoundSequence(sequence, tuple(
            row.member.path for row in self.context.given_up))


class ActionSearch:
    """The search for plans in which certain members may move, and for their
    orders.

    :ivar reasons: reasons why no plan exists
    """

    def __init__(self, conf, snapshot_planner: SnapshotPlanner,
                 case: ActionCase, changes: Mapping[str, ServerChange],
                 free: Sequence[MemberRecord]):
        """
        :param changes: changes of all built members by path
        :param free: planned and built members that may move
        """
        self._conf = conf
        self._snapshot_planner = snapshot_planner
        self._case = case
        self._changes = changes
        self._free = free
        self.reasons: Sequence[Reason] = ()

    def best(self) -> FoundSequence | None:
        """The plan with the fewest blocked moves; None if there is no plan.

        Servers use intermediate hosts only if every plan blocks a move
        otherwise.
        """
        barred = {row.member.path: {row.place.host} for row in self._free
                  if row.state == MemberState.BUILT
                  and self._changes[row.member.path].flavor is not None}
        tried: list[_Moves] = []
        best: FoundSequence | None = None
        for _ in range(ATTEMPTS):
            hosts = self._solved(barred)
            if hosts is None:
                break
            tried.append(self._moves(hosts))
            found = tried[-1].found(longest_sequence(
                tried[-1].context, tried[-1].moves))
            obstacles = found.sequence.obstacles
            if best is None or len(obstacles) < len(best.sequence.obstacles):
                best = found
            if not obstacles:
                return found
            for move in obstacles:
                barred.setdefault(move.member, set()).add(move.destination)
        for each in tried:
            sequence = indirect_sequence(
                each.context, each.moves, self._suitable)
            if sequence is not None:
                return each.found(sequence)
        return best

    def _suitable(self, move: Move, host: Host) -> bool:
        """Whether a host meets the requirements of a server before or after
        its action, except for capacity and location."""
        case, row = self._case, self._changes[move.member].row
        if host.name in case.refused.get(row.member.description, ()):
            return False
        return any(fits(replace(row.member, requirements=replace(
            wanted, resources=FrozenMapping(), location=())), host)
            for wanted in (
                row.member.requirements, self._changes[move.member].wanted))

    def _solved(self, barred: _Barred) -> Mapping[str, str] | None:
        """New hosts of the free members; the others stay."""
        case, free = self._case, self._free
        occupying = [row for row in case.members if uses_capacity(row)]
        placed = {row.member.path: row.place.host for row in occupying
                  if row not in free}
        wanted = [row if row.member.path in placed else _without_barred(
            self._with_definition(row), barred) for row in occupying]
        group = with_preferences(
            violations.checked_rules(case.group, case.members),
            [row for row in wanted if row.member.path not in placed], wanted)
        request = PlanningRequest(
            group, case.record.objective, case.record.uuid, placed,
            violations.extra_servers(case.members), free,
            [host_of(row.place) for row in occupying if row not in free],
            case.refused)
        snapshot, why = self._snapshot_planner.usable(
            request, case.snapshot, links_counted=True)
        snapshot = _with_barred_traits(snapshot, barred)
        answer = solve(
            refused_hosts.with_forbidden_traits(group, case.refused), snapshot,
            placed=placed, objective=case.record.objective,
            settings=Settings(
                solver=self._conf.planner.solver,
                time_limit=self._conf.planner.time_limit))
        if isinstance(answer, Plan):
            return answer.hosts()
        self.reasons = (
            mark_names((*answer.reasons, *why), snapshot)
            if isinstance(answer, Unplaceable)
            else (of_engine(answer.message),))
        return None

    def _with_definition(self, row: MemberRecord) -> MemberRecord:
        """The row with the requirements of the definition, unless its server
        cannot get them."""
        change = self._changes.get(row.member.path)
        return (change.after() if change is not None
                and change.obstacle is None else row)

    def _moves(self, hosts: Mapping[str, str]) -> _Moves:
        """The moves to the hosts of a plan."""
        case, changes = self._case, self._changes
        moved = [row for row in self._free
                 if hosts[row.member.path] != row.place.host]
        planned = [row for row in moved if row.state == MemberState.PLANNED]
        moves = [_move(changes[row.member.path], hosts[row.member.path])
                 for row in moved if row.state == MemberState.BUILT]
        return _Moves(MoveContext(
            violations.checked_rules(case.group, case.members),
            [row for row in case.members
             if uses_capacity(row) and row not in planned],
            violations.with_known_hosts(case.snapshot, case.members),
            planned, violations.extra_servers(case.members)), moves)


def _move(change: ServerChange, host: str) -> Move:
    row = change.row
    return Move(
        row.member.path, row.instance_uuid or '', row.place.host, host,
        None if change.flavor is None
        else change.after().member.requirements.resources)


def _without_barred(row: MemberRecord, barred: _Barred) -> MemberRecord:
    """The row of a member that forbids the trait of its barred hosts."""
    path, found = row.member.path, row.member.requirements
    if path not in barred:
        return row
    return replace(row, member=replace(row.member, requirements=replace(
        found, forbidden_traits=found.forbidden_traits | {_trait(path)})))


def _with_barred_traits(snapshot: Snapshot, barred: _Barred) -> Snapshot:
    traits: dict[str, set[str]] = {}
    for path, names in barred.items():
        for name in names:
            traits.setdefault(name, set()).add(_trait(path))
    return replace(snapshot, hosts=tuple(
        replace(host, traits=host.traits | traits[host.name])
        if host.name in traits else host for host in snapshot.hosts)
    ) if traits else snapshot


def _trait(path: str) -> str:
    """A trait that no host has: Placement does not accept the name."""
    return f'barred:{path}'
