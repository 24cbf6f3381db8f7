# SPDX-License-Identifier: Apache-2.0
"""Limits of relaxations of groups that have no plan."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelaxationsLimits:
    """Limits of relaxations of groups that have no plan. A number is the
    largest one unless the text says otherwise.

    :ivar first_share: share of the time for the first of two methods: single
        rules, or all copies at the same time. Not measured.
    :ivar members: members of all copies; no group document has more.
    """

    first_share: float = 0.6
    members: int = 10_000
