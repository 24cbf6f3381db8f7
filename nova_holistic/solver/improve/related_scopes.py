# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood: members of one scope, or of two related scopes."""

from collections.abc import Sequence
import random
from typing import ClassVar

from nova_holistic.solver.improve.neighbourhood import (
    Neighbourhood, PlanView, shuffled)


class RelatedScopes(Neighbourhood):
    """Members that one policy or relationship applies to, and the members on
    the same hosts."""

    name: ClassVar[str] = 'related-scopes'

    def suits(self, plan: PlanView) -> bool:
        return bool(plan.incumbent.policies)

    def free(self, plan: PlanView, number: int,
             chance: random.Random) -> Sequence[str]:
        carried = chance.choice(plan.incumbent.policies)
        some = shuffled(plan.in_scope(carried), chance)[:number]
        return list(dict.fromkeys(some + plan.of_hosts(
            dict.fromkeys(plan.where[path].name for path in some),
            number - len(some))))
