# SPDX-License-Identifier: Apache-2.0
"""Plans as many lost members as possible, in the order of the document.

Each accepted set of members was planned as a whole, together with the members
that are placed, so that all policies are satisfied.
"""

from collections.abc import (
    Callable, Hashable, Iterator, Mapping, Sequence)
from dataclasses import dataclass, replace

from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, NotPlanned, PlanningRequest)
from nova_holistic.model.elastic.optional_members import Unit
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.plan import Reason

Decide = Callable[[PlanningRequest, float], CheckedPlan]
"""Plans the members of a request within a number of seconds, or raises
NotPlanned."""


@dataclass(frozen=True, slots=True)
class PartialPlan:
    """A plan in which some of the lost members have places.

    :ivar request: request for the members that stay and those that are
        accepted
    :ivar decision: None if no member is accepted
    :ivar accepted: paths of lost members
    :ivar reasons: reasons for members without places; a reason names its
        members. If members may be left out, they are ``missing``
    """

    request: PlanningRequest
    decision: CheckedPlan | None
    accepted: frozenset[str]
    reasons: Sequence[Reason]


class PartialPlanner:
    """Divides the members into halves until each part is accepted, or is a
    single member that cannot be placed.

    If a member cannot be placed, no equal member is tried, because it cannot
    be placed either. So 1000 equal members need about 20 plans.
    """

    def __init__(self, request: PlanningRequest, decide: Decide,
                 kinds: Mapping[str, Hashable],
                 remaining: Callable[[], float],
                 units: Mapping[str, Unit] | None = None):
        """
        :param request: request for the members that stay and all lost members
        :param kinds: the properties that equal members share, by the path of
            each lost member
        :param remaining: returns the number of remaining seconds
        :param units: members that are accepted together, by the path in
            ``kinds`` that stands for them, in an order in which each unit
            follows the unit that it needs; None means single members
        """
        self._optional = units is not None
        self._units = units or {
            path: Unit(path, path, frozenset([path])) for path in kinds}
        paths = [m.path for m in request.group.all_members()]
        self._unmoved = frozenset(paths).difference(*(
            unit.members for unit in self._units.values()))
        self._request = request
        self._decide = decide
        self._kinds = kinds
        self._remaining = remaining
        self._accepted: list[str] = []
        self._answer: tuple[PlanningRequest, CheckedPlan] | None = None
        self._refused: dict[Hashable, Sequence[Reason]] = {}
        self._untried: list[str] = []

    def plan(self, refusal: Sequence[Reason]) -> PartialPlan:
        """A plan for as many lost members as possible.

        :param refusal: the reason why not all of the lost members can be
            placed, from an earlier attempt
        """
        paths = list(self._units)
        self._divide(paths, refusal)
        request, decision = self._answer or (self._request, None)
        return PartialPlan(request, decision, frozenset(self._accepted),
                           self._reasons(paths))

    def _divide(self, paths: Sequence[str],
                refusal: Sequence[Reason]) -> None:
        """Accept as many as possible of the members that were refused
        together."""
        if len(paths) == 1:
            self._refused[self._kinds[paths[0]]] = refusal
            return
        half = len(paths) // 2
        self._extend(paths[:half])
        self._extend(paths[half:])

    def _extend(self, paths: Sequence[str]) -> None:
        """Accept as many of these members as possible."""
        paths = list(self._possible(paths))
        if not paths:
            return
        seconds = self._remaining()
        if seconds <= 0:
            self._untried.extend(paths)
            return
        planned_paths = self._unmoved.union(
            *(self._units[path].members
              for path in (*self._accepted, *paths)))
        request = replace(self._request,
                          group=self._request.group.only(planned_paths))
        try:
            self._answer = request, self._decide(request, seconds)
            self._accepted.extend(paths)
        except NotPlanned as end:
            self._divide(paths, end.reasons)

    def _possible(self, paths: Sequence[str]) -> Iterator[str]:
        """The paths of units that are not known to be refused and whose
        needed units are accepted."""
        chosen = set(self._accepted)
        for path in paths:
            needs = self._units[path].needs
            if self._kinds[path] not in self._refused and (
                    needs in chosen or needs not in self._units):
                chosen.add(path)
                yield path

    def _reasons(self, paths: Sequence[str]) -> Sequence[Reason]:
        """Each reason once, with the names of its members before it."""
        accepted = set(self._accepted)
        left = [path for path in paths if path not in accepted]
        found: dict[Reason, list[str]] = {}
        for kind, reasons in self._refused.items():
            refused = [path for path in left if self._kinds[path] == kind]
            for each in (_reason(refused, 'cannot be placed, for the reasons '
                                          'that follow'), *reasons):
                found.setdefault(each, []).extend(refused)
        untried = [path for path in self._untried
                   if self._kinds[path] not in self._refused]
        if untried:
            found[_reason(untried, 'no place was found before the time limit '
                                   'for planning was reached')] = untried
        # Lost members have rows, which state that they have no places.
        return tuple(replace(reason, missing=tuple(
            members if self._optional else ()))
            for reason, members in found.items())


def kinds(group: Group, paths: Sequence[str]) -> Mapping[str, Hashable]:
    """The properties of each path that are equal for members that any plan may
    exchange: their group, their requirements, and the sides of relationships
    to which they belong."""
    sides: dict[str, list[tuple[str, int, int]]] = {}
    for scope in group.scopes():
        for number, rule in enumerate(scope.group.relationships):
            for side, members in enumerate(rule.sides(scope)):
                for member in members:
                    sides.setdefault(member.path, []).append(
                        (scope.path, number, side))
    planned_paths = frozenset(paths)
    return {member.path: (_parent(member), member.requirements,
                          tuple(sides.get(member.path, ())))
            for member in group.all_members() if member.path in planned_paths}


def _parent(member: Member) -> str:
    return member.path.rpartition('/')[0]


def _reason(paths: Sequence[str], message: str) -> Reason:
    return Reason(', '.join(paths), message, (), ())
