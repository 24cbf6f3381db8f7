# SPDX-License-Identifier: Apache-2.0
"""The hosts of each class in a program of fewer hosts."""

import numpy as np

from nova_holistic.solver.problem.case import Case, Counts


def candidates(case: Case, best: Counts | None, width: int) -> np.ndarray:
    """[class, host]: whether the program contains the host for the class:
    about ``width`` hosts per class, if the class has enough hosts.

    A class keeps its hosts in the best plan so far. Next come the hosts of
    other classes. Each class starts at a different position, so that the
    classes together cover these hosts. The last are any other hosts.
    """
    room = case.open_room()
    mask = np.zeros(room.shape, dtype=bool)
    known = sorted({h for host_counts in best or () for h in host_counts})
    pool = np.array(known, dtype=np.int64)
    rest = np.setdiff1d(np.arange(len(case.table)), pool)
    for c in range(len(case.classes)):
        own = list(best[c]) if best else []
        mask[c, own] = True
        missing = max(0, width - len(own))
        for hosts in (pool, rest):
            fitting = hosts[(room[c, hosts] > 0) & ~mask[c, hosts]]
            if len(fitting) > missing:
                # Choose hosts at equal distances, with a different first host
                # for each class.
                steps = np.arange(missing) * len(fitting) // max(missing, 1)
                fitting = fitting[(steps + c) % len(fitting)]
            mask[c, fitting] = True
            missing -= len(fitting)
    return mask
