# SPDX-License-Identifier: Apache-2.0
"""The state machine of groups and the state machine of their members.

This module has no input or output. All code that changes the status of a group
or the state of a member takes the allowed transitions from here, except
``changes.mirrored_members``. ``doc/ext/state_drawing.py`` generates the
diagrams of the manual from this module.

To add a state: add it to ``GroupStatus`` or ``MemberState`` in ``records.py``
and its transitions to one of the two tuples below. Then
``tests/functional/engine/test_transitions.py`` requires a test of each
transition, and ``tests/functional/client/test_recovery_commands.py`` requires
a documented command that leads out of the state.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
import enum
from typing import Generic, TypeVar

from nova_holistic.table.records import GroupStatus, MemberState

State = TypeVar('State', bound=enum.StrEnum)


class IllegalTransition(Exception):
    """The program requested a transition that the state machine does not
    allow. This is an error in the program."""


@dataclass(frozen=True, slots=True)
class Transition(Generic[State]):
    """One edge of a state machine.

    :ivar name: a verb; several edges may have the same name
    :ivar cause: event that causes the transition, as a sentence for the manual
    """

    name: str
    before: State
    after: State
    cause: str


@dataclass(frozen=True)
class Machine(Generic[State]):
    """A state machine.

    :ivar first: initial state of a new row
    :ivar transitions: all edges
    """

    first: State
    transitions: Sequence[Transition[State]]

    def before(self, name: str) -> tuple[State, ...]:
        """States in which the transitions with this name begin."""
        return tuple(dict.fromkeys(
            t.before for t in self.transitions if t.name == name))

    def leading_to(self, after: State, names: Collection[str] | None = None
                   ) -> tuple[State, ...]:
        """The given state, and the states from which a transition leads to it.

        :param names: names of the permitted transitions; None permits all
        """
        return (after, *dict.fromkeys(
            t.before for t in self.transitions if t.after == after
            and (names is None or t.name in names)))

    def check(self, before: Collection[State], after: State) -> None:
        """Ensure that a row in any of these states may change to another
        state, or has this state already.

        :raises IllegalTransition: the change from one of the states is not
            permitted
        """
        allowed = self.leading_to(after)
        for state in before:
            if state not in allowed:
                raise IllegalTransition(
                    f'there is no transition from {state} to {after}')

    def must_begin(self, name: str, states: Collection[State]) -> None:
        """Ensure that the transition with this name begins in each of these
        states.

        :raises IllegalTransition: it does not begin in one of them
        """
        for state in states:
            if state not in self.before(name):
                raise IllegalTransition(
                    f'a row cannot {name}: it is {state}')


def _edges(name: str, before: Sequence[State], after: State,
           cause: str) -> tuple[Transition[State], ...]:
    return tuple(Transition(name, state, after, cause) for state in before)


_P, _C, _B, _F, _R, _L = (
    MemberState.PLANNED, MemberState.CLAIMED, MemberState.BUILT,
    MemberState.FAILED, MemberState.RELEASED, MemberState.LOST)

CLAIM, UNDO, REFUSE, BUILD, FAIL = 'claim', 'undo', 'refuse', 'build', 'fail'
RECLAIM, RELEASE, LOSE = 'reclaim', 'release', 'lose'
RETURN, VACATE, OCCUPY, REPLAN, REVISE, GROW = (
    'return', 'vacate', 'occupy', 'replan', 'revise', 'grow')
ADOPT, DETACH = 'adopt', 'detach'

MEMBERS = Machine(_P, (
    *_edges(CLAIM, [_P], _C,
            'The create of a server with a pointer takes the place.'),
    *_edges(BUILD, [_C, _F], _B, 'The server has run.'),
    *_edges(FAIL, [_C], _F,
            'The server is in ERROR on a host and has never run.'),
    *_edges(UNDO, [_C], _P,
            'The create fails, or the server is deleted. The place is held '
            'again.'),
    *_edges(REFUSE, [_C], _L,
            'The create fails, or the server is deleted, and the place cannot '
            'be held again: Nova refuses the host, its room is taken, or an '
            'update has changed the definition of the member.'),
    *_edges(RECLAIM, [_B, _F], _C,
            'The server is deleted. An engine takes the member back.'),
    *_edges(RETURN, [_C], _R,
            'The server is deleted after the lease, or after a release of the '
            'member; or the group has as many servers as are desired.'),
    *_edges(GROW, [_R], _C,
            'The create of a server with a pointer gets a new place.'),
    *_edges(LOSE, [_P], _L,
            'The host is unavailable for too long, or the hold is removed and '
            'its room is taken.'),
    *_edges(VACATE, [_P], _L,
            'An update moves the member and needs its room for that.'),
    *_edges(OCCUPY, [_L], _P,
            'An update that has vacated the member is undone.'),
    *_edges(REPLAN, [_L], _P, 'The member is held at another place.'),
    *_edges(REVISE, [_L, _R], _P,
            'An update of the group plans the member again.'),
    *_edges(REVISE, [_F], _P,
            'An update of the group changes the description of the member.'),
    *_edges(ADOPT, [_P, _L, _F, _R], _B,
            'The group adopts an existing server as the member.'),
    *_edges(DETACH, [_B], _R,
            'The user detaches the server from the group.'),
    *_edges(RELEASE, [_P, _L, _F], _R,
            'The user releases the member or its group.'),
))
"""A member may also be removed in any state: its row is deleted."""

OCCUPYING = (_P, _C, _B)
"""States of a member that uses capacity at its place."""

AT_HOSTS = (*OCCUPYING, _F)
"""States of a member that counts at a host. The server of a failed member is
in ERROR on its host. It may run later, and its place is held again after it is
deleted."""

EXPIRE_STATES = (_P, _L)
"""States of a member that is planned, or will be planned, for a future server.
It is released when the lease expires."""

_GP, _GD, _GB, _GC, _GX, _GU, _GR, _GE = (
    GroupStatus.PLANNING, GroupStatus.PLANNED, GroupStatus.BUILDING,
    GroupStatus.COMPLETE, GroupStatus.DEGRADED, GroupStatus.UNPLACEABLE,
    GroupStatus.RELEASED, GroupStatus.ERROR)

PLAN, REJECT, BREAK, START, SETTLE, DEGRADE, RECOVER = (
    'plan', 'reject', 'break', 'start', 'settle', 'degrade', 'recover')

GROUPS = Machine(_GP, (
    *_edges(PLAN, [_GP, _GU, _GE], _GD,
            'The group is planned, and all its places are held.'),
    *_edges(REJECT, [_GP, _GE], _GU, 'There is no plan.'),
    *_edges(BREAK, [_GP, _GU], _GE,
            'Planning fails; the reasons of the group state why.'),
    *_edges(START, [_GD], _GB, 'The first member is claimed.'),
    *_edges(SETTLE, [_GB], _GC,
            'Every member is built or released, and one at least is built.'),
    *_edges(SETTLE, [_GC], _GB,
            'A member is planned again or added; another one is built.'),
    *_edges(GROW, [_GR], _GB,
            'The create of a server with a pointer adds a member.'),
    *_edges(SETTLE, [_GR], _GB,
            'The group adopts a server, and not every member is built.'),
    *_edges(SETTLE, [_GD, _GR], _GC,
            'The group adopts servers, and every member is built or '
            'released.'),
    *_edges(SETTLE, [_GB, _GC, _GX, _GR], _GD,
            'No member has a server, and one at least is planned or lost.'),
    *_edges(SETTLE, [_GD, _GB, _GC, _GX], _GR, 'Every member is released.'),
    *_edges(DEGRADE, [_GB, _GC], _GX,
            'The servers violate a hard policy at their current places.'),
    *_edges(RECOVER, [_GX], _GB,
            'The servers satisfy all hard policies again, and not every '
            'member is built.'),
    *_edges(RECOVER, [_GX], _GC,
            'The servers satisfy all hard policies again, and every member is '
            'built or released.'),
))
"""A group may also be deleted in any status except ``planning``."""

BY_TASK = (PLAN, REJECT, BREAK, DEGRADE, RECOVER)
"""Transitions with which an engine ends a task."""
