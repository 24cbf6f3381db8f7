# SPDX-License-Identifier: Apache-2.0
"""A group with its plan, as an argument of ``alternates`` and ``explain``."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """A group, its plan, and the snapshot on which it was planned.

    :ivar placed: path to host name of the members whose usage is in the
        snapshot
    """

    group: Group
    snapshot: Snapshot
    plan: Plan
    placed: Mapping[str, str] = FrozenMapping()
