# SPDX-License-Identifier: Apache-2.0
"""Apportionment of numbers of members."""

from collections.abc import Mapping, Sequence

import numpy as np

from nova_holistic.solver.traffic.traffic_graph import Star

ClassCounts = dict[int, int]
"""Number of members of each class."""


def apportioned(total: int, among: Mapping[int, int]) -> ClassCounts:
    """The total, divided in proportion to the available numbers by the largest
    remainder method, without exceeding any of these numbers.

    :param among: available number of each class
    """
    there = sum(among.values())
    total = min(total, there)
    found = {c: number * total // max(there, 1)
             for c, number in among.items()}
    rest = sorted(among, key=lambda c: (
        -(among[c] * total % max(there, 1)), c))
    for c in rest[:total - sum(found.values())]:
        found[c] += 1
    return found


def balanced(star: Star, pattern: list[int], most: Sequence[int]) -> list[int]:
    """Distribute the same number of members evenly among leaves with equal
    traffic. This keeps the distribution over hosts even as well.

    :param pattern: number of members of each node of the star; changed in
        place
    :param most: maximum number of members of each node
    """
    for mbps in {*star.mbps}:
        alike = [s for s, each in enumerate(star.mbps, 1) if each == mbps]
        share = apportioned(sum(pattern[s] for s in alike),
                            {s: most[s] for s in alike})
        for s, number in share.items():
            pattern[s] = number
    return pattern


def filled(more: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """[domain, node]: numbers of members whose sum does not exceed the joint
    limit. Each node gets as many as possible after the nodes before it.

    :param more: [domain, node]: maximum number of members
    :param joint: [domain]: limit of the sum over nodes
    """
    found, left = np.zeros_like(more), joint.copy()
    for slot in range(more.shape[1]):
        found[:, slot] = np.minimum(more[:, slot], left)
        left = left - found[:, slot]
    return found
