# SPDX-License-Identifier: Apache-2.0
"""Least bandwidth x distance, over all pairs of servers with traffic."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pulp import LpAffineExpression

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import (
    HostEncoder, Objective, Traffic)
from nova_holistic.model.pairs import pairs_together
from nova_holistic.model.policy import Expression


class Network(Objective):
    """The sum over pairs of servers of Mbit/s x uplinks between them.

    Each bandwidth relationship of the group, hard or weighted, is traffic
    between each server of one side and each of the other. Distance is in the
    tree: each level at which the two servers share no domain, including the
    level host, adds two uplinks. On one host the distance is 0. Labels are not
    part of the tree. A host without a known domain of a level shares no domain
    at this level.
    """

    name: ClassVar[str] = 'network'
    integral: ClassVar[bool] = True

    def __init__(self, group: Group | None = None):
        self._group = group

    def for_group(self, group: Group) -> 'Network':
        return Network(group)

    def traffic(self) -> tuple[Traffic, ...]:
        return tuple(
            Traffic(each.traffic_mbps, *each.side_scopes(scope))
            for scope in (self._group.scopes() if self._group else ())
            for each in scope.group.relationships if each.traffic_mbps)

    def value(self, members: Sequence[Member], placement: Mapping[str, Host],
              placed: Mapping[str, str], snapshot: Snapshot) -> float:
        total = 0
        for each in self.traffic():
            for level in snapshot.levels:
                one, other = (
                    Counter(snapshot.domain(placement[m.path], level)
                            for m in side.members if m.path in placement)
                    for side in (each.first, each.second))
                near = sum(number * other[domain]
                           for domain, number in one.items() if domain)
                total += 2 * each.mbps * (one.total() * other.total() - near)
        return float(total)

    def encode(self, encoder: HostEncoder) -> Expression:
        total = LpAffineExpression()
        for each in self.traffic():
            pairs = len(each.first.members) * len(each.second.members)
            for level in encoder.snapshot.levels:
                total += 2 * each.mbps * pairs
                for domain in encoder.domains(level):
                    total -= 2 * each.mbps * pairs_together(
                        encoder, each.first, each.second, domain)
        return total
