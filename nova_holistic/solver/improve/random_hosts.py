# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood: members of hosts that are chosen at random."""

from collections.abc import Sequence
import random
from typing import ClassVar

from nova_holistic.solver.improve.neighbourhood import (
    Neighbourhood, PlanView, shuffled)


class RandomHosts(Neighbourhood):
    """All members of some hosts in use, which are chosen at random."""

    name: ClassVar[str] = 'random-hosts'

    def free(self, plan: PlanView, number: int,
             chance: random.Random) -> Sequence[str]:
        return plan.of_hosts(shuffled(plan.on_host, chance), number)
