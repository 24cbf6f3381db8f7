# SPDX-License-Identifier: Apache-2.0
"""Uplinks that are too full for the traffic of members.

In a cloud with many saturated uplinks, nearly all hosts are unsuitable for
members with traffic, although they have free capacity.
"""

from collections.abc import Iterable

import numpy as np

from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rows import ScopedPolicy


def missing_uplinks(table: HostTable,
                    policies: Iterable[ScopedPolicy]) -> np.ndarray:
    """[host]: the share of the traffic of one member, from 0 to 1, for which
    the uplink of the host has no capacity; the maximum over the relationships.

    A member needs most if it is alone in its domain.
    """
    found = np.zeros(len(table))
    for each in policies:
        rule = each.policy
        if not rule.hard or not isinstance(rule, Relationship) or (
                not rule.limits_links):
            continue
        needed = rule.traffic_mbps * max(
            len(side) for side in rule.sides(each.scope))
        for level in rule.levels if needed else ():
            free = table.free_uplinks(level)[table.division(level).of_host]
            found = np.maximum(found, 1.0 - np.clip(free / needed, 0.0, 1.0))
    return found
