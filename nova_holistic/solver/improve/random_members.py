# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood: members that are chosen at random."""

from collections.abc import Sequence
import random
from typing import ClassVar

from nova_holistic.solver.improve.neighbourhood import (
    Neighbourhood, PlanView, shuffled)


class RandomMembers(Neighbourhood):
    """Members chosen at random, regardless of their hosts and policies."""

    name: ClassVar[str] = 'random-members'

    def free(self, plan: PlanView, number: int,
             chance: random.Random) -> Sequence[str]:
        return shuffled(plan.movable, chance)[:number]
