# SPDX-License-Identifier: Apache-2.0
"""The number of distinct hosts that the group's members use."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pulp import LpAffineExpression

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import (
    HostEncoder, Objective, HostCost)
from nova_holistic.model.policy import Expression


class FewestHosts(Objective):
    """Each distinct host that holds a member of the group costs 1."""

    name: ClassVar[str] = 'fewest-hosts'
    integral: ClassVar[bool] = True

    def host_cost(self) -> HostCost:
        return HostCost(lambda free: free * 0 + 1.0)

    def value(self, members: Sequence[Member], placement: Mapping[str, Host],
              placed: Mapping[str, str], snapshot: Snapshot) -> float:
        return float(len({placement[m.path].name for m in members}))

    def encode(self, encoder: HostEncoder) -> Expression:
        total = LpAffineExpression()
        for host in encoder.hosts():
            total += encoder.host_used(host)
        return total
