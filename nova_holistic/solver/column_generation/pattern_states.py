# SPDX-License-Identifier: Apache-2.0
"""The cheapest patterns that cover all members, by dynamic programming.

A state is the number of members of each kind that have no place yet. The
minimum cost of each state is computed for one host after another. In contrast
to an integer program, the effort is known in advance, and it does not depend
on the number of plans of nearly equal cost. Costs are only added and compared.
"""

import math

import numpy as np

from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.patterns import Patterns
from nova_holistic.solver.limits.current import small_groups as limits
from nova_holistic.solver.problem.deadline import InTime


def suits_states(host_types: HostTypes, patterns: Patterns,
                 numbers: np.ndarray, hosts: int) -> bool:
    """Whether the states of all hosts are few enough.

    :param numbers: [kind]: number of members
    :param hosts: maximum number of hosts in a plan
    """
    repeated = int(np.minimum(
        host_types.numbers[patterns.types], hosts).sum())
    return repeated * math.prod((numbers + 1).tolist()) <= (
        limits().pattern_states)


def cheapest_cover(host_types: HostTypes, patterns: Patterns,
                   numbers: np.ndarray, hosts: int, in_time: InTime
                   ) -> tuple[float, np.ndarray]:
    """Return the minimum cost, and [pattern]: number of hosts with it. The
    cost is infinite if the patterns do not cover all members.

    :param numbers: [kind]: number of members
    :param hosts: maximum number of hosts in a plan
    """
    shape = tuple((numbers + 1).tolist())
    best = np.full(shape, np.inf)
    best[(0,) * len(shape)] = 0.0
    order = np.argsort(patterns.types, kind='stable')
    ends = np.flatnonzero(np.diff(patterns.types[order])) + 1
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    for of_type in np.split(order, ends) if len(order) else ():
        host_type = patterns.types[of_type[0]]
        cost = float(host_types.opening[host_type])
        for _ in range(min(int(host_types.numbers[host_type]), hosts)):
            in_time()
            chosen = np.zeros(shape, dtype=np.int32)
            after = best.copy()
            for place, pattern in enumerate(of_type.tolist()):
                found = best[np.ix_(*_rest(patterns, pattern, shape))] + cost
                better = found < after
                after[better] = found[better]
                chosen[better] = place + 1
            best = after
            steps.append((of_type, chosen))
    return float(best[tuple(numbers)]), _used(patterns, steps, numbers, best)


def _rest(patterns: Patterns, pattern: int,
          shape: tuple[int, ...]) -> list[np.ndarray]:
    """For each kind, from the number of members that have no place before the
    host to the number after it."""
    return [np.maximum(np.arange(size) - taken, 0) for size, taken in zip(
        shape, patterns.members[pattern].tolist())]


def _used(patterns: Patterns, steps: list[tuple[np.ndarray, np.ndarray]],
          numbers: np.ndarray, best: np.ndarray) -> np.ndarray:
    found = np.zeros(len(patterns.types), dtype=np.int64)
    left = numbers.copy()
    if np.isfinite(best[tuple(left)]):
        for of_type, chosen in reversed(steps):
            place = int(chosen[tuple(left)])
            if place:
                found[of_type[place - 1]] += 1
                left = np.maximum(
                    left - patterns.members[of_type[place - 1]], 0)
    return found
