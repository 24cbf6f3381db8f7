# SPDX-License-Identifier: Apache-2.0
"""The hosts that a solution of a program of numbers leads to."""

from collections.abc import Sequence

import numpy as np

from nova_holistic.solver.host_counts.count_program import CountProgram
from nova_holistic.solver.host_counts.region_rows import Together
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.numerics.tolerances import INTEGRALITY


def promising_hosts(program: CountProgram, value: np.ndarray,
                    solution: np.ndarray,
                    together: Sequence[Together]) -> np.ndarray:
    """Sorted indexes of hosts: in each cell those that can hold the most, and
    more of them than the solution uses; and for members that one domain holds,
    hosts of the domains that can hold the most.

    :param value: [host]: the maximum value that the host can hold
    :param solution: [variable]
    :param together: members that one domain holds
    """
    hosts = program.hosts
    chosen = [np.zeros(0, dtype=np.int64)]
    for cell, number in enumerate(solution[program.of_n].tolist()):
        if number > INTEGRALITY:
            inside = np.flatnonzero(hosts.cell == cell)
            most = limits().counted_hosts * int(np.ceil(number))
            chosen.append(inside[np.argsort(
                -value[inside], kind='stable')[:most]])
    for each in together:
        for region in np.flatnonzero(solution[each.used] > INTEGRALITY):
            domains = np.flatnonzero((each.region == region)
                                     & np.isfinite(each.needed))
            best = sorted((_best(value, each, domain)
                           for domain in domains.tolist()),
                          key=lambda those: -value[those].sum())
            chosen += best[:limits().counted_hosts]
    return np.unique(hosts.hosts[np.concatenate(chosen)])


def _best(value: np.ndarray, each: Together, domain: int) -> np.ndarray:
    """The hosts of the domain that can hold the most, as many as the members
    need."""
    inside = np.flatnonzero(each.domain == domain)
    return inside[np.argsort(-value[inside], kind='stable')[
        :max(1, int(each.needed[domain]))]]
