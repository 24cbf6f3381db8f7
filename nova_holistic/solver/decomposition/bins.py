# SPDX-License-Identifier: Apache-2.0
"""Bins of merged hosts: each is as good as the best of its hosts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.problem.kinds import Kinds


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Best properties of one host of each bin.

    This one host is as large as an average host of the bin. Therefore, it
    represents several small hosts, or a part of a large one.

    :ivar size: [bin]: number of its hosts
    :ivar cell: [bin]: cell of its hosts
    :ivar free: [bin, resource class]: free amount of one host
    :ivar room: [bin, kind]: maximum number of members on one host
    :ivar opening: [bin]: cost of using one host
    :ivar weight_ratio: [bin]: the maximum number of real hosts that one host
        represents, by which limits on the members of a host are multiplied
    :ivar least_ratio: [bin]: the minimum number of real hosts that one host
        represents
    :ivar has_new: [bin]: whether it has hosts without members that stay
    """

    size: np.ndarray
    cell: np.ndarray
    free: np.ndarray
    room: np.ndarray
    opening: np.ndarray
    weight_ratio: np.ndarray
    least_ratio: np.ndarray
    has_new: np.ndarray

    @classmethod
    def of(cls, kinds: Kinds, columns: Columns,
           bins: Sequence[np.ndarray]) -> 'Bins':
        """Merge the hosts of each bin.

        :param bins: for each bin, numbers of its hosts in the columns
        """
        k, r = len(kinds.kinds), len(kinds.names)
        values, weight = columns.values(), columns.weight
        best = np.array([values[each].max(axis=0) for each in bins],
                        float).reshape(len(bins), -1)
        mean = np.array([weight[each].mean() for each in bins])
        least = np.array([weight[each].min() for each in bins])
        most = np.array([weight[each].max() for each in bins])
        best = best[:, :r + k + 1] * mean[:, None]
        held = np.isin(columns.hosts, kinds.placed_hosts)
        return cls(np.array([len(each) for each in bins]),
                   np.array([columns.cell[each[0]] for each in bins]),
                   best[:, :r], best[:, r:r + k], -best[:, r + k],
                   mean / least, mean / most,
                   np.array([not held[each].all() for each in bins], bool))
