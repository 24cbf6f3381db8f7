# SPDX-License-Identifier: Apache-2.0
"""Patterns on hosts that at least one best plan does not use.

A pattern dominates another one in the same cell if it has at least as many
members of each kind and its host does not cost more. A plan uses a limited
number of hosts. If as many other hosts have a dominating pattern, one of them
is not used, and the members can move there.
"""

import numpy as np

from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.useful_patterns import Patterns
from nova_holistic.solver.limits.current import small_groups as limits


def without_dominated(host_types: HostTypes, patterns: Patterns,
                      hosts: int) -> Patterns:
    """The patterns without those that some best plan does not use.

    :param hosts: maximum number of hosts with patterns in a plan
    """
    costs = host_types.opening[patterns.types]
    order = np.lexsort((patterns.types, costs))
    patterns = Patterns(patterns.types[order], patterns.members[order])
    # Most dominated patterns have an equal cheaper pattern.
    key = np.column_stack((host_types.cell[patterns.types], patterns.members))
    _, of = np.unique(key, axis=0, return_inverse=True)
    numbers = host_types.numbers[patterns.types]
    patterns = _only(patterns, _earlier(of.reshape(-1), numbers) < hosts)
    if len(patterns.types) > limits().compared_patterns:
        return patterns
    return _only(patterns, _dominating(host_types, patterns) < hosts)


def _only(patterns: Patterns, which: np.ndarray) -> Patterns:
    return Patterns(patterns.types[which], patterns.members[which])


def _earlier(of: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """[element]: sum of the numbers of earlier elements of the same group.

    :param of: [element]: group
    """
    order = np.argsort(of, kind='stable')
    total = np.cumsum(numbers[order]) - numbers[order]
    first = np.flatnonzero(np.diff(of[order], prepend=-1))
    sizes = np.diff(first, append=len(of))
    found = np.zeros(len(of), dtype=np.int64)
    found[order] = total - np.repeat(total[first], sizes)
    return found


def _dominating(host_types: HostTypes, patterns: Patterns) -> np.ndarray:
    """[pattern]: number of other hosts with a dominating pattern.

    :param patterns: in the order of their costs
    """
    number = len(patterns.types)
    cell = host_types.cell[patterns.types]
    by_type = np.argsort(patterns.types, kind='stable')
    types = patterns.types[by_type]
    first = np.flatnonzero(np.diff(types, prepend=-1))
    found = np.zeros(number, dtype=np.int64)
    for n in range(number):
        # Patterns of a host that costs the same dominate in one direction.
        better = (by_type < n) & (cell[by_type] == cell[n]) & (
            types != patterns.types[n])
        better[better] = (patterns.members[by_type[better]]
                          >= patterns.members[n]).all(axis=1)
        found[n] = host_types.numbers[types[first]][
            np.logical_or.reduceat(better, first)].sum()
    return found
