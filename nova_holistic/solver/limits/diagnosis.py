# SPDX-License-Identifier: Apache-2.0
"""Limits of explanations."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DiagnosisLimits:
    """Limits of explanations.

    :ivar moves: moves that are tried for all members together, but at least
        three for each member. With a quarter, the best tried moves of 60
        members of related groups on 1,000 hosts violate preferences of weight
        10 instead of 2 (benchmarks/groups.py, objective spread).
    :ivar text_length: characters of a message of a policy, for readers of the
        reasons.
    :ivar named_policies: policies, and descriptions, that are named if no
        smaller set is known, for readers of the reasons.
    :ivar probing_places: places (class and host) evaluated while the domains
        of members in one of several domains are tried, after which this ends.
        With 0, 60 members of four kinds, with affinity by rack and
        anti-affinity by host, on 60 racks of 50 hosts are unplaceable after
        8.0 instead of 1.1 seconds of processor time. Without a limit, the
        tests of 100 such pairs on 50 racks of 4 hosts take 2.1 instead of 0.1
        seconds.
    """

    moves: int = 400
    text_length: int = 200
    named_policies: int = 20
    probing_places: int = 6_000_000
