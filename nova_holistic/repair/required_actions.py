# SPDX-License-Identifier: Apache-2.0
"""The actions after which the servers of a group match its definition, in an
order that satisfies every hard policy at each step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.model.action import Action, ActionKind, ActionState
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.messages.marked_text import MarkedText
from nova_holistic.model.plan import Reason
from nova_holistic.repair.action_search import (
    ActionCase, ActionSearch, FoundSequence)
from nova_holistic.repair import move_order, violations
from nova_holistic.repair.move_order import Move, MoveSequence
from nova_holistic.repair.server_changes import MOVABLE, ServerChange
from nova_holistic.table.records import MemberRecord, MemberState

_STAY = FoundSequence(MoveSequence((), FrozenMapping()), ())
"""No server moves."""


@dataclass(frozen=True, slots=True)
class RequiredActions:
    """
    :ivar actions: actions of all built members: first the possible ones in
        their order, then the blocked ones
    :ivar planned_again: paths of planned members whose places are given up
        before the first action
    :ivar reasons: reasons why actions are blocked
    :ivar changes: changes of all built members by path
    :ivar images: UUIDs of the images with which servers are rebuilt, by path
        of the member
    """

    actions: tuple[Action, ...]
    planned_again: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    changes: Mapping[str, ServerChange] = field(
        default_factory=FrozenMapping)
    images: Mapping[str, str] = field(default_factory=FrozenMapping)

    @property
    def is_empty(self) -> bool:
        """Whether no server requires an action."""
        return all(each.kind == ActionKind.NOTHING for each in self.actions)


def propose(conf, snapshot_planner: SnapshotPlanner,
            case: ActionCase) -> RequiredActions:
    """
    :raises InvalidDocument: the cloud no longer has such a flavor or level
    """
    changes = case.changes()
    broken = violations.violations(case.group, case.members, case.snapshot)
    if not broken and not any(each.is_open or each.is_unwritten
                              for each in changes.values()):
        return _answer(changes, _STAY)
    moving = [Reason.of(row.member.path, MarkedText(
        'Nova is moving the server: wait until the move has ended, and '
        'confirm or revert a resize')) for row in case.members
        if row.destination is not None]
    if moving:
        return _answer(changes, _STAY, moving)
    why: Sequence[Reason] = ()
    for free in _movable_sets(case, changes):
        search = ActionSearch(conf, snapshot_planner, case, changes, free)
        found = search.best()
        if found is not None:
            return _answer(changes, found)
        why = search.reasons
    return _answer(changes, _STAY, why)


def _movable_sets(case: ActionCase, changes: Mapping[str, ServerChange]
                  ) -> Iterator[Sequence[MemberRecord]]:
    """Sets of members that may move, each larger than the previous one.
    Servers on disabled hosts may move only in the last set."""
    enabled = {host.name for host in case.snapshot.hosts if host.enabled}
    planned = [row for row in case.members
               if row.state == MemberState.PLANNED]
    able = [change for path, change in changes.items()
            if path in case.servers and change.obstacle is None
            and (change.is_open or case.servers[path].allows(MOVABLE))]
    last = None
    for chosen in (
            [each for each in able if each.is_open],
            [each for each in able
             if each.is_open or each.row.place.host in enabled], able):
        if chosen != last:
            yield [*planned, *(each.row for each in chosen)]
        last = chosen


def _answer(changes: Mapping[str, ServerChange], found: FoundSequence,
            why: Sequence[Reason] = ()) -> RequiredActions:
    """:param why: reason why no action can be carried out"""
    sequence = found.sequence
    reasons = [*why, *_order_reasons(sequence), *(
        each.obstacle for each in changes.values()
        if each.obstacle is not None)]
    blocked = {move.member: move for move in sequence.obstacles}
    last = {move.member: move for move in sequence.moves}
    carried = [_action(changes[move.member], move, ActionState.REQUIRED)
               if move is last[move.member]
               else _first_move(changes[move.member], move)
               for move in sequence.moves]
    moved = {action.member for action in carried}
    stuck = [_action(change, blocked.get(path), ActionState.BLOCKED,
                     [reason for reason in reasons if reason.at == path])
             for path, change in changes.items() if path not in moved
             and (path in blocked or change.is_open)]
    moved.update(action.member for action in stuck)
    return RequiredActions(
        (*carried, *stuck, *(
            _action(change, None, ActionState.DONE)
            for path, change in changes.items() if path not in moved)),
        found.planned_again, tuple(reasons), changes)


def _order_reasons(sequence: MoveSequence) -> Sequence[Reason]:
    if not sequence.obstacles:
        return ()
    return [Reason.of('', MarkedText(
        'no order of all actions satisfies the policies and has capacity at '
        'each step')), *(
            Reason.of(move.member, move_order.obstacle_text(move, why))
            for move, why in sequence.obstacles.items())]


def _action(change: ServerChange, move: Move | None, state: ActionState,
            why: Sequence[Reason] = ()) -> Action:
    row, flavor = change.row, change.flavor
    reasons = list(change.reasons)
    if move is not None and not reasons:
        reasons.append(Reason.of(row.member.path, MarkedText(
            'the hard policies of the group require another host for the '
            'server, or another server requires its capacity')))
    kind = (ActionKind.RESIZE if flavor is not None else ActionKind.MIGRATE
            if move is not None or change.is_open else ActionKind.NOTHING)
    target = row.place.host if kind == ActionKind.NOTHING else None
    current = row.member.requirements.flavor
    return Action(
        row.member.path, row.instance_uuid or '', kind, state,
        row.place.host if move is None else move.source,
        target if move is None else move.destination,
        current, current if flavor is None else change.wanted.flavor,
        tuple(each.to_row() for each in (*reasons, *why)))


def _first_move(change: ServerChange, move: Move) -> Action:
    """The move of a server to an intermediate host."""
    row = change.row
    current = row.member.requirements.flavor
    why = Reason.of(row.member.path, MarkedText(
        'the server moves to an intermediate host first: no other order of '
        'the actions satisfies the policies and has capacity at each step'))
    return Action(
        row.member.path, row.instance_uuid or '', ActionKind.MIGRATE,
        ActionState.REQUIRED, move.source, move.destination, current, current,
        (why.to_row(),))
