# SPDX-License-Identifier: Apache-2.0
"""Prices of members in a relaxation with convex costs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class MemberPrices:
    """Prices of members, which are the same on all hosts.

    In each plan whose preferences cost at most ``limit``, the members on a
    host cost at least the sum of their prices, less the gain of the host.

    :ivar prices: member path to price; members without a price have the price
        0
    :ivar hosts: [n]: sorted indexes of the hosts whose gain is not 0
    :ivar gains: [n]: their gains
    """

    prices: Mapping[str, float]
    hosts: np.ndarray
    gains: np.ndarray
    limit: float
