# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for a plan, with the requested additional answers:
changes that make an unplaceable group fit, and the number of copies that
fit."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from nova_holistic.engine.decider import Decider
from nova_holistic.engine.questions import Question
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.relaxations import Headroom, Relaxations
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.relax import relax

_LEAST = 0.1
"""Share of the time limit that each further answer may take at least, beyond
the limit if need be."""


@dataclass(frozen=True, slots=True)
class Advice:
    """
    :ivar group: that the answer is for
    :ivar relaxations: None if they were not asked for, or if the group is not
        unplaceable
    :ivar headroom: None if it was not asked for
    """

    answer: Plan | Unplaceable | Unknown
    relaxations: Relaxations | None = None
    headroom: Headroom | None = None
    group: Group | None = None


class Adviser:
    """Answers everything on the snapshot on which the plan was made."""

    def __init__(self, conf, decider: Decider, timer: Callable[[], float]):
        """:param timer: returns seconds, to measure durations"""
        self._conf = conf
        self._decider = decider
        self._timer = timer

    def advise(self, question: Question, extras: Collection[str]) -> Advice:
        """
        :param extras: some of ``table.records.EXTRAS``
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        if not extras:
            return Advice(self._decider.answer(question),
                          group=question.group)
        started = self._timer()
        found: list[tuple[Plan | Unplaceable | Unknown, Snapshot]] = []

        def work(cloud: Snapshot) -> Plan | Unplaceable | Unknown:
            found.append(self._decider.answer_on(question, cloud, started))
            return found[-1][0]

        answer = self._decider.on_kept(work)
        return self._further(question, extras, answer, found[-1][1])

    def _further(self, question: Question, extras: Collection[str],
                 answer: Plan | Unplaceable | Unknown,
                 snapshot: Snapshot) -> Advice:
        seconds, limit = answer.seconds, self._conf.planner.time_limit
        until = self._timer() + limit - (
            seconds.get('total', 0.0) - seconds.get('snapshot', 0.0))

        def options() -> dict:
            return {'time_limit': max(until - self._timer(), _LEAST * limit),
                    'solver': self._conf.planner.solver,
                    'timer': self._timer, 'constrain': constrain}

        def constrain(group: Group, cloud: Snapshot) -> Group:
            return self._decider.constrained(
                replace(question, group=group), cloud)

        return Advice(
            answer,
            relax(question.group, snapshot, reasons=answer.reasons,
                  **options())
            if 'relaxations' in extras and isinstance(answer, Unplaceable)
            else None,
            headroom(question.group, snapshot, answer, **options())
            if 'headroom' in extras else None,
            question.group)
