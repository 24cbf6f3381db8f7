# SPDX-License-Identifier: Apache-2.0
"""Bounds and plans of groups whose policies keep sets of members in one domain
each.

For example, each of many pairs is in one rack. Programs of members and hosts
have weak bounds of such groups, because fractions of a pair use the best hosts
of all racks. Here, the cost of a rack is the exact minimum for each number of
pairs, and a program divides the pairs among the racks. Other policies are
omitted, except limits that a host, a domain or several domains have.
Therefore, the result is a bound, and a plan only if it passes the check.
"""

from collections.abc import Iterator, Sequence
import contextlib

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.confined.confined_sets import (
    confining_levels, ConfinedSets)
from nova_holistic.solver.confined.domain_classes import domain_classes
from nova_holistic.solver.confined.set_costs import SetCosts
from nova_holistic.solver.confined.set_limits import SetLimits
from nova_holistic.solver.confined.set_program import Division, SetProgram
from nova_holistic.solver.decomposition.columns import columns, constant
from nova_holistic.solver.limits.current import confined as limits
from nova_holistic.solver.limits.current import phases
from nova_holistic.solver.numerics.tolerances import ARITHMETIC
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.search_status import SearchStatus


def plan_by_sets(known: Incumbent, deadline: Deadline) -> bool:
    """Improve the bound of an incumbent that has a plan, and the plan. Return
    whether the plan is proved optimal.

    Nothing is proved if no policy keeps members in one domain, if the
    objective is not a sum over hosts, or if the time ends before.
    """
    if known.objective.host_cost() is None or known.where is None:
        return False
    deadline = deadline.part(phases().bound_share)
    with contextlib.suppress(OutOfTime):
        _plan(known, known.group, float('inf'), deadline)
        if known.has_preferences:
            # Plans that violate no preference satisfy the hard policies.
            _plan(known, with_hard_forms(known.group), 0.0, deadline)
    return known.status is SearchStatus.OPTIMAL


def _plan(known: Incumbent, group: Group, limit: float,
          deadline: Deadline) -> None:
    """Improve the bound and the plan.

    :param group: the group of the incumbent, whose policies may be different
    :param limit: cost of the preferences up to which plans of the incumbent
        are plans of the group
    """
    levels = confining_levels(group)
    for kinds in _kinds(known, group, deadline) if levels else ():
        further = []
        for level in levels:
            if known.status is SearchStatus.OPTIMAL:
                return
            program = _program(known, kinds, level, deadline)
            if program is None:
                further.append(level)
            else:
                _solve(known, kinds, program, limit)
        levels = further
        if not levels:
            return


def _solve(known: Incumbent, kinds: Kinds, program: SetProgram,
           limit: float) -> None:
    """Prove the bounds of the program, and offer the plan of its solution."""
    base = constant(kinds, known.objective.host_cost())
    if program.value <= 0:
        # All members are on hosts of members that stay.
        known.prove(base, limit)
        return
    program.relax()
    known.prove(program.bound + base, limit)
    division = program.divide()
    known.prove(program.bound + base, limit)
    if division is not None and not kinds.is_coarse:
        known.offer(_placement(kinds, program.costs, division,
                               program.deadline))
    cost, value = known.plan_cost
    if cost <= known.least and value - known.bound <= ARITHMETIC * value:
        known.prove_optimal(known.plan_cost)


def _kinds(known: Incumbent, group: Group,
           deadline: Deadline) -> Iterator[Kinds]:
    """The members by kind, with fewer and fewer kinds."""
    last = 0
    for most in limits().kinds:
        kinds = known.kinds(deadline.check, most, group)
        # More kinds differ in other properties than the amounts.
        if kinds is None or len(kinds.kinds) > most or kinds.lacks_room:
            return
        if len(kinds.kinds) != last:
            yield kinds
        last = len(kinds.kinds)


def _program(known: Incumbent, kinds: Kinds, level: str,
             deadline: Deadline) -> SetProgram | None:
    """The program of one level; None if it would be too large."""
    host_cost = known.objective.host_cost()
    of_host = kinds.table.division(level).of_host
    hosts = columns(kinds, np.zeros(len(of_host), dtype=np.int64), host_cost)
    host_types = HostTypes.of(kinds, hosts, host_cost)
    set_limits = SetLimits.of(kinds, level, deadline.check)
    costs = SetCosts.of(
        ConfinedSets.of(kinds, level, set_limits.scopes), host_types,
        domain_classes(of_host, hosts, host_types, set_limits), set_limits,
        deadline.check)
    return None if costs is None else SetProgram(
        costs, set_limits, known.plan_cost[1] - constant(kinds, host_cost),
        deadline)


def _placement(kinds: Kinds, costs: SetCosts, division: Division,
               deadline: Deadline) -> dict[str, Host]:
    """Member path to host."""
    hosts = kinds.table.hosts
    where = {path: hosts[number] for path, number in kinds.placed.items()}
    kind_of = kinds.kind_of
    waiting = [list(each) for each in costs.sets.paths]
    domains = {number: iter(each.hosts)
               for number, each in enumerate(costs.classes)}
    for each, choice, number in division:
        members = costs.patterns_of(costs.classes[each], choice,
                                    deadline.check)
        for _ in range(number):
            numbers, left = next(domains[each]), members.copy()
            for type_, sets in enumerate(costs.choices[choice].tolist()):
                for _ in range(sets):
                    chosen = _hosts_of_set(
                        [kind_of[path] for path in waiting[type_][-1]], left)
                    where.update(
                        (path, hosts[numbers[host]]) for path, host
                        in zip(waiting[type_].pop(), chosen))
    return where


def _hosts_of_set(kinds: Sequence[int], left: np.ndarray) -> list[int]:
    """For each member of a set, the position of its host in the domain. The
    members get different hosts as far as possible.

    :param left: [host, kind]: places that other sets do not use; is reduced
    """
    chosen: list[int] = []
    for kind in kinds:
        fresh = [n not in chosen for n in range(len(left))]
        order = np.lexsort((left[:, kind], fresh, left[:, kind] > 0))
        chosen.append(int(order[-1]))
        left[order[-1], kind] -= 1
    return chosen
