# SPDX-License-Identifier: Apache-2.0
"""Numbers of servers, or of replicas of a group, that may change."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """``least <= desired <= most``.

    :ivar least: minimum of every plan
    :ivar desired: number that is planned, and held again when a server is
        deleted
    :ivar most: maximum that may exist at the same time
    """

    least: int
    desired: int
    most: int


def numbered(stem: str, name: str) -> int | None:
    """The number in a name such as ``node-3`` with the stem ``node``; None if
    the name does not have this form."""
    start, dash, number = name.rpartition('-')
    if (start != stem or not dash or not number.isascii()
            or not number.isdecimal() or str(int(number[:9])) != number):
        return None
    return int(number)


def description_of(path: str) -> str:
    """The path of the description of a numbered server or replica."""
    return path.rpartition('-')[0]


def free_number(taken: Collection[int]) -> int:
    """The lowest number that is not taken."""
    number = 0
    while number in taken:
        number += 1
    return number
