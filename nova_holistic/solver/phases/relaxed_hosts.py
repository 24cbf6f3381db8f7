# SPDX-License-Identifier: Apache-2.0
"""A relaxation of the full problem, and the bounds that it proves."""

from dataclasses import dataclass

from nova_holistic.model.objective import HostCost, Objective
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import Cells, cells
from nova_holistic.solver.decomposition.cohesive_kinds import CohesiveKinds
from nova_holistic.solver.limits.current import (
    decomposition as limits, phases)
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.utilisation_curve import (
    is_number_of_hosts)


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A relaxation of the full problem, not solved yet.

    :ivar is_objective: whether the relaxation minimises the objective
    """

    cohesive: CohesiveKinds
    host_cost: HostCost
    merged: HostAggregation
    is_objective: bool

    @classmethod
    def of(cls, kinds: Kinds, objective: Objective,
           deadline: Deadline) -> 'Relaxed':
        # An objective without a host cost is replaced by the number of hosts:
        # a small number of hosts is usually close together.
        is_objective = objective.host_cost()
        host_cost = is_objective or HostCost(lambda free: free * 0 + 1.0)
        # If costs rise with utilisation, plans use many hosts anyway.
        divide = CohesiveKinds if host_cost.slopes else CohesiveKinds.of
        # The number of hosts is bounded by counting domains, and on large
        # clouds, a relaxation of many cells takes too long.
        few = is_number_of_hosts(is_objective) or (
            len(kinds.table) > phases().preferred_hosts)
        cohesive = divide(kinds, cells(
            kinds, deadline.check, limits().host_cells if few else None))
        merged = HostAggregation(
            cohesive.kinds, cohesive.cells, host_cost, deadline)
        return cls(cohesive, host_cost, merged, is_objective is not None)

    def within(self, limit: float) -> float | None:
        """The bound of the objective for plans whose preferences cost at most
        the limit; None if the relaxation minimises something else."""
        return self.merged.within(limit) if self.is_objective else None

    def count_hosts(self, deadline: Deadline) -> tuple[float | None, float]:
        """The bound of the objective with whole numbers of hosts in coarse
        domains, and its limit on the cost of preferences; None if nothing is
        proved."""
        if self.is_objective:
            self.merged.count_hosts(deadline)
        return self.within(self.merged.limit), self.merged.limit

    @property
    def kinds(self) -> Kinds:
        return self.cohesive.kinds

    @property
    def cells(self) -> Cells:
        return self.cohesive.cells
