# SPDX-License-Identifier: Apache-2.0
"""Apportionment of numbers of members."""

from collections.abc import Mapping, Sequence

import numpy as np

from nova_holistic.solver.traffic.traffic_graph import Star

ClassCounts = dict[int, int]
"""Number of members of each class."""


def apportioned(total: int, among: Mapping[int, int]) -> ClassCounts:
    """The total, divided about in proportion to the available numbers."""
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
    traffic. This keeps the distribution over hosts even as well."""
    for mbps in {*star.mbps}:
        alike = [s for s, each in enumerate(star.mbps, 1) if each == mbps]
        share = apportioned(sum(pattern[s] for s in alike),
                            {s: most[s] for s in alike})
        for s, number in share.items():
            pattern[s] = number
    return pattern


def filled(more: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """For each node, the largest number that fits into the joint limit."""
    found, left = np.zeros_like(more), joint.copy()
    for slot in range(more.shape[1]):
        found[:, slot] = np.minimum(more[:, slot], left)
        left = left - found[:, slot]
    return found
