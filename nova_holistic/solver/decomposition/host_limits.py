# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the number of hosts of a group, from the limits of hosts.

If a host may hold two of eight members, they need four hosts. A relaxation
merges the members of all groups that request the same amounts, so that it does
not know the limits of one group.
"""

import numpy as np

from nova_holistic.solver.decomposition.host_room import host_room
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.kinds import Kinds, limited_scopes


def hosts_of_limits(kinds: Kinds, in_time: InTime) -> int:
    """Lower bound of the number of hosts that get members in any plan; 0 if
    nothing is proved.

    :param kinds: the members, none of which stays on its host
    """
    limited = sorted(
        limited_scopes(kinds.group),
        key=lambda each: -(len(each[1].members) / max(each[0], 1)))
    found = 0
    for most, scope in limited[:limits().nested_scopes]:
        in_time()
        members = np.minimum(host_room(
            kinds, (m.path for m in scope.members)), most)
        total = np.cumsum(np.sort(members)[::-1])
        hosts = int(np.searchsorted(total, len(scope.members))) + 1
        if hosts <= len(total):
            found = max(found, hosts)
    return found
