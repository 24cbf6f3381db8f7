# SPDX-License-Identifier: Apache-2.0
"""Members with traffic that limited uplinks keep in one domain, or in a few
domains with free uplinks.

If a domain holds some of the members, but not all, the uplink of the
domain carries the traffic of at least one pair. Most uplinks of a nearly full
cloud have no capacity for it. Then the domain holds all of these members or
none.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.group import Group
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rules import scoped_policies


@dataclass(frozen=True, slots=True, eq=False)
class LimitedTraffic:
    """The members of both sides of a relationship with traffic.

    :ivar level: the level of the uplinks
    :ivar divides: [domain]: whether the domain may hold some of the members
        while others are elsewhere
    """

    paths: frozenset[str]
    level: str
    divides: np.ndarray


def limited_traffic(group: Group, table: HostTable,
                    known: Collection[str]) -> Iterator[LimitedTraffic]:
    """The hard relationships between counted members whose traffic uplinks of
    one level limit.

    :param known: paths of the counted members
    """
    for each in scoped_policies(group):
        rule = each.policy
        if not isinstance(rule, Relationship) or not rule.hard or (
                not rule.limits_links or not rule.traffic_mbps
                or len(rule.levels) != 1 or rule.levels[0] == HOST):
            continue
        level = rule.levels[0]
        first, second = (frozenset(m.path for m in side)
                         for side in rule.sides(each.scope))
        if first and second and first.isdisjoint(second) and (
                first | second <= known):
            needed = rule.traffic_mbps * fewest_pairs(
                len(first), len(second))
            yield LimitedTraffic(
                first | second, level,
                np.maximum(table.free_uplinks(level)[:-1], 0) >= needed)


def fewest_pairs(first: int, second: int) -> int:
    """The minimum number of pairs that cross the uplink of a domain with some
    of the members of two sides, but not all.

    With i and j members inside, i (second - j) + j (first - i) pairs cross.
    For each j, this is linear in i. Therefore, it is smallest for the smallest
    or the largest i.
    """
    corners = {(i, j) for j in range(second + 1)
               for i in {0, 1, first - 1, first}}
    return min(i * (second - j) + j * (first - i) for i, j in corners
               if 0 < i + j < first + second)
