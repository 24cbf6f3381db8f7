# SPDX-License-Identifier: Apache-2.0
"""From a greedy start to the best plan that time allows."""

from collections.abc import Callable

import numpy as np

from nova_holistic.model.objective import Objective
from nova_holistic.solver import bound as bounds
from nova_holistic.solver.backend import Backend, Outcome, Status
from nova_holistic.solver.candidates import candidates
from nova_holistic.solver.case import Case, Counts
from nova_holistic.solver.deadline import Deadline, OutOfTime
from nova_holistic.solver.greedy import greedy
from nova_holistic.solver.indifferent import Indifferent
from nova_holistic.solver.nearby import nearby, stay
from nova_holistic.solver.program import Program
from nova_holistic.solver.relaxation import Relaxation, pooled
from nova_holistic.solver.verdict import Verdict

SMALL = 2000
"""Programs of fewer variables are solved until no better plan can be."""

WHOLE = 20_000
"""Places (class and host) up to which the whole program is built at once."""

RELAXED = 20_000
"""Places (pool of classes and host) up to which a relaxation is built."""

NARROW = 6_000
"""Places in a program of fewer hosts, at first."""

_NARROWEST = 12
_RELAXATION = 0.3
"""Share of the time for the bound, where the program is not whole."""

_REPAIRS = 20
_PREFERENCES = 0.5
"""Share of the time for preferences, where a plan is known already."""

_FAR = 0.1
"""Gap of a plan beyond which it is not taken as it is dealt."""

_PART = 0.25
"""Share of the time left for each program near a plan, and for the whole one
after these."""


class Search:
    """Preferences are minimised first and held, then the objective.

    :ivar best: the best plan so far, kept whatever happens later
    :ivar bound: proved of the objective, among plans whose preferences are
        met as well as in ``best``
    :ivar solving: seconds spent in the solver
    """

    def __init__(self, case: Case, objective: Objective, backend: Backend,
                 deadline: Deadline, gap: float):
        self.best: Counts | None = None
        self.bound: float | None = None
        self.solving = 0.0
        self._case = case
        self._objective = objective
        self._backend = backend
        self._deadline = deadline
        self._gap = gap
        self._least = 0.0
        self._worth = (float('inf'), float('inf'))
        self._placed = {path: case.table.hosts[h].name
                        for path, h in case.placed.items()}

    def run(self, start: Counts | None = None,
            within: Callable[[float], float | None] = lambda cost: None
            ) -> Verdict:
        """From a start, if there is one, and with bounds as ``improve``."""
        verdict, known = Verdict.GOOD, None
        try:
            self._offer(greedy(self._case, self._objective, self._deadline))
            self._offer(start)
            if self.best is not None:
                known = self.bound = within(self._worth[0])
            if self._proved():
                return Verdict.BEST
            verdict = self._whole() if int((
                self._case.open_room() > 0).sum()) <= WHOLE else self._narrow()
            # What is true of more plans is true of fewer, if not all.
            better = within(self._worth[0]) if self.best else None
            known = known if better is None else max(better, known or 0.0)
        except OutOfTime:
            pass
        if self.best is None:
            return (verdict if verdict is Verdict.IMPOSSIBLE
                    else Verdict.NOTHING)
        self.bound = max(known or 0.0, self.bound or 0.0)
        return Verdict.BEST if self._proved() else verdict

    def _proved(self) -> bool:
        """Whether nothing can be better than the plan in hand."""
        return self.bound is not None and self._worth[0] == 0 and (
            self._worth[1] <= bounds.safe(self._objective, self.bound))

    def improve(self, start: Counts | None, least: float,
                within: Callable[[float], float | None]) -> Verdict:
        """The case has some hosts of a whole of which more is known.

        :param least: no plan's preferences cost less
        :param within: the bound of the objective among plans whose
            preferences cost at most that
        """
        self._least = least
        verdict = Verdict.GOOD
        try:
            if not self._offer(start):
                self._offer(greedy(self._case, self._objective,
                                   self._deadline))
            if self.best is None and self._first() is Status.INFEASIBLE:
                return Verdict.NOTHING
            # What is true of more plans is true of fewer.
            self.bound = within(self._worth[0])
            if not self.preferred() or self.bound is None or self._is_far():
                verdict = self._solve(Program(
                    self._case, self._objective, self._deadline,
                    self._case.room > 0))
        except OutOfTime:
            pass
        if self.best is None:
            return Verdict.NOTHING
        known = within(self._worth[0])
        self.bound = self.bound if known is None else known
        return verdict

    def preferred(self) -> bool:
        """Whether preferences are met as well as can be, or nearly so."""
        cost = self._worth[0]
        return cost <= self._least * (1 + bounds.ROUNDING) or (
            bounds.gap(cost, self._least) <= self._gap)

    def _is_far(self) -> bool:
        """Whether the plan is so much worse than the bound that the chosen
        hosts are worth more than dealing seats on them."""
        lower = bounds.safe(self._objective, self.bound)
        return not self.good_enough() and (
            bounds.gap(self._worth[1], lower) > _FAR)

    def _whole(self) -> Verdict:
        if self.best is None and self._first() is Status.INFEASIBLE:
            return self._no_plan()
        program = Program(self._case, self._objective, self._deadline)
        if self.best is None or program.size < SMALL:
            return self._solve(program)
        # Programs of a part of the members find better plans far sooner.
        for mask in nearby(self._case, self.best):
            self._solve(Program(self._case, self._objective, self._deadline,
                                stay(mask, self.best)), _PART)
        return self._solve(program, _PART)

    def _first(self) -> Status:
        """Any plan: a program of the hard policies alone, with nothing to
        minimise, is answered far sooner than one with all of them."""
        hard = self._case.under([
            each for each in self._case.policies if each.policy.hard])
        program = Program(hard, Indifferent(), self._deadline)
        program.minimise_cost()
        return self._run(program, 1.0, 0.0).status

    def _narrow(self) -> Verdict:
        """Few hosts for each class, and a bound from a relaxation of all.

        That a program of fewer hosts has no solution proves nothing: it is
        widened, to all hosts in the end.
        """
        busy: list[int] = []
        few = pooled(self._case)
        if int((few.room > 0).sum()) <= RELAXED:
            relaxation = Relaxation(few, self._objective, self._deadline)
            if self._relax(relaxation) is Status.INFEASIBLE:
                return self._no_plan()
            busy = list(relaxation.busy())
            if self.good_enough():
                return Verdict.GOOD
        width = max(_NARROWEST, NARROW // max(1, len(self._case.classes)))
        while True:
            mask = candidates(self._case, busy, self.best, width)
            whole = not np.any((self._case.open_room() > 0) & ~mask)
            verdict = self._solve(Program(
                self._case, self._objective, self._deadline,
                None if whole else mask))
            if self.best is not None:
                return verdict if whole else Verdict.GOOD
            if whole or verdict is Verdict.NOTHING:
                return verdict
            width *= 4

    def _relax(self, relaxation: Relaxation) -> Status:
        if self.best is not None and relaxation.preferences:
            relaxation.limit_preferences(self._worth[0])
        relaxation.minimise_cost()
        started = self._deadline.elapsed()
        outcome = self._backend.solve(
            relaxation.problem, gap=self._gap / 4,
            seconds=_RELAXATION * self._deadline.for_solver(
                self._backend.around * relaxation.size))
        self.solving += self._deadline.elapsed() - started
        if outcome.bound is not None:
            self.bound = outcome.bound * relaxation.cost_unit
        return outcome.status

    @property
    def worth(self) -> tuple[float, float]:
        """Cost of preferences and value of the best plan."""
        return self._worth

    def good_enough(self) -> bool:
        """Whether the plan in hand is within the gap asked for."""
        value = self._worth[1]
        if not self.preferred() or self.bound is None:
            return False
        lower = bounds.safe(self._objective, self.bound)
        return bounds.gap(value, lower) <= self._gap or (
            self._objective.integral and value - lower <= 1)

    def _solve(self, program: Program, part: float = 1.0) -> Verdict:
        """Preferences first, where some are not met, then the objective.

        :param part: of the time left, that each of the two may take
        """
        gap = 0.0 if program.size < SMALL else self._gap
        if program.preferences and self._worth[0] > 0:
            share = part * (1.0 if self.best is None else _PREFERENCES)
            program.minimise_preferences()
            outcome = self._run(program, share, 0.0)
            if outcome.status is Status.INFEASIBLE:
                return self._no_plan()
            first = outcome.status is Status.OPTIMAL
        else:
            first = True
        if self.best is not None and program.preferences:
            program.limit_preferences(self._worth[0])
        program.minimise_cost()
        outcome = self._run(program, part, gap)
        if outcome.status is Status.INFEASIBLE:
            return self._no_plan()
        if outcome.bound is not None and program.whole:
            self.bound = outcome.bound * program.cost_unit
        if self.best is None:
            return Verdict.NOTHING
        proved = first and gap == 0 and outcome.status is Status.OPTIMAL
        return Verdict.BEST if proved else Verdict.GOOD

    def _no_plan(self) -> Verdict:
        # A plan in hand that passed every check outweighs a solver's word.
        return Verdict.IMPOSSIBLE if self.best is None else Verdict.GOOD

    def _run(self, program: Program, share: float, gap: float) -> Outcome:
        """One question to the solver; a good answer becomes the best.

        An answer that overfills a host, which tolerances can let through
        where amounts differ by many orders of magnitude, is forbidden, and
        the question is asked again.
        """
        end = self._deadline.elapsed() + share * self._deadline.for_solver(
            self._backend.around * program.size)
        for _ in range(_REPAIRS):
            started = self._deadline.elapsed()
            outcome = self._backend.solve(
                program.problem, seconds=end - started, gap=gap,
                start=program.start(self.best) if self.best else None)
            self.solving += self._deadline.elapsed() - started
            if not outcome.solved:
                return outcome
            counts = program.read()
            if self._offer(counts):
                return outcome
            crowded = {host for host, _ in self._case.crowded(counts)}
            if not crowded or self._deadline.elapsed() >= end:
                break
            for host in crowded:
                program.forbid(host, counts)
        return Outcome(Status.NOTHING)

    def _offer(self, counts: Counts | None) -> bool:
        """Take a plan if it is one; whether it is."""
        if counts is None or not self._case.fits(counts):
            return False
        placement = self._case.placement(counts)
        if self._case.breaks_policy(placement):
            return False
        worth = (self._case.preference_cost(placement),
                 self._objective.value(self._case.members, placement,
                                       self._placed, self._case.snapshot))
        if worth < self._worth:
            self.best, self._worth = counts, worth
        return True
