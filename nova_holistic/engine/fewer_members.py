# SPDX-License-Identifier: Apache-2.0
"""A plan with fewer members than desired, if there is no room for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nova_holistic.engine.decider import Decider
from nova_holistic.engine.partial_replan import PartialPlanner
from nova_holistic.engine.questions import Decision, NotPlanned, Question
from nova_holistic.model.optional_members import optional_units, Unit
from nova_holistic.model.plan import Reason


@dataclass(frozen=True, slots=True)
class Sized:
    """A decision about as many members as can be placed.

    :ivar question: about the members that the decision places
    :ivar reasons: which members are missing, and why
    """

    question: Question
    decision: Decision
    reasons: Sequence[Reason] = ()


class FewerMembers:
    """The desired number of members, or as many as can be placed, but no
    fewer than the least number."""

    def __init__(self, decider: Decider, time_limit: float,
                 timer: Callable[[], float]):
        """
        :param time_limit: seconds for the first plan; all smaller plans share
            as many seconds
        :param timer: returns seconds
        """
        self._decider = decider
        self._time_limit = time_limit
        self._timer = timer

    def decide(self, question: Question) -> Sized:
        """
        :raises NotPlanned: there is no plan for the least number
        """
        try:
            return Sized(question, self._decider.decide(question))
        except NotPlanned as refusal:
            units = [unit for unit in optional_units(question.group)
                     if not unit.members & question.placed.keys()]
            if not units:
                raise
            return self._fewer(question, units, refusal)

    def _fewer(self, question: Question, units: Sequence[Unit],
               refusal: NotPlanned) -> Sized:
        deadline = self._timer() + self._time_limit
        least = replace(question, group=question.group.only(
            _paths(question).difference(*(u.members for u in units))))
        usable = self._decider.usable(question, self._decider.complete())
        base = self._decider.decide(
            least, usable=usable, time_limit=self._time_limit
        ) if least.group.all_members() else None
        found = PartialPlanner(
            question, lambda part, seconds: self._decider.decide(
                part, usable=usable, time_limit=seconds),
            {unit.path: unit.kind for unit in units},
            lambda: deadline - self._timer(),
            {unit.path: unit.members for unit in units}).plan(refusal.reasons)
        if found.decision is not None:
            return Sized(found.question, found.decision, found.reasons)
        if base is None:
            raise refusal
        return Sized(least, base, found.reasons)


def _paths(question: Question) -> frozenset[str]:
    return frozenset(m.path for m in question.group.all_members())
