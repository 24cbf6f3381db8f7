# SPDX-License-Identifier: Apache-2.0
"""A plan on the hosts that cover the members of each domain.

Greedy construction opens a further host whenever a member does not fit. If
thousands of members differ, it therefore uses many more hosts than they need,
and a search that improves the plan moves too few members in time. A covering
program chooses the hosts of each domain first. Greedy construction then fills
them, and uses further hosts only for members that do not fit.
"""

from collections.abc import Iterator
import contextlib

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.construct.attempt import Attempt, largest
from nova_holistic.solver.construct.greedy import Restarts
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.decomposition.member_bound import Members
from nova_holistic.solver.limits.current import (
    construct as construct_limits, phases as limits)
from nova_holistic.solver.phases.host_cover import (
    Cover, cover_problem, CoverProblem)
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.subproblem import Subproblem


def plan_on_cover(incumbent: Incumbent, deadline: Deadline) -> None:
    """Offer plans on hosts that cover the members, and prove the bound of
    ``cover_members``. Each domain of the coarsest level of a policy keeps the
    number of members that it has in the incumbent.

    Nothing is done if the objective is not a sum of the costs of hosts in use,
    or if no plan is known.
    """
    if incumbent.where is None:
        return
    with contextlib.suppress(OutOfTime):
        problem = cover_problem(incumbent, deadline)
        if problem is None:
            return
        problem.prove(incumbent, deadline)
        if not incumbent.is_good_enough:
            _offer_plans(incumbent, problem, deadline)


def _offer_plans(incumbent: Incumbent, problem: CoverProblem,
                 deadline: Deadline) -> None:
    """:raises OutOfTime: if the time ends before the last plan"""
    table = problem.kinds.table
    domains = [*_domains(incumbent, problem.kinds, problem.hosts)]
    some = _covering(domains, limits().covers[-1], deadline)
    case = incumbent.case(deadline.check, Subproblem(table.part(
        np.union1d(some, problem.kinds.placed_hosts)), constructs=True))
    hosts = table.indexes(case.table.hosts)
    for margin in limits().covers[:-1]:
        first = np.isin(hosts, _covering(domains, margin, deadline))

        def ordering(attempt: Attempt, first=first) -> np.ndarray:
            # The scores of hosts differ by less than 10.
            return np.where(first, 0.0, 10.0) + largest(attempt)

        counts = Restarts(case, deadline).run(
            ordering, construct_limits().further_restarts)
        if counts is not None:
            incumbent.offer(case.placement(counts))


def _domains(incumbent: Incumbent, kinds: Kinds, hosts: Columns
             ) -> Iterator[tuple[Columns, Cover]]:
    """The hosts of each domain with members, and what they can contribute."""
    members = Members.of(kinds)
    levels = {level for each in incumbent.policies
              for level in each.policy.levels}
    level = next((each for each in incumbent.snapshot.levels
                  if each in levels and each != HOST), None)
    if level is None:
        yield hosts, Cover.of(kinds, hosts, members.amounts)
        return
    of = kinds.table.division(level).of_host
    domain = np.array([
        of[kinds.table.index[incumbent.where[member.path].name]]
        for each in kinds.kinds for member in each.members])
    for number in np.unique(domain):
        here = hosts.part(np.flatnonzero(of[hosts.hosts] == number))
        yield here, Cover.of(kinds, here, members.amounts[domain == number])


def _covering(domains: list[tuple[Columns, Cover]], margin: float,
              deadline: Deadline) -> np.ndarray:
    """Indexes of hosts that cover the members of each domain.

    :param margin: additional share of each amount
    """
    found = []
    for hosts, cover in domains:
        deadline.check()
        outcome, values = cover.program(hosts, 1 + margin).solve(
            deadline.left())
        # The domain may have too little room for the margin.
        found.append(hosts.hosts[values > 0] if outcome.solved
                     else hosts.hosts)
    return np.concatenate(found)
