# SPDX-License-Identifier: Apache-2.0
"""The cost of a host: for objectives that rise with its utilisation, and for
the number of hosts."""

from collections.abc import Mapping, Sequence

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.objective import HostCost
from nova_holistic.objectives.utilisation import utilisation


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


def cost_increase(host_cost: HostCost, host: Host, classes: Sequence[str],
                  amounts: Mapping[str, int], is_used: bool) -> float:
    """The increase of the cost of a host by these amounts.

    :param classes: resource classes that the group requests
    :param is_used: whether the group uses the host already
    """
    before = utilisation(host, classes)
    after = utilisation(host, classes, amounts)
    return ((0.0 if is_used else host_cost.opening(1 - before))
            + host_cost.utilisation_cost(after)
            - host_cost.utilisation_cost(before))


def is_number_of_hosts(host_cost: HostCost | None) -> bool:
    """Whether the objective is the number of hosts in use.

    :param host_cost: None if the objective is not a sum over hosts
    """
    free = np.linspace(0.0, 1.0, 3)
    return host_cost is not None and not host_cost.slopes and bool(
        (host_cost.opening(free) == 1.0).all())
