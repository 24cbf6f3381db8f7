# SPDX-License-Identifier: Apache-2.0
"""The maximum number of some members on each host."""

from collections.abc import Iterable

import numpy as np

from nova_holistic.solver.problem.kinds import Kinds


def host_room(kinds: Kinds, paths: Iterable[str]) -> np.ndarray:
    """[host]: maximum number of these members, from the room for each kind,
    the free amounts of each resource class, and the policies that limit the
    members on a host.

    :param paths: paths of members of the kinds, none of which stays
    """
    kind_of = kinds.kind_of
    numbers = np.bincount([kind_of[path] for path in paths],
                          minlength=len(kinds.kinds))
    room = np.minimum(np.minimum(kinds.room, numbers[:, None]).sum(axis=0),
                      kinds.most_on_a_host)
    for amounts, free in zip(kinds.amounts.T, kinds.free.T):
        # The smallest members come first.
        total = np.cumsum(np.sort(np.repeat(amounts, numbers)))
        room = np.minimum(room, np.searchsorted(total, free, 'right'))
    return room
