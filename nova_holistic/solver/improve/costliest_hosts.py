# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood: members of the hosts with the highest cost per member."""

from collections.abc import Sequence
import random
from typing import ClassVar

from nova_holistic.objectives.utilisation import (
    requested_classes, utilisation)
from nova_holistic.solver.improve.neighbourhood import (
    Neighbourhood, PlanView, shuffled)


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
            added: dict[str, int] = {}
            for path in paths:
                for each, amount in (
                        members[path].requirements.resources.items()):
                    added[each] = added.get(each, 0) + amount
            before = utilisation(host, classes)
            after = utilisation(host, classes, added)
            cost = (host_cost.opening(1 - before)
                    + host_cost.utilisation_cost(after)
                    - host_cost.utilisation_cost(before))
            found[name] = cost / len(paths)
        return found
