# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the cost of the hosts that members need together.

The hosts of a plan have room for the total amounts and for the number of all
members. This is a covering program with one variable for each host and a row
for each resource class. It needs no variable for a member, so it is solved in
milliseconds for thousands of members that all differ, and each host keeps its
own cost and capacity. In contrast, a relaxation of merged kinds and hosts
takes seconds if many members differ.
"""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.decomposition.cells import cell_without_rules
from nova_holistic.solver.decomposition.columns import (
    columns, Columns, constant)
from nova_holistic.solver.decomposition.member_bound import Members
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.milp.weak_duality import MACHINE_EPSILON
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds


def cover_members(incumbent: Incumbent, deadline: Deadline) -> None:
    """Prove a lower bound of the objective for any cost of preferences.

    Nothing is proved if the objective is not a sum of the costs of hosts in
    use, or if no plan exists.

    :raises OutOfTime: if the time ends before the program is built
    """
    problem = cover_problem(incumbent, deadline)
    if problem is not None:
        problem.prove(incumbent, deadline)


@dataclass(frozen=True, slots=True, eq=False)
class CoverProblem:
    """Members of coarse kinds, and all hosts that can take some of them."""

    kinds: Kinds
    hosts: Columns

    def prove(self, incumbent: Incumbent, deadline: Deadline) -> None:
        """Prove that hosts in use have room for the total amounts, and then
        that they also are as many as all policies need. To count these takes
        much longer for thousands of members with many policies.

        :raises OutOfTime: if the time ends before the hosts are counted
        """
        kinds, hosts = self.kinds, self.hosts
        cover = Cover.of(kinds, hosts, Members.of(kinds).amounts)
        self._prove(incumbent, cover.program(hosts), deadline)
        if incumbent.is_good_enough:
            return
        fewest = cell_without_rules(kinds, deadline.check).fewest_with_limits
        if fewest:
            # The minimum number of hosts without members that stay.
            self._prove(incumbent, cover.program(hosts, needed=(
                ~np.isin(hosts.hosts, kinds.placed_hosts), fewest)), deadline)

    def _prove(self, incumbent: Incumbent, program: Linear,
               deadline: Deadline) -> None:
        outcome, _ = program.solve(deadline.left())
        if outcome.solved and outcome.bound is not None:
            incumbent.prove(
                outcome.bound + constant(
                    self.kinds, incumbent.objective.host_cost()),
                float('inf'))


def cover_problem(incumbent: Incumbent,
                  deadline: Deadline) -> CoverProblem | None:
    """Return the problem; None if the objective is not a sum of the costs of
    hosts in use, or if no host can take a member.

    :raises OutOfTime: if the time ends before the problem is built
    """
    host_cost = incumbent.objective.host_cost()
    if host_cost is None or host_cost.slopes:
        return None
    kinds = incumbent.kinds(deadline.check, limits().relaxed_kinds)
    if kinds is None:
        return None
    cell = cell_without_rules(kinds, deadline.check, counts=False)
    hosts = columns(kinds, cell.of, host_cost)
    return CoverProblem(kinds, hosts) if len(hosts.hosts) else None


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """What each host can contribute, and what members need together.

    :ivar room: [host]: maximum number of members
    :ivar taken: [host, resource class]: maximum amounts that members take
    :ivar amounts: [member, resource class]: requested amounts
    """

    room: np.ndarray
    taken: np.ndarray
    amounts: np.ndarray

    @classmethod
    def of(cls, kinds: Kinds, hosts: Columns, amounts: np.ndarray) -> 'Cover':
        """:param amounts: [member, resource class]"""
        free = kinds.free[hosts.hosts]
        room = np.minimum(hosts.room.sum(axis=1), min(
            kinds.most_on_a_host, len(amounts)))
        # The smallest members leave room for the largest number of members.
        for requested, here in zip(amounts.T, free.T):
            least = np.cumsum(np.sort(requested))
            room = np.minimum(room, np.searchsorted(least, here, 'right'))
        taken = np.array([_taken(np.sort(requested), here, room)
                          for requested, here in zip(amounts.T, free.T)])
        return cls(room, taken.reshape(-1, len(free)).T, amounts)

    def program(self, hosts: Columns, share: float = 1.0,
                needed: tuple[np.ndarray, int] | None = None) -> Linear:
        """The program whose variables are the hosts in use.

        :param share: share of the amounts and of the members to cover
        :param needed: mask of hosts, and the minimum number of them
        """
        size = len(hosts.hosts)
        # With a few rows and thousands of variables, presolve takes ten times
        # as long as the simplex method.
        result = Linear(hosts.opening.astype(float), np.ones(size),
                        options={'presolve': 'off'})
        for values, total in (
                *zip(self.taken.T, self.amounts.sum(axis=0)),
                (self.room, len(self.amounts)), *([needed] if needed else [])):
            if total > 0:
                # Quotients are rounded up: the program remains a relaxation.
                quotients = values / float(total) * (1 + 8 * MACHINE_EPSILON)
                result.add_row([(np.arange(size), quotients)], share, np.inf)
        return result


def _taken(requested: np.ndarray, free: np.ndarray,
           room: np.ndarray) -> np.ndarray:
    """[host]: the maximum amount that its members take.

    :param requested: [member]: amounts in ascending order
    :param free: [host]: free amount
    :param room: [host]: maximum number of members
    """
    total = np.concatenate(([0], np.cumsum(requested)))
    fitting = np.searchsorted(requested, free, 'right')
    largest = total[fitting] - total[np.maximum(0, fitting - room)]
    return np.minimum(free, largest)
