# SPDX-License-Identifier: Apache-2.0
"""Adaptive choice among neighbourhoods, and of their size.

As in Ropke and Pisinger, An Adaptive Large Neighborhood Search Heuristic for
the Pickup and Delivery Problem with Time Windows (Transportation Science 40,
2006): a neighbourhood is chosen with a probability proportional to its weight.
The weight depends on the gain of its steps, divided by their effort. Effort is
the size of programs and not time, so that the same seed leads to the same
choices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import random

from nova_holistic.solver.improve.neighbourhood import Neighbourhood, PlanView
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.improve.step import Outcome


@dataclass(slots=True)
class WeightedNeighbourhood:
    """A neighbourhood with its weight and size.

    :ivar size: number of members that its next step frees
    """

    neighbourhood: Neighbourhood
    size: float
    weight: float


class AdaptiveSelection:
    """The choice among the neighbourhoods of a search.

    :ivar weighted: the neighbourhoods with their weights and sizes
    """

    def __init__(self, neighbourhoods: Sequence[Neighbourhood],
                 settings: Improvement, most: int, chance: random.Random):
        """:param most: maximum number of members that a step can free"""
        # Preferences come first, as long as their steps have a gain.
        self.weighted = [
            WeightedNeighbourhood(each, min(settings.members, most), float(
                len(neighbourhoods) if each.is_for_preferences else 1))
            for each in neighbourhoods]
        self._settings, self._most, self._chance = settings, most, chance
        self._best = 0.0

    def draw(self, plan: PlanView) -> WeightedNeighbourhood | None:
        """Choose a neighbourhood that suits the plan; None if none does."""
        suiting = [
            chosen for chosen in self.weighted
            if chosen.neighbourhood.suits(plan) and (
                chosen.neighbourhood.is_for_preferences
                or not plan.incumbent.is_close)]
        return self._chance.choices(
            suiting,
            [chosen.weight for chosen in suiting])[0] if suiting else None

    def learn(self, chosen: WeightedNeighbourhood, outcome: Outcome,
              gain: float) -> None:
        """Update the weight and the size of the neighbourhood after a step.

        :param gain: gain of the step; 0 if the plan is not better
        """
        rate = gain / max(1.0, outcome.effort)
        self._best = max(self._best, rate)
        settings = self._settings
        reward = rate / self._best if self._best else 0.0
        chosen.weight = max(settings.floor, settings.memory * chosen.weight
                            + (1 - settings.memory) * reward)
        if not outcome.is_complete:
            chosen.size = max(1.0, chosen.size / settings.growth)
        elif not outcome.is_better:
            chosen.size = min(self._most, chosen.size * settings.growth)
