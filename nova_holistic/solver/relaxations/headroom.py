# SPDX-License-Identifier: Apache-2.0
"""The number of copies of a group that fit on a cloud at the same time.

If no policy concerns other groups, the placement of few copies is repeated as
often as there is capacity. Then doubling and bisection find the number. If the
time is too short to plan all copies together, further copies are added to the
placed copies, a few at a time. One time limit applies to all steps. When it
has passed, the answer is the largest number of copies for which a plan is
known, and the least upper bound.
"""

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.relaxations import Headroom
from nova_holistic.solver.check import check
from nova_holistic.solver.limits.current import phases, relaxations as limits
from nova_holistic.solver.relaxations.copies import as_copy, copies
from nova_holistic.solver.relaxations.most_copies import most_copies
from nova_holistic.solver.relaxations.occupied import occupied
from nova_holistic.solver.relaxations.repeated import (
    can_repeat, RepeatedCopies)
from nova_holistic.solver.relaxations.trials import (
    Constrain, Trials, unconstrained)
from nova_holistic.solver.settings import DEFAULT, Settings
from nova_holistic.solver.trees.tree_problem import tree_problem


def headroom(group: Group, snapshot: Snapshot,
             answer: Plan | Unplaceable | Unknown, *,
             constrain: Constrain = unconstrained,
             settings: Settings = DEFAULT) -> Headroom:
    """Bounds on the number of copies of a group that fit on a cloud.

    Each copy has its own policies, and no policy applies between copies.
    Therefore, if a number of copies fits, every smaller number fits. The upper
    bound is None only if no resource, and no exclusive policy, limits the
    number.

    :param answer: the answer of ``solve`` for one copy
    :param constrain: a function that adds the requirements of the cloud to
        every group
    :param settings: the solver, the time limit and other settings
    :raises InvalidDocument: if a flavor or level is unknown
    """
    if isinstance(answer, Unplaceable):
        return Headroom(0, 0)
    trials = Trials.of(constrain, settings)
    search = _Search(group, snapshot, trials)
    if isinstance(answer, Plan):
        search.found(1, as_copy(answer.hosts(), 0))
    search.repeat_copies(trials.part(phases().bound_share))
    search.plan_together(trials.part(phases().main_share))
    search.add_copies()
    search.repeat_copies(trials)
    return Headroom(search.at_least, search.at_most)


class _Search:
    """The search for the number of copies that fit.

    :ivar at_least: number of copies for which a plan is known
    :ivar at_most: proved upper bound; None if nothing limits the number
    """

    def __init__(self, group: Group, snapshot: Snapshot, trials: Trials):
        self._group = group
        self._snapshot = snapshot
        self._trials = trials
        bound = self._bound(1)
        self.at_least = 0
        flat = tree_problem(bound, snapshot, ())
        self.at_most = most_copies(
            flat.group if flat else bound, flat.snapshot if flat else snapshot,
            trials.part(phases().bound_share).deadline.check)
        self._where: dict[str, str] = {}
        # All members of a group may have left it.
        self._limit = max(1, limits().members // max(
            1, len(bound.all_members())))
        self._repeated = RepeatedCopies(
            group, snapshot, self._bound, self._limit) if can_repeat(
                bound, snapshot) else None

    def found(self, number: int, where: dict[str, str]) -> None:
        """Record a plan for this number of copies.

        :param where: member path to host name; empty if placements of copies
            are repeated
        """
        self.at_least, self._where = number, where

    def repeat_copies(self, trials: Trials) -> None:
        """Plan few copies, and repeat their placement as often as it fits."""
        if self._repeated is not None and self.at_most is not None and (
                self.at_least < self.at_most):
            self._repeated.run(trials, self.at_most)
            if self._repeated.total > self.at_least:
                self.found(self._repeated.total, {})

    def plan_together(self, trials: Trials) -> None:
        """Plan all copies together: double their number, then bisect."""
        ceiling, doubling = self._ceiling(), True
        while self.at_least < ceiling and trials.deadline.left():
            number = min(max(1, 2 * self.at_least), ceiling) if (
                doubling) else (self.at_least + ceiling + 1) // 2
            answer = trials.plan(copies(self._group, number), self._snapshot)
            if isinstance(answer, Plan):
                self.found(number, answer.hosts())
                continue
            doubling, ceiling = False, number - 1
            if isinstance(answer, Unplaceable):
                self.at_most = ceiling

    def add_copies(self) -> None:
        """Add copies to the placed copies, and halve the number of new copies
        whenever no plan is found."""
        if not (self._where and self.at_least < self._ceiling()
                and self._trials.deadline.left()):
            return
        snapshot = occupied(self._bound(self.at_least), self._snapshot,
                            self._where)
        number = self.at_least
        while number and self._trials.deadline.left():
            number = min(number, self._ceiling() - self.at_least)
            first = self.at_least
            answer = self._trials.plan(
                copies(self._group, number, first), snapshot)
            if isinstance(answer, Plan) and self._accept(number, answer):
                snapshot = occupied(self._bound(number, first), snapshot,
                                    answer.hosts())
            else:
                number //= 2

    def _accept(self, number: int, plan: Plan) -> bool:
        """Record the plan if its copies fit in addition to the placed copies;
        return whether they fit."""
        where = {**self._where, **plan.hosts()}
        total = self.at_least + number
        if check(self._bound(total), self._snapshot, where):
            return False
        self.found(total, where)
        return True

    def _ceiling(self) -> int:
        return self._limit if self.at_most is None else min(
            self._limit, self.at_most)

    def _bound(self, number: int, first: int = 0) -> Group:
        group = copies(self._group, number, first)
        return bind(self._trials.constrain(group, self._snapshot),
                    self._snapshot)
