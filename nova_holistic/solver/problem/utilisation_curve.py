# SPDX-License-Identifier: Apache-2.0
"""The cost of a host: for objectives that rise with its utilisation, and for
the number of hosts."""

import numpy as np

from nova_holistic.model.objective import HostCost


def curve(share: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Cost of a utilisation: a convex, piecewise linear function.

    :param share: utilisations, from 0 to 1
    :param slopes: slopes of pieces of equal length, from utilisation 0 to 1
    """
    number = len(slopes)
    edges = np.concatenate(([0.0], np.cumsum(slopes)))
    position = np.clip(share, 0.0, 1.0) * number
    piece = np.minimum(position.astype(np.int64), number - 1)
    height = edges[piece] + np.asarray(slopes)[piece] * (position - piece)
    return height / number


def is_number_of_hosts(host_cost: HostCost | None) -> bool:
    """Whether the objective is the number of hosts in use.

    :param host_cost: None if the objective is not a sum over hosts
    """
    free = np.linspace(0.0, 1.0, 3)
    return host_cost is not None and not host_cost.slopes and bool(
        (host_cost.opening(free) == 1.0).all())
