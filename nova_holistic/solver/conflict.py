# SPDX-License-Identifier: Apache-2.0
"""Which policies cannot hold together, once it is proved that no plan is."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pulp import LpAffineExpression

from nova_holistic.model.member import Member
from nova_holistic.model.objective import HostEncoder, Objective
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy import Expression
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.solver.backend import Backend, Status
from nova_holistic.solver.case import Case
from nova_holistic.solver.deadline import Deadline, OutOfTime
from nova_holistic.solver.greedy import greedy
from nova_holistic.solver.program import Program
from nova_holistic.solver.rules import Carried

_ONE_TRIAL = 0.25
"""Share of what is left of the time limit that one question may take."""


class Indifferent(Objective):
    """Every plan is as good as any other."""

    name: ClassVar[str] = 'indifferent'

    def value(self, members: Sequence[Member], placement: Mapping[str, Host],
              placed: Mapping[str, str], snapshot: Snapshot) -> float:
        return 0.0

    def encode(self, encoder: HostEncoder) -> Expression:
        return LpAffineExpression()


def conflict(case: Case, backend: Backend,
             deadline: Deadline) -> tuple[Reason, ...]:
    """Reasons for a case that is proved to have no plan.

    Policies are dropped one at a time; one without which there is still no
    plan has no part in it. What stays is a set that cannot hold together;
    where time runs out it may be larger than it need be.
    """
    hard = [each for each in case.policies if each.policy.hard]
    if not hard:
        return (_capacity(case),)
    without = _possible(case, (), backend, deadline)
    if without is None:
        return (_undecided(case, hard),)
    if not without:
        return (_capacity(case),)
    core = list(hard)
    for each in hard:
        fewer = [other for other in core if other is not each]
        if fewer and _possible(case, fewer, backend, deadline) is False:
            core = fewer
    return tuple(_reason(each, core) for each in core)


def _possible(case: Case, policies: Sequence[Carried], backend: Backend,
              deadline: Deadline) -> bool | None:
    """Whether a plan keeps these policies; None where time ran out."""
    fewer = case.under(policies)
    try:
        if greedy(fewer, Indifferent(), deadline) is not None:
            return True
        program = Program(fewer, Indifferent(), deadline)
        program.minimise_cost()
        seconds = min(deadline.for_solver(backend.around * program.size),
                      _ONE_TRIAL * deadline.left())
        outcome = backend.solve(program.problem, seconds=seconds, gap=0)
    except OutOfTime:
        return None
    if outcome.status is Status.INFEASIBLE:
        return False
    return True if outcome.solved else None


def _undecided(case: Case, hard: Sequence[Carried]) -> Reason:
    members = sum(len(each.members) for each in case.classes)
    usable = int((case.room > 0).any(axis=0).sum())
    return Reason('', (
        f'no plan for {members} members on the {usable} hosts that suit them '
        f'keeps capacity and all of {_quoted(hard)}; '
        f'time ran out before it was known which of them are at odds'))


def _capacity(case: Case) -> Reason:
    asked: dict[str, int] = {}
    for each in case.classes:
        for name, amount in each.demands:
            asked[name] = asked.get(name, 0) + amount * len(each.members)
    usable = (case.room > 0).any(axis=0)
    parts = []
    for name, amount in sorted(asked.items()):
        free = case.table.amounts(name).free[usable].clip(0).sum()
        parts.append(f'{name} {amount} of {int(free)} free')
    members = sum(len(each.members) for each in case.classes)
    return Reason('', (
        f'the free capacity is in pieces that the {members} members do not '
        f'fit into together, though each fits alone: they need '
        f'{", ".join(parts)} on {int(usable.sum())} hosts'))


def _reason(each: Carried, core: Sequence[Carried]) -> Reason:
    others = _quoted([other for other in core if other is not each])
    if others:
        return Reason(each.at, f'cannot hold together with {others} on the '
                               f'hosts that suit the members')
    return Reason(each.at, f'cannot hold for {len(each.scope.members)} '
                           f'members on the hosts that suit them')


def _quoted(policies: Sequence[Carried]) -> str:
    return ', '.join(f'"{each.at}"' for each in policies)
