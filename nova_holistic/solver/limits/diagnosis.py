# SPDX-License-Identifier: Apache-2.0
"""Limits of explanations."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DiagnosisLimits:
    """Limits of explanations. Each number is a maximum unless its text says
    otherwise.

    :ivar moves: moves that are tried for all members together. No point reads
        it.
    :ivar moves_per_member: moves that are tried for each member at least. No
        point reads it.
    :ivar text_length: characters of a message of a policy, for readers of the
        reasons.
    :ivar named_policies: policies, and descriptions, that are named if no
        smaller set is known, for readers of the reasons.
    :ivar places_per_check: places (class and host) that the fixed time of one
        check is worth. No effect on 8 points.
    :ivar probed_domains: domains that are probed in turn. No effect on 4
        points.
    :ivar probing_places: places (class and host) evaluated while probing,
        after which probing ends. No effect on 7 points.
    :ivar probing_depth: levels of nesting in which domains are probed. Not
        measured.
    """

    moves: int = 400
    moves_per_member: int = 3
    text_length: int = 200
    named_policies: int = 20
    places_per_check: int = 5_000
    probed_domains: int = 64
    probing_places: int = 6_000_000
    probing_depth: int = 2
