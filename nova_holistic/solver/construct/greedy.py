# SPDX-License-Identifier: Apache-2.0
"""Greedy construction of a first plan, one member after another.

The construction takes milliseconds. It may fail although a plan exists, and
its plan is usually not optimal. The plan is the start solution of the solver,
and the result if the time limit is reached early.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from nova_holistic.model.objective import Objective
from nova_holistic.solver.construct.attempt import (
    Attempt, LookAhead, Ordering, ORDERINGS)
from nova_holistic.solver.construct.components import components
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import construct as limits, phases
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime


def greedy(case: Case, objective: Objective,
           deadline: Deadline) -> Counts | None:
    """The best of the plans that simple orderings of the hosts lead to; None
    if no ordering leads to a plan.

    :raises OutOfTime: if the time ends before a plan was found
    """
    best: tuple[tuple[float, float], Counts] | None = None
    placed = {m: case.table.hosts[h].name for m, h in case.placed.items()}
    restarts = Restarts(case, deadline)
    for ordering in ORDERINGS:
        if best is not None and deadline.left() == 0:
            break
        try:
            counts = restarts.run(ordering)
        except OutOfTime:
            if best is None:
                raise
            break
        if counts is None:
            continue
        placement = case.placement(counts)
        plan_cost = (case.preference_cost(placement), objective.value(
            case.members, placement, placed, case.snapshot))
        if best is None or plan_cost < best[0]:
            best = (plan_cost, counts)
    return best[1] if best else None


def any_plan(case: Case, deadline: Deadline) -> Counts | None:
    """The first plan that one of the orderings leads to; None if no ordering
    leads to a plan.

    :raises OutOfTime: if the time ends before a plan was found
    """
    return next(plans(case, deadline), None)


def plans(case: Case, deadline: Deadline,
          further: Deadline | None = None) -> Iterator[Counts]:
    """The first plan of each ordering that leads to a plan with few restarts.
    If no ordering does, the first plans with many restarts.

    :param further: as for ``Restarts``
    :raises OutOfTime: if no time is left for a further plan
    """
    restarts, found = Restarts(case, deadline, further=further), False
    for tries in (limits().further_restarts, limits().restarts):
        for _, counts in restarts.plans(ORDERINGS, tries):
            yield counts
            found = True
        if found:
            return


class Restarts:
    """Attempts that learn from earlier failures: a class without a possible
    host is placed first, and related classes avoid the hosts that limited it.

    :ivar failures: how often no host was found for each class
    """

    def __init__(self, case: Case, deadline: Deadline,
                 used: Collection[int] = (),
                 further: Deadline | None = None):
        """
        :param used: hosts that other members use
        :param deadline: the deadline of the first attempt
        :param further: an earlier deadline, which applies as soon as the first
            attempt has placed all classes or has found no host for a class;
            None means ``deadline``
        """
        self._case, self._deadline, self._used = case, deadline, used
        self._further = further
        self._rule_counts = RuleCounts(case, deadline.check)
        self._ahead = LookAhead(case)
        self._components = components(case)
        self._order = _hardest_first(case)
        self._avoid: dict[int, np.ndarray] = {}
        self._tries = limits().restarts
        self.failures: Counter[int] = Counter()

    def forget(self) -> None:
        """Reset the learned order, because failures of one ordering hardly
        predict those of the next."""
        self._order = _hardest_first(self._case)
        self._avoid.clear()

    def plans(self, orderings: Iterable[Ordering], tries: int
              ) -> Iterator[tuple[Ordering, Counts]]:
        """Each ordering that leads to a plan with this number of attempts, and
        its first plan.

        :raises OutOfTime: if no time is left for a further plan
        """
        for ordering in orderings:
            self._deadline.check()
            counts = self.run(ordering, tries)
            self.forget()
            if counts is not None:
                yield ordering, counts

    def run(self, ordering: Ordering,
            tries: int | None = None) -> Counts | None:
        """The first plan that attempts with the ordering lead to; None if no
        attempt leads to a plan.

        :param tries: maximum number of attempts; None means many in the first
            run and few in later runs
        """
        tries, self._tries = tries or self._tries, limits().further_restarts
        reserve = (1 - phases().attempt_share) * (
            self._further or self._deadline).left()
        for number in range(tries):
            if self._deadline.left() <= reserve:
                return None
            attempt = Attempt(
                self._case, ordering, self._rule_counts, self._ahead)
            attempt.used_by_group[list(self._used)] = True
            attempt.separates = bool(number % 2)
            failed = self._place(attempt)
            reached = [] if failed is None else attempt.reached(failed)
            attempt.undo()
            if failed is None:
                return self._checked_counts(attempt.counts)
            self._learn(failed, reached)
        return None

    def _place(self, attempt: Attempt) -> int | None:
        """Place the classes; return a class without a possible host, or None.

        If a class finds no host, only the classes of its component are placed
        again, because all others are independent of them.
        """
        failed = attempt.run(self._order, self._avoid, self._deadline.check)
        if self._further is not None:
            self._deadline.extend(self._further)
        tries: Counter[frozenset[int]] = Counter()
        while failed is not None:
            component = self._components[failed]
            tries[component] += 1
            if len(component) == 1 or (
                    tries[component] > limits().further_restarts):
                return failed
            reached = attempt.reached(failed)
            for c in component:
                attempt.remove_class(c)
            self._learn(failed, reached)
            placed = {c for c, host_counts in enumerate(attempt.counts)
                      if host_counts}
            left = [c for c in self._order if c not in placed]
            failed = attempt.run(
                [c for c in left if c in component]
                + [c for c in left if c not in component],
                self._avoid, self._deadline.check)
        return None

    def _checked_counts(self, counts: Counts) -> Counts | None:
        if self._case.is_plan(counts):
            return counts
        # Another ordering would most likely violate the same rules.
        self._tries = 1
        return None

    def _learn(self, failed: int, reached: list[np.ndarray]) -> None:
        """Change the order of the classes, and the hosts that they avoid,
        after a failure.

        :param failed: the class without a possible host
        :param reached: of the failed class, as ``Attempt.reached`` returns it
        """
        case, avoid = self._case, self._avoid
        self.failures[failed] += 1
        first = [failed, *self._ahead.checked.peers(failed)]
        self._order = first + [c for c in self._order if c not in first]
        # Related classes avoid the hosts that limited the failed class.
        related = [c for c, each in enumerate(case.classes)
                   if each.scopes & case.classes[failed].scopes]
        far = sum(reached, np.zeros(len(case.table)))
        for c in related if far.any() else ():
            # Related classes share one array until they get another.
            avoid[c] = avoid[c] + far if c in avoid else far


def _hardest_first(case: Case) -> list[int]:
    """The classes that can use at most half of the hosts come first, then the
    others; both in descending order of the size of a member."""
    return sorted(range(len(case.classes)), key=lambda c: (
        int((case.room[c] > 0).sum()) > len(case.table) // 2,
        -case.table.size(case.classes[c].demands), c))
