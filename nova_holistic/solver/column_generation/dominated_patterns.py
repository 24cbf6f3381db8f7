# SPDX-License-Identifier: Apache-2.0
"""Patterns on hosts that at least one best plan does not use.

A pattern dominates another one in the same cell if it has at least as many
members of each kind and its host does not cost more. A plan uses a limited
number of hosts. If as many other hosts have a dominating pattern, one of them
is not used, and the members can move there.
"""

import math

import numpy as np

from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.patterns import Patterns
from nova_holistic.solver.limits.current import small_groups as limits
from nova_holistic.solver.problem.deadline import InTime


def without_dominated(host_types: HostTypes, patterns: Patterns, hosts: int,
                      in_time: InTime) -> Patterns:
    """The patterns without those that some best plan does not use.

    :param hosts: maximum number of hosts with patterns in a plan
    """
    # Most dominated patterns have an equal cheaper pattern.
    patterns = without_equal(host_types, patterns, hosts)
    if len(patterns) > limits().compared_patterns:
        return patterns
    return patterns.only(_dominating(host_types, patterns, in_time) < hosts)


def without_equal(host_types: HostTypes, patterns: Patterns,
                  hosts: int) -> Patterns:
    """The patterns on the cheapest hosts, in the order of their costs.

    :param hosts: maximum number of hosts with patterns in a plan
    """
    costs = host_types.opening[patterns.types]
    patterns = patterns.only(np.lexsort((patterns.types, costs)))
    of = _numbered(np.column_stack((
        host_types.cell[patterns.types], patterns.members)))
    numbers = host_types.numbers[patterns.types]
    return patterns.only(_earlier(of, numbers) < hosts)


def _numbered(rows: np.ndarray) -> np.ndarray:
    """[row]: a number that equal rows have in common.

    :param rows: [row, column], not negative
    """
    # Sorting one number per row is ten times as fast as sorting rows.
    sizes = [int(each) + 1 for each in rows.max(axis=0, initial=0)]
    if math.prod(sizes) > np.iinfo(np.int64).max:
        return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    weights = [math.prod(sizes[:n]) for n in range(len(sizes))]
    return np.unique(rows @ np.array(weights, dtype=np.int64),
                     return_inverse=True)[1]


def _earlier(of: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """[element]: sum of the numbers of earlier elements of the same group."""
    order = np.argsort(of, kind='stable')
    total = np.cumsum(numbers[order]) - numbers[order]
    first = np.flatnonzero(np.diff(of[order], prepend=-1))
    sizes = np.diff(first, append=len(of))
    found = np.zeros(len(of), dtype=np.int64)
    found[order] = total - np.repeat(total[first], sizes)
    return found


def _dominating(host_types: HostTypes, patterns: Patterns,
                in_time: InTime) -> np.ndarray:
    """[pattern]: number of other hosts with a dominating pattern.

    :param patterns: in the order of their costs
    """
    cells = host_types.cell[patterns.types]
    found = np.zeros(len(patterns), dtype=np.int64)
    for cell in np.unique(cells):
        here = np.flatnonzero(cells == cell)
        types, members = patterns.types[here], patterns.members[here]
        for n, number in enumerate(here):
            in_time()
            # Patterns of a host that costs the same dominate in one direction.
            better = np.unique(types[:n][
                (members[:n] >= members[n]).all(axis=1)])
            found[number] = host_types.numbers[
                better[better != types[n]]].sum()
    return found
