# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood: members of the hosts with the fewest members."""

from collections.abc import Sequence
import random
from typing import ClassVar

from nova_holistic.solver.improve.neighbourhood import (
    Neighbourhood, PlanView, shuffled)


class EmptiestHosts(Neighbourhood):
    """All members of hosts with few members, and about the same number of
    members of other hosts.

    A host with few members is the easiest to empty. The freed members of the
    other hosts make room for them.
    """

    name: ClassVar[str] = 'emptiest-hosts'

    def free(self, plan: PlanView, number: int,
             chance: random.Random) -> Sequence[str]:
        order = shuffled(plan.on_host, chance)
        few = sorted(order, key=lambda name: len(plan.on_host[name]))
        some = plan.of_hosts(few, max(1, number // 2))
        left = {plan.where[path].name for path in some}
        return some + plan.of_hosts(
            [name for name in order if name not in left], number - len(some))
