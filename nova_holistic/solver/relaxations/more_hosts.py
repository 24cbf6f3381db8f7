# SPDX-License-Identifier: Apache-2.0
"""The minimum number of empty hosts of one kind that make a group fit.

Hosts are offered at every place, and the solver minimises the number of used
offers. With s hosts at every place, the offers contain every combination of up
to s hosts. Therefore, a proof that s hosts are not enough is valid for all
places.
"""

from collections.abc import Callable, Iterator, Sequence
from collections import Counter
from dataclasses import dataclass
import math

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.relaxations import AddedHosts, MoreHosts
from nova_holistic.solver.check import check
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.relaxations.host_kinds import kinds
from nova_holistic.solver.relaxations.host_offers import (
    anywhere, next_to_hosts, NewHosts, Offer, offers, Place, with_offers)
from nova_holistic.solver.relaxations.trials import is_monotone, Trials

_NEVER = math.inf

Places = Callable[[Snapshot, int], Iterator[Place]]
"""Yields the places for new hosts, with this number of hosts at each place."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Bounds on the number of hosts of one kind.

    :ivar hosts: hosts with which the group fits; () if none were found
    :ivar at_least: proved lower bound on the number of hosts of the kind
    """

    hosts: tuple[Offer, ...]
    at_least: float


def more_hosts(group: Group, snapshot: Snapshot,
               trials: Trials) -> tuple[MoreHosts | None, bool]:
    """Find the minimum number of empty hosts of one kind with which the group
    fits. New domains are tried only if hosts next to existing hosts are not
    enough.

    :param group: a group that has no plan
    :returns: the hosts, or None; and whether it is proved that no number of
        hosts of one kind is enough
    """
    question = _Question(group, snapshot, bind(
        trials.constrain(group, snapshot), snapshot))
    try:
        suitable = kinds(question.bound, snapshot, trials.deadline.check)
    except OutOfTime:
        return None, False
    found, _ = _of_all_kinds(
        question, suitable, next_to_hosts, trials.part(limits().program_share))
    if found is not None:
        return found, False
    return _of_all_kinds(question, suitable, anywhere, trials)


@dataclass(frozen=True, slots=True)
class _Question:
    """A group that does not fit.

    :ivar bound: the group with resolved resources
    """

    group: Group
    snapshot: Snapshot
    bound: Group


def _of_all_kinds(question: _Question, suitable: Sequence[Host],
                  places: Places,
                  trials: Trials) -> tuple[MoreHosts | None, bool]:
    """The fewest hosts of the kinds, as ``more_hosts`` returns them. After the
    time limit, those of the kinds that were tried before.

    :param suitable: an empty host of each kind
    """
    best: tuple[Host, tuple[Offer, ...]] | None = None
    at_least = _NEVER
    most = len(question.bound.all_members())
    for kind in suitable:
        found = _Search(question, kind, places, trials).fewest(
            len(best[1]) - 1 if best else most)
        at_least = min(at_least, found.at_least)
        if found.hosts:
            best = kind, found.hosts
    if best is None:
        return None, at_least == _NEVER
    return _described(question.snapshot, *best, at_least), False


class _Search:
    """The search for the minimum number of hosts of one kind."""

    def __init__(self, question: _Question, kind: Host, places: Places,
                 trials: Trials):
        self._question = question
        self._kind = kind
        self._places = places
        self._trials = trials
        self._monotone = is_monotone(question.bound)

    def fewest(self, most: int) -> _Found:
        """Find the minimum number of hosts of the kind."""
        # The group does not fit without more hosts.
        at_least, each = 1.0, 1
        while each <= most:
            found = self._offered(each)
            if found is None:
                return _Found((), at_least)
            if found.hosts:
                return self._fewer(found, most)
            if self._monotone:
                at_least = each + 1
            each = most if each < most < 2 * each else 2 * each
        whole = most == len(self._question.bound.all_members())
        return _Found((), _NEVER if whole and self._monotone else at_least)

    def _fewer(self, found: _Found, most: int) -> _Found:
        """Search again with fewer offers at every place: one less than the
        number of hosts that were found."""
        number = len(found.hosts)
        if found.at_least < number and number > 2:
            again = self._offered(number - 1)
            if again is not None:
                found = _Found(
                    again.hosts if 0 < len(again.hosts) < number
                    else found.hosts,
                    min(number, max(found.at_least, again.at_least)))
        return found if len(found.hosts) <= most else _Found(
            (), found.at_least)

    def _offered(self, each: int) -> _Found | None:
        """The result with this number of hosts at every place; None if it is
        unknown."""
        question = self._question
        try:
            offered = offers(question.bound, question.snapshot, self._kind,
                             self._places(question.snapshot, each),
                             self._trials.deadline.check)
        except OutOfTime:
            return None
        if offered is None:
            return None
        if not offered:
            return _Found((), _NEVER)
        answer = self._trials.plan(
            question.group, with_offers(question.snapshot, offered),
            NewHosts(frozenset(each.host.name for each in offered)))
        if isinstance(answer, Unknown):
            return None
        if isinstance(answer, Unplaceable):
            return _Found((), each + 1 if self._monotone else 1)
        used = self._used(answer, offered)
        return used and _Found(used, max(1, min(
            answer.objective.bound, each + 1)) if self._monotone else 1)

    def _used(self, plan: Plan,
              offered: Sequence[Offer]) -> tuple[Offer, ...] | None:
        """The hosts that the group needs; None if it also needs offered hosts
        without members."""
        question, at = self._question, set(plan.hosts().values())
        used = tuple(each for each in offered if each.host.name in at)
        after = with_offers(question.snapshot, used)
        constrained = self._trials.constrain(question.group, after)
        return None if check(constrained, after, plan.hosts()) else used


def _described(snapshot: Snapshot, kind: Host, used: tuple[Offer, ...],
               at_least: float) -> MoreHosts:
    added = Counter((each.host.location, each.template_host) for each in used)
    known = {host.location for host in snapshot.hosts}
    return MoreHosts(
        len(used), kind.name, tuple(
            AddedHosts(location, beside, number)
            for (location, beside), number in sorted(added.items())),
        any(each.host.location not in known for each in used),
        at_least >= len(used))
