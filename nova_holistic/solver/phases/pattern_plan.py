# SPDX-License-Identifier: Apache-2.0
"""Plans and bounds of small groups, by an integer program of patterns.

The bound of column generation has fractions of hosts. For a group that needs
few hosts, the distance to the best plan is then several percent. The program
of all patterns that a better plan can use is small enough to be solved with
whole hosts.
"""

import contextlib
from dataclasses import replace

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.pattern_placement import (
    is_applicable)
from nova_holistic.solver.column_generation.pattern_program import (
    PatternProgram)
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cell_without_rules
from nova_holistic.solver.decomposition.cohesive_kinds import CohesiveKinds
from nova_holistic.solver.decomposition.columns import constant
from nova_holistic.solver.decomposition.host_assignment import from_patterns
from nova_holistic.solver.limits.current import (
    limits as all_limits, phases, small_groups as limits, using)
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.phases.large import search_on_hosts
from nova_holistic.solver.phases.relaxed_hosts import Relaxed
from nova_holistic.solver.problem.deadline import OutOfTime


def plan_by_patterns(task: Task) -> None:
    """Improve the incumbent of a small group, which has a plan, and its bound.

    Nothing is improved if the objective is not a sum of the costs of hosts in
    use, or if the members have many different requirements.
    """
    known = task.known
    host_cost = known.objective.host_cost()
    if not known.is_good_enough and host_cost and not host_cost.slopes and (
            len(known.members) <= limits().pattern_members):
        with contextlib.suppress(OutOfTime):
            _plan(task.part(phases().program_share), host_cost)


def _plan(task: Task, host_cost: HostCost) -> None:
    """Solve the program if patterns are applicable."""
    known, deadline = task.known, task.deadline
    kinds = known.kinds(deadline.check)
    if kinds is None or kinds.lacks_room:
        return
    # The program of a small group has room for policies on more domains.
    whole = all_limits()
    with using(replace(whole, decomposition=replace(
            whole.decomposition, cells=limits().pattern_cells))):
        relaxed = Relaxed.of(kinds, known.objective, deadline)
        relaxations = [relaxed] if _is_applicable(relaxed) else []
        # Fewer policies lead to fewer kinds of members, and to fewer patterns.
        alone = CohesiveKinds(kinds, cell_without_rules(kinds, deadline.check))
        if not relaxations or len(alone.kinds.kinds) < len(
                relaxed.kinds.kinds):
            relaxations.insert(0, replace(
                relaxed, cohesive=alone, merged=HostAggregation(
                    kinds, alone.cells, host_cost, deadline)))
        for each in relaxations:
            if _is_applicable(each) and not known.is_good_enough:
                is_last = each is relaxations[-1]
                _solve(each, task if is_last else task.part(
                    phases().bound_share), searches=is_last)


def _is_applicable(relaxed: Relaxed) -> bool:
    return is_applicable(relaxed.kinds, relaxed.host_cost, relaxed.cells,
                         relaxed.merged.columns)


def _solve(relaxed: Relaxed, task: Task, searches: bool) -> None:
    """Prove the bound of the program.

    :param searches: whether the plan of its solution is offered
    """
    merged, known = relaxed.merged, task.known
    merged.run(phases().rounds_before_patterns)
    if merged.impossible or merged.bound is None:
        return
    generation = ColumnGeneration(relaxed.kinds, relaxed.cells,
                                  relaxed.host_cost, merged, task.deadline)
    generation.run(known.objective.integral)
    known.prove(generation.bound, generation.limit)
    if known.is_good_enough:
        return
    cost, value = known.plan_cost
    rest = constant(relaxed.kinds, relaxed.host_cost)
    found = PatternProgram(
        relaxed.kinds, relaxed.cells, generation, cost, value - rest,
        known.bound - rest, known.gap / 4).solve(task.deadline)
    if found is None:
        return
    bound, places = found
    known.prove(bound + rest, cost)
    merged.proved.add(bound + rest, float(cost))
    if places is not None and searches:
        search_on_hosts(relaxed, task, from_patterns(merged, *places))
