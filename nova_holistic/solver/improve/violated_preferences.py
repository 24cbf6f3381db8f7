# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood: members to which a violated preference applies."""

from collections.abc import Sequence
import random
from typing import ClassVar

from nova_holistic.solver.improve.neighbourhood import (
    Neighbourhood, PlanView, shuffled)


class ViolatedPreferences(Neighbourhood):
    """Members to which one violated preference applies, and members of other
    hosts, whose move makes room for them."""

    name: ClassVar[str] = 'violated-preferences'
    is_for_preferences: ClassVar[bool] = True

    def suits(self, plan: PlanView) -> bool:
        return bool(plan.violated)

    def free(self, plan: PlanView, number: int,
             chance: random.Random) -> Sequence[str]:
        some = shuffled(
            plan.in_scope(chance.choice(plan.violated)), chance)[:number]
        left = {plan.where[path].name for path in some}
        others = plan.of_hosts(
            [name for name in shuffled(plan.on_host, chance)
             if name not in left], number // 2)
        return some + others
