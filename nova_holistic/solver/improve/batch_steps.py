# SPDX-License-Identifier: Apache-2.0
"""Steps for a group of many independent parts: each frees one batch of
members, and its program contains nothing else. Therefore, the effort of a step
does not depend on the size of the group."""

import random

import numpy as np

from nova_holistic.model.group import Scope
from nova_holistic.model.member import Member
from nova_holistic.solver.construct.batches import Batch
from nova_holistic.solver.improve.candidate_hosts import CandidateHosts
from nova_holistic.solver.improve.neighbourhood import PlanView
from nova_holistic.solver.improve.step import StepContext
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.milp.solver_calls import SolverCalls
from nova_holistic.solver.problem.case import Case, Counts, Freed
from nova_holistic.solver.problem.eligibility import demands
from nova_holistic.solver.problem.rules import carried_policies


class BatchSteps:
    """Steps that improve the plan of one batch after another."""

    def __init__(self, candidates: CandidateHosts, context: StepContext,
                 chance: random.Random):
        self._candidates, self._context = candidates, context
        self._chance = chance

    def step(self, plan: PlanView, batch: Batch) -> bool:
        """Search for better hosts of the batch; return whether the incumbent
        has a better plan now.

        :raises OutOfTime: the program was not built within the time limit
        """
        known, context = plan.incumbent, self._context
        freed = tuple(m for m in batch.members if m.path not in known.placed)
        if not freed:
            return False
        case = self._case(plan, batch, freed)
        calls = _Calls(case, known.objective, context.backend,
                       context.deadline)
        start = known.counts(case)
        if not calls.offer(start):
            return False
        program = Program(case, known.objective, context.deadline)
        if program.preferences and calls.plan_cost[0]:
            program.minimise_preferences()
            calls.solve(program, context.share(), 0.0)
        if program.preferences:
            program.limit_preferences(calls.plan_cost[0])
        program.minimise_cost()
        calls.solve(program, context.share(), known.gap / 4)
        known.solving += calls.solving
        if calls.best is start:
            return False
        found = case.placement(calls.best)
        return known.offer({**plan.where, **{
            m.path: found[m.path] for m in freed}})

    def _case(self, plan: PlanView, batch: Batch,
              freed: tuple[Member, ...]) -> Case:
        """The case of the batch, of some hosts, and of the other members on
        these hosts."""
        known, index = plan.incumbent, self._context.table.index
        paths = {m.path for m in freed}
        hosts = self._hosts(plan, batch, [m.path for m in freed])
        inside = set(hosts.tolist())
        fixed = {path: host.name for path, host in plan.where.items()
                 if path not in paths and index[host.name] in inside}
        table = self._context.table.part(None)
        table.occupy(self._taken(plan, paths))
        group = known.group.only(paths | fixed.keys())
        policies = tuple(each for each in carried_policies(group) if any(
            m.path in paths for m in each.scope.members))
        return Case.of(group, known.snapshot, fixed,
                       self._context.deadline.check, table.part(hosts),
                       Freed(Scope('', group, freed), policies))

    def _hosts(self, plan: PlanView, batch: Batch,
               freed: list[str]) -> np.ndarray:
        """Sorted indexes of the hosts that the batch uses or may use."""
        known, table = plan.incumbent, self._context.table
        mine = {m.path for m in batch.members}
        hosts = self._candidates.choose(
            plan, freed, self._context.settings, self._chance)
        fine = np.ones(len(table), dtype=bool)
        for each in known.policies:
            if each.policy.closes and each.scope.members and (
                    each.scope.members[0].path not in mine):
                for domain in each.policy.reserves(
                        each.scope, plan.where, known.snapshot):
                    fine[table.hosts_of(domain.level, domain)] = False
        for level in batch.closes:
            of_host = table.division(level).of_host
            fine &= ~np.isin(of_host, of_host[[
                table.index[host.name] for path, host in plan.where.items()
                if path not in mine]])
        return np.union1d(hosts[fine[hosts]], [
            table.index[plan.where[path].name] for path in mine])

    def _taken(self, plan: PlanView,
               freed: set[str]) -> dict[str, np.ndarray]:
        """Resource class to [host]: amount that other members take and that
        the snapshot does not include."""
        known, table = plan.incumbent, self._context.table
        taken: dict[str, np.ndarray] = {}
        for member in known.members:
            if member.path in freed or member.path in known.placed:
                continue
            host = table.index[plan.where[member.path].name]
            for name, amount in demands(member.requirements):
                taken.setdefault(name, np.zeros(
                    len(table), dtype=np.int64))[host] += amount
        return taken


class _Calls(SolverCalls):
    """Solver calls for one batch."""

    def offer(self, counts: Counts | None) -> bool:
        return self._offer(counts)
