# SPDX-License-Identifier: Apache-2.0
"""Numbers of servers, or of replicas of a group, that may change."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """``least <= desired <= most``.

    :ivar least: no plan has fewer
    :ivar desired: how many are planned, and are held again when a server is
        deleted
    :ivar most: how many may exist at the same time
    """

    least: int
    desired: int
    most: int


def numbered(stem: str, name: str) -> int | None:
    """The number of a name such as ``node-3`` of the stem ``node``; None if
    the name is not such a name."""
    start, dash, number = name.rpartition('-')
    if (start != stem or not dash or not number.isascii()
            or not number.isdecimal() or str(int(number[:9])) != number):
        return None
    return int(number)


def free_number(taken: Collection[int]) -> int:
    """The lowest number that is not taken."""
    number = 0
    while number in taken:
        number += 1
    return number
