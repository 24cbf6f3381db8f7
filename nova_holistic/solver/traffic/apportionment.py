# SPDX-License-Identifier: Apache-2.0
"""Numbers of members, shared out."""

from collections.abc import Mapping, Sequence

import numpy as np

from nova_holistic.solver.traffic.traffic_graph import Star

ClassCounts = dict[int, int]
"""How many of each class."""


def apportioned(total: int, among: Mapping[int, int]) -> ClassCounts:
    """So many in all, each about in proportion to what there is of it."""
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
    """The same number of members, shared out evenly to leaves that talk as
    much: so they do on hosts, too."""
    for mbps in {*star.mbps}:
        alike = [s for s, each in enumerate(star.mbps, 1) if each == mbps]
        share = apportioned(sum(pattern[s] for s in alike),
                            {s: most[s] for s in alike})
        for s, number in share.items():
            pattern[s] = number
    return pattern


def filled(more: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """As many of each node as may be there together."""
    found, left = np.zeros_like(more), joint.copy()
    for slot in range(more.shape[1]):
        found[:, slot] = np.minimum(more[:, slot], left)
        left = left - found[:, slot]
    return found
