# SPDX-License-Identifier: Apache-2.0
"""Numbers of members, shared out."""

from collections.abc import Mapping, Sequence

import numpy as np

from nova_holistic.solver.traffic.traffic import Star

Wanted = dict[int, int]
"""How many of each crew."""


def shared_out(total: int, among: Mapping[int, int]) -> Wanted:
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


def balanced(star: Star, mix: list[int], most: Sequence[int]) -> list[int]:
    """The same number of members, shared out evenly to leaves that talk as
    much: so they do on hosts, too."""
    for mbps in {*star.mbps}:
        alike = [s for s, each in enumerate(star.mbps, 1) if each == mbps]
        share = shared_out(sum(mix[s] for s in alike),
                           {s: most[s] for s in alike})
        for s, number in share.items():
            mix[s] = number
    return mix


def as_many(more: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """As many of each node as may be there together."""
    found, left = np.zeros_like(more), joint.copy()
    for slot in range(more.shape[1]):
        found[:, slot] = np.minimum(more[:, slot], left)
        left = left - found[:, slot]
    return found
