# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood: members of one or two domains."""

from collections.abc import Sequence
import random
from typing import ClassVar

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.improve.neighbourhood import (
    Neighbourhood, PlanView, shuffled)


class Domains(Neighbourhood):
    """Members of one or two domains of one level: a level of the topology, or
    another level that policies name."""

    name: ClassVar[str] = 'domains'

    def suits(self, plan: PlanView) -> bool:
        return bool(self._levels(plan))

    def free(self, plan: PlanView, number: int,
             chance: random.Random) -> Sequence[str]:
        snapshot = plan.incumbent.snapshot
        level = chance.choice(self._levels(plan))
        inside: dict[object, list[str]] = {}
        for name in shuffled(plan.on_host, chance):
            domain = snapshot.domain(
                plan.where[plan.on_host[name][0]], level)
            inside.setdefault(domain, []).append(name)
        chosen = chance.sample(sorted(inside, key=str), min(2, len(inside)))
        return plan.of_hosts(
            [name for domain in chosen for name in inside[domain]], number)

    @staticmethod
    def _levels(plan: PlanView) -> list[str]:
        """All levels except the host level, whose domains are single hosts."""
        return sorted({*plan.incumbent.snapshot.levels, *(
            level for each in plan.incumbent.policies
            for level in each.policy.levels)} - {HOST})
