# SPDX-License-Identifier: Apache-2.0
"""Limits of relaxations of groups that have no plan."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelaxationsLimits:
    """Limits of relaxations of groups that have no plan.

    :ivar members: members of all copies; no group document has more.
    """

    members: int = 10_000
