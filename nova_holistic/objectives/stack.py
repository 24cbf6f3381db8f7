# SPDX-License-Identifier: Apache-2.0
"""Prefer full hosts: each used host costs its free share."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pulp import LpAffineExpression

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import (
    HostEncoder, Objective, HostCost)
from nova_holistic.model.policy import Expression
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.objectives.utilisation import utilisation


class Stack(Objective):
    """The sum of the free shares of the used hosts in the snapshot.

    The free share is 1 minus the mean utilisation of the resource classes that
    the group requests. On an empty cloud, every host costs 1, and the sum is
    the number of hosts. On a loaded cloud, full hosts cost less than empty
    ones.
    """

    name: ClassVar[str] = 'stack'

    def host_cost(self) -> HostCost:
        return HostCost(lambda free: free)

    def value(self, members: Sequence[Member], placement: Mapping[str, Host],
              placed: Mapping[str, str], snapshot: Snapshot) -> float:
        classes = requested_classes(members)
        used = {placement[m.path].name: placement[m.path] for m in members}
        return sum(1 - utilisation(used[name], classes)
                   for name in sorted(used))

    def encode(self, encoder: HostEncoder) -> Expression:
        classes = requested_classes(encoder.members)
        total = LpAffineExpression()
        for host in encoder.hosts():
            free = 1 - utilisation(host, classes)
            total += encoder.host_used(host) * free
        return total
