# SPDX-License-Identifier: Apache-2.0
"""Contradictions of rules and requirements that counting can find, before the
solver starts.

Each test checks a necessary condition of every plan: if it fails, no plan
exists. The tests take milliseconds on a cloud of any size. Passing all tests
does not prove that a plan exists. If members are confined to one domain of
several, each domain is tried in turn.
"""

from collections.abc import Sequence
from collections import defaultdict
from dataclasses import replace
import itertools

import numpy as np

from nova_holistic.solver.diagnosis.room import Room
from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, Disjoint, Infeasible, MaxDomains, MaxSkew, MinDomains, Shape,
    shapes, Unrecognised)
from nova_holistic.solver.limits.current import diagnosis as limits
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import InTime, no_limit
from nova_holistic.solver.problem.rows import ScopedPolicy


def contradiction(case: Case, in_time: InTime = no_limit
                  ) -> list[ScopedPolicy] | None:
    """Policies that cannot all be satisfied together with the requirements of
    members, according to counting. None if counting proves nothing."""
    return propagated(case, in_time)[0]


def propagated(case: Case, in_time: InTime = no_limit
               ) -> tuple[list[ScopedPolicy] | None, Case]:
    """Contradicting policies as in ``contradiction``, and the case without
    room in the places that counting excludes. No plan uses these places."""
    count = CountingTest(case, shapes(case.rules, in_time), in_time)
    found = count.contradiction()
    if found is not None:
        found = [each for each in case.policies
                 if any(each is other for other in found)]
    return found, replace(case, room=count.room)


class CountingTest(Room):
    """The room for members, and tests of the rules against it."""

    def __init__(self, case: Case, found: Sequence[Shape],
                 in_time: InTime = no_limit):
        super().__init__(case, in_time)
        self.shapes = found
        self._closing: list[ScopedPolicy] = []
        for shape in found:
            if isinstance(shape, CountCap):
                numbers, caps = _caps(shape)
                if self.close(shape.scope, shape.level,
                              numbers[caps == 0].tolist()):
                    self._closing.append(shape.carried)

    def contradiction(self, probes: bool = True) -> list[ScopedPolicy] | None:
        """Policies of one contradiction; None if counting finds none.

        :param probes: whether to try the domains of members that are confined
            to one of several
        """
        if self._short():
            return self._closing
        for shape in self.shapes:
            if self._breaks(shape):
                return [shape.carried, *self._needing(shape), *self._closing]
        self.work[0] = 0 if probes else self.work[0]
        for shape in self.shapes if probes else ():
            if isinstance(shape, MaxDomains):
                found = self._probe_domains(shape)
                if found is not None:
                    return [shape.carried, *found, *self._closing]
        return None

    def within(self, shape: MaxDomains, domain: int) -> 'CountingTest | None':
        """A copy with the shape's members confined to that domain; None if
        some of them stay elsewhere."""
        placed_counts = self.placed_counts(shape.scope, shape.level)
        elsewhere = shape.domains - {domain}
        if any(placed_counts[n] for n in elsewhere):
            return None
        count = self.copied()
        # Shapes of other members are not affected, and need no test.
        count.shapes = [
            each for each in self.shapes if each is not shape
            and not self.paths(each.scope).isdisjoint(
                self.paths(shape.scope))]
        count.close(shape.scope, shape.level, elsewhere)
        return count

    def _short(self) -> bool:
        """Whether one class, or all classes together, have too little room."""
        demand: dict[str, int] = defaultdict(int)
        self.count_work(len(self.case.classes))
        for c, each in enumerate(self.case.classes):
            if self.room[c].sum() < len(each.members):
                return True
            for name, amount in self.demands[c].items():
                demand[name] += amount * len(each.members)
        usable = (self.room > 0).any(axis=0) if demand else None
        all_classes = range(len(self.case.classes))
        if self.most_on_hosts(all_classes).sum() < sum(
                len(each.members) for each in self.case.classes):
            return True
        return any(
            amount > self.case.table.amounts(name).free[usable].clip(0).sum()
            for name, amount in demand.items())

    def _breaks(self, shape: Shape) -> bool:
        if isinstance(shape, Infeasible | Unrecognised):
            return isinstance(shape, Infeasible)
        takes = self.takes(shape.scope, shape.level)
        if isinstance(shape, CountCap):
            placed_counts = self.placed_counts(shape.scope, shape.level)
            numbers, caps = _caps(shape)
            return self.allowed(shape) < self.members(shape.scope) or bool(
                (placed_counts[numbers] > caps).any())
        if isinstance(shape, MinDomains):
            here = sum(takes[n] > 0 for n in shape.domains)
            return min(here, self.members(shape.scope)) < shape.least
        if isinstance(shape, MaxSkew):
            return self.is_uneven(shape) or (
                self.skew_capacity(shape) < self.members(shape.scope))
        if isinstance(shape, MaxDomains):
            return self.largest_domains(shape) < self.members(shape.scope)
        if isinstance(shape, Disjoint):
            needed, here = self.disjoint_domains(shape)
            return here < needed
        return False

    def allowed(self, shape: CountCap) -> int:
        """Maximum number of the scope's members that the cap permits."""
        takes = self.takes(shape.scope, shape.level)
        numbers, caps = _caps(shape)
        takes[numbers] = np.minimum(takes[numbers], caps)
        return int(takes.sum())

    def skew_capacity(self, shape: MaxSkew) -> int:
        """Maximum number of the scope's members within the maximum skew."""
        takes = self.takes(shape.scope, shape.level)
        inside = sorted(shape.domains)
        most = takes[inside].min() + shape.skew
        takes[inside] = np.minimum(takes[inside], most)
        return int(takes.sum())

    def is_uneven(self, shape: MaxSkew) -> bool:
        """Whether equal numbers are required but the members cannot be
        divided."""
        takes = self.takes(shape.scope, shape.level)
        inside = sorted(shape.domains)
        elsewhere = takes.sum() - takes[inside].sum()
        return (shape.skew == 0 and not elsewhere
                and self.members(shape.scope) % len(inside) != 0)

    def largest_domains(self, shape: MaxDomains) -> int:
        """Maximum number of the scope's members in the permitted number of
        domains."""
        takes = self.takes(shape.scope, shape.level)
        inside = sorted(shape.domains)
        best = np.sort(takes[inside])[::-1][:shape.most].sum()
        return int(takes.sum() - takes[inside].sum() + best)

    def disjoint_domains(self, shape: Disjoint) -> tuple[int, int]:
        """Number of domains that both sides together need, and number of
        available domains."""
        level = shape.level
        either = {int(n) for scope in (shape.scope, shape.other)
                  for n in np.flatnonzero(self.takes(scope, level))}
        # All members of a side may have left the group.
        needed = sum(max((n for n, _ in self.needs(scope, level)), default=1)
                     for scope in (shape.scope, shape.other)
                     if self.members(scope))
        # If members may share a domain, or be in none, the test does not
        # apply.
        return needed, len(either) if either <= shape.domains else needed

    def needs(self, scope: int, level: str) -> list[tuple[int, ScopedPolicy]]:
        """Numbers of domains that are needed by rules on the scope or on some
        of its members."""
        paths = self.paths(scope)
        return [(self._fewest_domains(shape), shape.carried)
                for shape in self.shapes
                if isinstance(shape, CountCap | MinDomains) and shape.level
                == level and self.paths(shape.scope) <= paths]

    def _fewest_domains(self, shape: CountCap | MinDomains) -> int:
        """The smallest number of domains that hold the shape's members.

        A cap limits only the domains that it names: a domain without a limit
        may hold all members, and so may the hosts in no domain.
        """
        if isinstance(shape, MinDomains):
            return shape.least
        members = self.members(shape.scope)
        takes = self.takes(shape.scope, shape.level)
        outside = len(takes) - 1
        if takes[outside] and shape.most(-1, members) >= members:
            return 0
        holds = sorted((shape.most(n, members) for n in np.flatnonzero(
            takes[:outside]).tolist()), reverse=True)
        for number, held in enumerate(itertools.accumulate(holds), 1):
            if held >= members:
                return number
        return len(holds)

    def _needing(self, shape: Shape) -> list[ScopedPolicy]:
        """Policies with the numbers of domains that a Disjoint shape needs."""
        if not isinstance(shape, Disjoint):
            return []
        return [carried for scope in (shape.scope, shape.other)
                for _, carried in self.needs(scope, shape.level)]

    def _probe_domains(self, shape: MaxDomains) -> list[ScopedPolicy] | None:
        """Policies that together exclude every domain of the shape; None if
        some place may be possible. Domains that are proved impossible are
        closed. After the limit of work, the other domains count as possible.
        """
        if shape.most != 1:
            return None
        takes = self.takes(shape.scope, shape.level)
        outside = set(range(-1, len(takes) - 1)) - shape.domains
        need = self.members(shape.scope) - sum(takes[n] for n in outside)
        possible = [n for n in sorted(shape.domains) if takes[n] >= need]
        fine, conflict = [], []
        for n in possible:
            found: list[ScopedPolicy] | None = None
            if self.work[0] <= limits().probing_places:
                count = self.within(shape, n)
                found = [] if count is None else count.contradiction(False)
            if found is None:
                fine.append(n)
            else:
                conflict.extend(found)
        if fine:
            self.close(shape.scope, shape.level, shape.domains - {*fine})
        return None if fine or any(takes[n] for n in outside) else conflict


def _caps(shape: CountCap) -> tuple[np.ndarray, np.ndarray]:
    """The domains of a cap, and the limit of each of them."""
    number = len(shape.limits)
    return (np.fromiter(shape.limits, np.int64, number),
            np.fromiter(shape.limits.values(), np.int64, number))
