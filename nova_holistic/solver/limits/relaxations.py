# SPDX-License-Identifier: Apache-2.0
"""Limits of relaxations of groups that have no plan."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelaxationsLimits:
    """Limits of relaxations of groups that have no plan. A number is the
    largest one unless the text says otherwise.

    :ivar offered_hosts: hosts that are offered at the same time. Not measured.
    :ivar first_share: share of the time for the first of two methods: single
        rules, or all copies at the same time. Not measured.
    :ivar members: members of all copies; no group document has more.
    :ivar trial_share: share of the time left for one question, and for all
        questions about hosts next to existing hosts. Not measured.
    """

    offered_hosts: int = 2_000
    first_share: float = 0.6
    members: int = 10_000
    trial_share: float = 0.5
