# SPDX-License-Identifier: Apache-2.0
"""Arranges boxes in rows, in their order and without overlap.

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
    """The position of each box, and the size of all boxes together.

    :ivar spots: (x, y, height) of each box; all boxes of a row have the same
        height
    """

    spots: tuple[tuple[float, float, float], ...]
    size: Size


def pack(sizes: Sequence[Size], gap: float, ratio: float) -> Packing:
    """Arrange the boxes from left to right and from top to bottom.

    :param ratio: desired ratio of width to height
    """
    if not sizes:
        return Packing((), Size(0, 0))
    # A row that is much longer than the square root is never the best.
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
    """Index after the last box of the row, and the right edge of this box."""
    end, right = start + 1, sizes[start].width
    while end < len(sizes) and right + gap + sizes[end].width <= limit:
        right += gap + sizes[end].width
        end += 1
    return end, right
