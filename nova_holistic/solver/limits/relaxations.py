# SPDX-License-Identifier: Apache-2.0
"""Limits of relaxations of groups that have no plan."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelaxationsLimits:
    """Limits of relaxations of groups that have no plan. A number is the
    largest one unless the text says otherwise.

    :ivar offered_hosts: hosts that are offered at the same time. Not measured.
    :ivar single_rules_share: share of the time for single rules. Not measured.
    :ivar members: members of all copies; no group document has more. Not
        measured.
    :ivar at_once_share: share of the time for plans of all copies at the same
        time. Not measured.
    :ivar beside_share: share of the time for hosts next to existing hosts. Not
        measured.
    :ivar trial_share: share of the time left for one question. Not measured.
    """

    offered_hosts: int = 2_000
    single_rules_share: float = 0.6
    members: int = 10_000
    at_once_share: float = 0.6
    beside_share: float = 0.5
    trial_share: float = 0.5
