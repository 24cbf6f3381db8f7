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

from nova_holistic.solver.decomposition.cells import Cells, cell_without_rules
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
    host_cost = incumbent.objective.host_cost()
    if host_cost is None or host_cost.slopes:
        return
    kinds = Kinds.of(incumbent.group, incumbent.snapshot, incumbent.placed,
                     deadline.check, limits().coarse_kinds)
    if kinds is None or not kinds.kinds:
        return
    cell = cell_without_rules(kinds, deadline.check)
    hosts = columns(kinds, cell.of, host_cost)
    if not len(hosts.hosts):
        return
    outcome, _ = _Cover.of(kinds, hosts).program(hosts, _needed(
        kinds, cell, hosts)).solve(deadline.left())
    if outcome.solved and outcome.bound is not None:
        incumbent.prove(outcome.bound + constant(kinds, host_cost),
                        float('inf'))


def _needed(kinds: Kinds, cell: Cells,
            hosts: Columns) -> tuple[np.ndarray, int]:
    """[host]: whether no member stays on it; and the minimum number of such
    hosts in use."""
    new = ~np.isin(hosts.hosts, [*kinds.placed.values()])
    return new, cell.fewest_with_limits


@dataclass(frozen=True, slots=True, eq=False)
class _Cover:
    """What each host can contribute, and what all members need.

    :ivar room: [host]: maximum number of members
    :ivar taken: [host, resource class]: maximum amounts that members take
    :ivar amounts: [member, resource class]: requested amounts
    """

    room: np.ndarray
    taken: np.ndarray
    amounts: np.ndarray

    @classmethod
    def of(cls, kinds: Kinds, hosts: Columns) -> '_Cover':
        free = kinds.free[hosts.hosts]
        amounts = Members.of(kinds).amounts
        room = np.minimum(hosts.room.sum(axis=1), min(
            kinds.most_on_a_host, len(amounts)))
        # The smallest members leave room for the largest number of members.
        for requested, here in zip(amounts.T, free.T):
            least = np.cumsum(np.sort(requested))
            room = np.minimum(room, np.searchsorted(least, here, 'right'))
        taken = np.array([_taken(np.sort(requested), here, room)
                          for requested, here in zip(amounts.T, free.T)])
        return cls(room, taken.reshape(-1, len(free)).T, amounts)

    def program(self, hosts: Columns,
                needed: tuple[np.ndarray, int]) -> Linear:
        """The program whose variables are the hosts in use.

        :param needed: mask of hosts, and the minimum number of them
        """
        size = len(hosts.hosts)
        result = Linear(hosts.opening.astype(float), np.ones(size))
        new, fewest = needed
        for values, total in (
                *zip(self.taken.T, self.amounts.sum(axis=0)),
                (self.room, len(self.amounts)), (new, fewest)):
            if total > 0:
                # Quotients are rounded up: the program remains a relaxation.
                share = values / float(total) * (1 + 8 * MACHINE_EPSILON)
                result.add(np.zeros(size), np.arange(size), share, 1.0,
                           np.inf, 1)
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
