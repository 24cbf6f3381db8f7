# SPDX-License-Identifier: Apache-2.0
"""Minimal sets of a group's elements that together permit no plan.

A set is minimal if no element can be removed from it: an irreducible
infeasible subset (IIS). The search finds it by division, as in Junker,
QUICKXPLAIN: Preferred Explanations and Relaxations for Over-Constrained
Problems (AAAI 2004). Then it proves element by element that the set is
minimal, with the deletion filter of Chinneck and Dravnieks, Locating Minimal
Infeasible Constraint Sets in Linear Programs (ORSA Journal on Computing 3,
1991).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.solver.construct.greedy import any_plan
from nova_holistic.solver.diagnosis.contradiction import contradiction
from nova_holistic.solver.diagnosis.elements import Element, elements, keeping
from nova_holistic.solver.diagnosis.relaxation import has_no_plan
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.milp.backend import Backend, Status
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, InTime, OutOfTime
from nova_holistic.solver.problem.feasibility import Feasibility
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.subproblem import Subproblem

FeasibilityTest = Callable[[Sequence[Element]], bool | None]
"""Whether a plan exists for these elements; None if unknown."""


@dataclass(frozen=True, slots=True)
class IIS:
    """Elements that permit no plan.

    :ivar case: the case of a group with only these elements
    :ivar bare: the case without requirements
    :ivar minimal: whether it is proved that no element can be removed
    :ivar without: for an element, a plan that satisfies all others, if known
    """

    elements: tuple[Element, ...]
    case: Case
    bare: Case
    minimal: bool
    without: dict[Element, dict[str, Host]] = field(default_factory=dict)


class FeasibilityTests:
    """Tests of groups with some of the elements.

    :ivar plans: for sets of elements, a plan that a test found
    """

    def __init__(self, case: Case, backend: Backend, deadline: Deadline):
        self._case = case
        self._backend = backend
        self._deadline = deadline
        self._known: dict[frozenset[Element], bool | None] = {}
        self.plans: dict[frozenset[Element], dict[str, Host]] = {}

    @property
    def group(self) -> Group:
        return self._case.group

    def case(self, kept: Sequence[Element], in_time: InTime) -> Case:
        """The case of the group with only these elements."""
        table, placed = self._case.table, self._case.placed
        return Case.of(
            keeping(self.group, kept, in_time), self._case.snapshot,
            {path: table.hosts[h].name for path, h in placed.items()},
            in_time, Subproblem(table))

    def find_iis(self, found: Sequence[Element], minimal: bool,
                 in_time: InTime) -> IIS:
        """The IIS of these elements, with the plans that the tests found.

        :param minimal: whether it is proved that no element can be removed
        """
        whole = frozenset(found)
        return IIS(
            tuple(found), self.case(found, in_time),
            self.case([each for each in found if each.is_policy], in_time),
            minimal,
            {each: self.plans[whole - {each}] for each in found
             if whole - {each} in self.plans})

    def counted(self, kept: Sequence[Element]) -> bool | None:
        """False if counting finds a contradiction, else True."""
        in_time = self._deadline.check
        return contradiction(self.case(kept, in_time), in_time) is None

    def relaxed(self, kept: Sequence[Element]) -> bool | None:
        """False if counting or a relaxation proves that no plan exists, else
        True."""
        case = self.case(kept, self._deadline.check)
        return contradiction(case, self._deadline.check) is None and (
            not has_no_plan(case, self._deadline))

    def solved(self, kept: Sequence[Element]) -> bool | None:
        """Whether a plan exists for these elements, according to counting,
        greedy construction or the solver; None if unknown.

        :raises OutOfTime: if no time is left
        """
        key = frozenset(kept)
        if key not in self._known:
            self._known[key] = self._solve(key, kept)
        return self._known[key]

    def _solve(self, key: frozenset[Element],
               kept: Sequence[Element]) -> bool | None:
        case = self.case(kept, self._deadline.check)
        if contradiction(case, self._deadline.check) is not None:
            return False
        counts = any_plan(case, self._deadline)
        if counts is None and has_no_plan(case, self._deadline):
            return False
        if counts is None:
            program = Program(case, Feasibility(), self._deadline)
            program.minimise_cost()
            outcome = self._backend.solve(program.problem, gap=0, seconds=min(
                self._deadline.for_solver(
                    self._backend.overhead_per_variable * program.size),
                limits().attempt_share * self._deadline.left()))
            if outcome.status is Status.INFEASIBLE:
                return False
            if not outcome.solved:
                return None
            counts = program.read()
            if not case.fits(counts):
                return None
        self.plans[key] = case.placement(counts)
        return True


def find_iis(case: Case, backend: Backend, deadline: Deadline,
             conflict: Sequence[ScopedPolicy] | None = None) -> IIS:
    """Find an IIS of a case that is known to have no plan.

    If the time limit is reached, the result is the smallest known set, which
    may not be minimal.

    :param conflict: policies that counting found to contradict each other
    :raises OutOfTime: if the time is not sufficient for any result
    """
    tests = FeasibilityTests(case, backend, deadline.part(limits().main_share))
    found = list(elements(case.group))
    try:
        possible = tests.counted
        if conflict is None:
            possible = tests.solved if tests.relaxed(found) else tests.relaxed
        else:
            hint = [each for each in found if not each.is_policy
                    or _is_among(each, conflict)]
            found = hint if tests.counted(hint) is False else found
        fewer = _divided(found, possible)
        # Removing one element can make another harder to satisfy, and the
        # remaining elements may then not contradict each other.
        if possible(fewer) is False:
            found = fewer
    except OutOfTime:
        return tests.find_iis(found, False, deadline.check)
    found, minimal = _filtered(found, tests)
    return tests.find_iis(found, minimal, deadline.check)


def _is_among(element: Element, policies: Sequence[ScopedPolicy]) -> bool:
    return any(element.at == each.scope.path
               and each.scope.group.rules[int(element.name)] is each.policy
               for each in policies)


def _divided(found: list[Element], possible: FeasibilityTest) -> list[Element]:
    """Find a subset without a plan by division. Elements at the front of the
    list are preferred."""
    if possible([]) is False:
        return []

    def search(kept: list[Element], is_untested: bool,
               rest: list[Element]) -> list[Element]:
        # The kept elements alone permit no plan, so the rest is not needed.
        if is_untested and possible(kept) is False:
            return []
        if len(rest) == 1:
            return rest
        half = len(rest) // 2
        second = search(kept + rest[:half], True, rest[half:])
        first = search(kept + second, bool(second), rest[:half])
        return first + second

    chosen = set(search([], False, found)) if found else set()
    return [each for each in found if each in chosen]


def _filtered(found: list[Element],
              tests: FeasibilityTests) -> tuple[list[Element], bool]:
    """Remove elements until no further element can be removed. Return the
    others, and whether it is proved that they are minimal.

    Removing a requirement can make a rule harder to satisfy. Therefore all
    elements are tested again after each removal.
    """
    while True:
        answers = []
        for each in found:
            rest = [other for other in found if other is not each]
            try:
                solvable = tests.solved(rest)
            except OutOfTime:
                return found, False
            if solvable is False:
                found = rest
                break
            answers.append(solvable)
        else:
            return found, all(answers)
