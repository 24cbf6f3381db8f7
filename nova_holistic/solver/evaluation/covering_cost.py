# SPDX-License-Identifier: Apache-2.0
"""The minimum cost of hosts with room for a number of members."""

import numpy as np

from nova_holistic.solver.limits.current import problem as limits


def covering_cost(room: np.ndarray, cost: np.ndarray, number: int) -> float:
    """A lower bound of the total cost of hosts that together have room for the
    members; 0 if all hosts together have too little room.

    The bound is exact unless the members are many: then, hosts count in
    fractions. Of the hosts with equal room, only the cheapest are compared.

    :param room: [host]: number of members, at least 0
    :param cost: [host]: cost, at least 0
    """
    room = np.minimum(room, number)
    hosts = np.flatnonzero(room)
    if room.sum() < number:
        return 0.0
    if number > limits().covered_members:
        return _in_fractions(room[hosts], cost[hosts], number)
    # The minimum cost of hosts for each number of members.
    least = np.full(number + 1, np.inf)
    least[0] = 0.0
    for members in np.unique(room[hosts]).tolist():
        costs = np.sort(cost[room == members])[:-(-number // members)]
        for each in costs.tolist():
            least[members:] = np.minimum(
                least[members:], least[:-members] + each)
            least[:members] = np.minimum(least[:members], [
                0.0, *[each] * (members - 1)])
    return float(least[number])


def _in_fractions(room: np.ndarray, cost: np.ndarray, number: int) -> float:
    """The minimum cost if fractions of hosts were possible at fractions of
    their cost.

    :param room: [host]: number of members, at least 1
    """
    order = np.argsort(cost / room, kind='stable')[:number]
    room, cost = room[order], cost[order]
    before = np.cumsum(room) - room
    taken = np.clip(number - before, 0, room)
    return float((taken / room) @ cost)
