# SPDX-License-Identifier: Apache-2.0
"""Traffic that a cell keeps within the domains of several nested levels."""

from collections.abc import Sequence

import numpy as np

from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.traffic.domain_aggregate import CellTable
from nova_holistic.solver.traffic.traffic_graph import Star


def nested_aggregate(star: Star, sizes: tuple[int, int], room: np.ndarray,
                     cells_are_domains: bool,
                     deadline: Deadline) -> CellTable | None:
    """Traffic of two disjoint nodes within the domains of cells, summed over
    levels, assuming that all domains of a level are as good as the best of
    them and that their number is unlimited. None if the computation would take
    too much time.

    The bound is tighter than one bound for each level: the hosts of a rack
    hold the members of this rack, in whole numbers.

    :param sizes: number of members of each node
    :param room: [level, cell, 3]: of the best domains of each level, from
        coarse to fine, the maximum number of members of each node and of both
        nodes; the first level is the cell itself
    :param cells_are_domains: whether the members in a cell are in one domain
        of the first level
    :raises OutOfTime: if the time limit has passed
    """
    n, m = sizes[0] + 1, sizes[1] + 1
    patterns = np.minimum(room[1:, :, :2], sizes).prod(axis=2).max(initial=0)
    if n * m > limits().aggregate_pairs or (
            n * m * patterns > limits().nested_patterns):
        return None
    known: dict[bytes, np.ndarray] = {}
    found = []
    for cell in range(room.shape[1]):
        own = np.ascontiguousarray(room[:, cell])
        key = own.tobytes()
        if key not in known:
            known[key] = _kept_in_cell(
                (n, m), own.tolist(), cells_are_domains, deadline)
        found.append(known[key] * star.mbps[0])
    return CellTable(star, np.arange(len(found)),
                     np.array(found).reshape(len(found), n, m))


def _kept_in_cell(shape: tuple[int, int], room: Sequence[Sequence[int]],
                  cell_is_domain: bool, deadline: Deadline) -> np.ndarray:
    """[a, b]: pairs that the domains of a cell keep, summed over levels."""
    pairs = np.multiply.outer(
        np.arange(shape[0], dtype=float), np.arange(shape[1]))
    kept = np.zeros(shape)
    for most in reversed(room[1:]):
        kept = _distributed(pairs + kept, most, deadline)
    if cell_is_domain:
        kept = kept + pairs
    a, b = np.ogrid[:shape[0], :shape[1]]
    one, other, joint = room[0]
    return np.where((a <= one) & (b <= other) & (a + b <= joint), kept,
                    -np.inf)


def _distributed(value: np.ndarray, most: Sequence[int],
                 deadline: Deadline) -> np.ndarray:
    """[a, b]: the largest sum of values of domains that together hold at most
    these numbers of members.

    :param value: [a, b]: value of one domain
    :param most: maximum number of members of each node, and of both, in one
        domain
    """
    n, m = value.shape
    one, other, joint = most
    found = np.zeros((n, m))
    # A domain without a member of either node keeps no pair.
    patterns = [(i, j) for i in range(1, min(one, n - 1) + 1)
                for j in range(1, min(other, joint - i, m - 1) + 1)]
    while True:
        before = found.copy()
        for i, j in patterns:
            np.maximum(found[i:, j:], value[i, j] + found[:n - i, :m - j],
                       out=found[i:, j:])
        deadline.check()
        if np.array_equal(before, found):
            return found
