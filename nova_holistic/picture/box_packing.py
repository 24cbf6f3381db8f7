# SPDX-License-Identifier: Apache-2.0
"""Boxes on shelves: in order, none overlapping, in a pleasant shape.

Lengths are in pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import math

_TRIALS = 48
_WASTE_COST = 8.0


@dataclass(frozen=True, slots=True)
class Size:
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Packing:
    """Where each box goes, and the size of all together.

    :ivar spots: (x, y, height) of each; boxes on a shelf share its height
    """

    spots: tuple[tuple[float, float, float], ...]
    size: Size


def pack(sizes: Sequence[Size], gap: float, ratio: float) -> Packing:
    """The boxes left to right, top to bottom.

    :param ratio: wanted width / height of the whole
    """
    if not sizes:
        return Packing((), Size(0, 0))
    # A shelf much longer than the square root is never the best.
    longest = min(len(sizes), 4 * math.isqrt(len(sizes)) + 1)
    counts = range(1, longest + 1, max(1, longest // _TRIALS))
    return min((_shelve(sizes, gap, _row(sizes, gap, count))
                for count in counts),
               key=lambda packing: _cost(packing, sizes, ratio))


def _row(sizes: Sequence[Size], gap: float, count: int) -> float:
    return sum(size.width + gap for size in sizes[:count]) - gap


def _cost(packing: Packing, sizes: Sequence[Size], ratio: float) -> float:
    whole = packing.size
    area = sum(size.width * size.height for size in sizes)
    waste = 1 - area / (whole.width * whole.height)
    shape = abs(math.log(whole.width / whole.height / ratio))
    return shape + _WASTE_COST * waste


def _shelve(sizes: Sequence[Size], gap: float, limit: float) -> Packing:
    spots: list[tuple[float, float, float]] = []
    top, widest, start = 0.0, 0.0, 0
    while start < len(sizes):
        end, right = _shelf(sizes, gap, limit, start)
        height = max(size.height for size in sizes[start:end])
        left = 0.0
        for size in sizes[start:end]:
            spots.append((left, top, height))
            left += size.width + gap
        widest = max(widest, right)
        top += height + gap
        start = end
    return Packing(tuple(spots), Size(widest, top - gap))


def _shelf(sizes: Sequence[Size], gap: float, limit: float,
           start: int) -> tuple[int, float]:
    """Index after the last box on the shelf, and where that box ends."""
    end, right = start + 1, sizes[start].width
    while end < len(sizes) and right + gap + sizes[end].width <= limit:
        right += gap + sizes[end].width
        end += 1
    return end, right
