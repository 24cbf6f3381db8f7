# SPDX-License-Identifier: Apache-2.0
"""Limits of dynamic programs of small groups."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SmallGroupsLimits:
    """Limits of dynamic programs of small groups. A number is the largest one.
    Chosen by benchmarks/small_groups.py.

    :ivar pairs: pairs of states that one domain can hold together. With half
        the value, two related tiers of 15 members have gaps of 10 to 93 %.
    :ivar places: states times hosts, so that the costs take 80 MB at most.
    :ivar ranges: combinations of ranges of the counts of even spreads. With a
        tenth of the value, 30 members with preferences that contradict each
        other have gaps of 90 %.
    :ivar costs: costs of pairs that are computed at the same time, which
        limits the memory. With a quarter and with four times the value, no
        effect on the time.
    """

    pairs: int = 20_000
    places: int = 10_000_000
    ranges: int = 1000
    costs: int = 100_000
