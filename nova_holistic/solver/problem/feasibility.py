# SPDX-License-Identifier: Apache-2.0
"""A constant objective, for feasibility problems."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pulp import LpAffineExpression

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import HostEncoder, Objective
from nova_holistic.model.policy import Expression


class Feasibility(Objective):
    """All plans have the same value: the question is whether one exists."""

    name: ClassVar[str] = 'indifferent'

    def value(self, members: Sequence[Member], placement: Mapping[str, Host],
              placed: Mapping[str, str], snapshot: Snapshot) -> float:
        return 0.0

    def encode(self, encoder: HostEncoder) -> Expression:
        return LpAffineExpression()
