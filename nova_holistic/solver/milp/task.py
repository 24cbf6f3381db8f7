# SPDX-License-Identifier: Apache-2.0
"""A problem, and the resources for a search."""

from dataclasses import dataclass, replace

from nova_holistic.solver.milp.backend import Backend
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.incumbent import Incumbent


@dataclass(frozen=True, slots=True)
class Task:
    """An incumbent, the solver for programs that improve it, and a deadline.
    """

    known: Incumbent
    backend: Backend
    deadline: Deadline

    def part(self, share: float) -> 'Task':
        """The same problem, with a share of the remaining time."""
        return replace(self, deadline=self.deadline.part(share))

    def of(self, other: Incumbent) -> 'Task':
        """Another problem with the same resources."""
        return replace(self, known=other)

    def search(self, case: Case, all_places: bool = False) -> Search:
        """A search for plans of a case of the problem.

        :param all_places: as for ``Search``
        """
        return Search(case, self.known.objective, self.backend, self.deadline,
                      self.known.gap, all_places)

    def adopt(self, search: Search, all_hosts: bool = False) -> None:
        """Improve the incumbent by the plan of a search and its bound.

        :param all_hosts: whether the case of the search contains all hosts.
            Then, its bound of the cost of preferences is also valid
        """
        known = self.known
        known.solving += search.solving
        if search.best is not None:
            known.offer(search.case.placement(search.best))
            known.prove(search.bound, search.plan_cost[0])
            if all_hosts:
                known.prove_least(search.least)
