# SPDX-License-Identifier: Apache-2.0
"""Dual values of the hosts in a relaxation with convex costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class HostDuals:
    """Dual values of the hosts that are not 0.

    :ivar hosts: [n]: sorted indexes of the hosts
    :ivar alone: [n]: weight of the cost of each member alone, from 0 to 1
    :ivar slope: [n]: price of a unit of utilisation, which has the other
        weight
    :ivar classes: resource classes
    :ivar amounts: [n, class]: price of a unit of the class; not negative
    """

    hosts: np.ndarray
    alone: np.ndarray
    slope: np.ndarray
    classes: Sequence[str]
    amounts: np.ndarray
