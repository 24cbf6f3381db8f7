# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood: members of the hosts with the highest cost per member."""

from collections.abc import Sequence
from collections import Counter
import random
from typing import ClassVar

from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.improve.neighbourhood import (
    Neighbourhood, PlanView, shuffled)
from nova_holistic.solver.problem.utilisation_curve import cost_increase


class CostliestHosts(Neighbourhood):
    """All members of hosts with a high cost per member, with some randomness.

    Applicable if the objective is a sum over hosts.
    """

    name: ClassVar[str] = 'costliest-hosts'

    def suits(self, plan: PlanView) -> bool:
        return plan.incumbent.objective.host_cost() is not None

    def free(self, plan: PlanView, number: int,
             chance: random.Random) -> Sequence[str]:
        costs = self._costs(plan)
        # Random additions double a cost at most.
        rank = {name: -cost * (1 + chance.random())
                for name, cost in costs.items()}
        return plan.of_hosts(sorted(
            shuffled(costs, chance), key=rank.__getitem__), number)

    @staticmethod
    def _costs(plan: PlanView) -> dict[str, float]:
        """Cost per member of each host in use."""
        host_cost = plan.incumbent.objective.host_cost()
        members = {m.path: m for m in plan.incumbent.members}
        classes = requested_classes(plan.incumbent.members)
        found = {}
        for name, paths in plan.on_host.items():
            host = plan.where[paths[0]]
            added: Counter[str] = Counter()
            for path in paths:
                added.update(members[path].requirements.resources)
            found[name] = cost_increase(
                host_cost, host, classes, added, False) / len(paths)
        return found
