# SPDX-License-Identifier: Apache-2.0
"""A first plan that starts with the members that a greedy placement cannot
place.

Some rules cannot be satisfied member by member, such as the traffic on links.
In a nearly full cloud, some members find no host. A small program of only
their classes finds hosts for these members, and all others are placed around
them. The set of classes grows until a plan is found or the set is too large.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nova_holistic.solver.construct.attempt import ORDERINGS
from nova_holistic.solver.construct.greedy import Restarts
from nova_holistic.solver.limits.current import construct as construct_limits
from nova_holistic.solver.limits.current import milp as limits
from nova_holistic.solver.limits.current import phases as phases_limits
from nova_holistic.solver.milp.backend import Backend
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.feasibility import Feasibility
from nova_holistic.solver.problem.rows import Kind, ScopedPolicy


class HardestFirst:
    """The classes that are placed first, and their hosts.

    :param restarts: the greedy restarts of the case, after a run
    :ivar solving: seconds spent in the solver
    """

    def __init__(self, case: Case, restarts: Restarts, backend: Backend,
                 deadline: Deadline):
        self.solving = 0.0
        self._case, self._restarts = case, restarts
        self._backend, self._deadline = backend, deadline
        self._hard = [each for each in case.policies if each.policy.hard]
        self._policies: list[ScopedPolicy] = []
        self._classes: set[int] = set()

    def run(self) -> Counts | None:
        """A plan that satisfies all rules; None if none was found."""
        for _ in range(limits().fixing_rounds):
            before = len(self._classes)
            self._add()
            if len(self._classes) == before or (
                    before and len(self._classes)
                    > limits().fixed_classes * len(self._case.classes)):
                return None
            if not self._solve():
                return None
            found = self._restarts.run(ORDERINGS[0],
                                       construct_limits().restarts)
            if found is not None:
                return found
        return None

    def _add(self) -> None:
        """Add the classes to which the violated rules of the latest attempt
        apply. If no attempt placed all members, add the class that failed most
        often, and the classes to which its rules with few members apply."""
        broken, self._restarts.broken = self._restarts.broken, None
        if broken is not None:
            where = self._case.placement(broken)
            more = [each for each in self._hard if each.policy.check(
                each.scope, where, self._case.snapshot).count]
        elif self._restarts.failures:
            failed = self._restarts.failures.most_common(1)[0][0]
            self._classes.add(failed)
            more = self._closest(failed)
        else:
            more = []
        self._policies = self._with_rowless_types([*self._policies, *more])
        for each in self._policies:
            self._classes.update(self._classes_of(each))

    def _closest(self, c: int) -> list[ScopedPolicy]:
        """Policies with few members that apply to the class."""
        path = self._case.classes[c].members[0].path
        return [each for each in self._hard
                if 4 * len(_paths(each)) <= len(self._case.members)
                and path in _paths(each)]

    def _with_rowless_types(
            self, policies: list[ScopedPolicy]) -> list[ScopedPolicy]:
        """Add all policies of the types without rows: one policy may have rows
        for others of its type, for example those that share links."""
        with_rows = self._case.rules.policies_with_rows()
        rowless = {type(each.policy) for each in policies
                   if id(each) not in with_rows}
        chosen = {id(each) for each in policies}
        return [each for each in self._hard
                if id(each) in chosen or type(each.policy) in rowless]

    def _classes_of(self, policy: ScopedPolicy) -> Iterator[int]:
        paths = _paths(policy)
        return (c for c, each in enumerate(self._case.classes)
                if any(m.path in paths for m in each.members))

    def _solve(self) -> bool:
        """Find hosts for the classes regardless of all other classes; return
        whether hosts were found."""
        chosen = sorted(self._classes)
        program = Program(self._subcase(chosen), Feasibility(), self._deadline)
        program.minimise_cost()
        started = self._deadline.elapsed()
        outcome = self._backend.solve(
            program.problem, gap=0.0,
            seconds=phases_limits().attempt_share * self._deadline.for_solver(
                self._backend.overhead_per_variable * program.size))
        self.solving += self._deadline.elapsed() - started
        if not outcome.solved:
            return False
        self._restarts.fixed = dict(zip(chosen, program.read()))
        return True

    def _subcase(self, chosen: list[int]) -> Case:
        """The case of the classes, with the violated rules and the rules that
        apply only to these classes."""
        case = self._case
        alone = {number for number, scope in enumerate(case.rules.scopes)
                 if {*case.classes_in(number)} <= {*chosen}}
        wider = {id(row.carried) for row in case.rules.rows
                 if any(atom.kind is not Kind.FREE and atom.scope not in alone
                        for atom, _ in row.terms)}
        wider.update(id(limit.carried) for limit in case.rules.limits
                     if limit.scope not in alone)
        policies = [each for each in self._hard if id(each) not in wider
                    or any(each is other for other in self._policies)]
        return replace(case.under(policies), room=np.array(case.room[chosen]),
                       classes=tuple(case.classes[c] for c in chosen))


def _paths(carried: ScopedPolicy) -> set[str]:
    """Paths of the members that the policy applies to."""
    return {member.path for member in carried.members}
