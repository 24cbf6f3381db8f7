# SPDX-License-Identifier: Apache-2.0
"""Colours and line styles that distinguish groups, also for people with colour
vision deficiency.

The hues are those of Okabe and Ito (Color Universal Design, 2008) without
black. If there are more groups than hues, further groups have rings, and then
dashed rings, of the same hues, because no eighth hue can be distinguished by
everyone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_DARK_INK = '#111827'
_LIGHT_INK = '#ffffff'
_PAPER = '#ffffff'
_HUES = (
    ('#0072b2', _LIGHT_INK),
    ('#e69f00', _DARK_INK),
    ('#009e73', _DARK_INK),
    ('#cc79a7', _DARK_INK),
    ('#56b4e9', _DARK_INK),
    ('#d55e00', _DARK_INK),
    ('#f0e442', _DARK_INK),
)
_DASHES = ('', '4 2')


@dataclass(frozen=True, slots=True)
class Paint:
    """The colours of the marks of one group.

    :ivar fill: of the area
    :ivar stroke: of the edge
    :ivar ink: of text on the area, of sufficient contrast
    :ivar dash: SVG's stroke-dasharray; '' for a solid edge
    """

    fill: str
    stroke: str
    ink: str
    dash: str = ''


def paints(groups: Iterable[str]) -> Mapping[str, Paint]:
    """A paint for each group path. The same set of groups always gets the same
    paints.

    Up to 21 groups have different paints; further groups repeat them.
    """
    return {path: _paint(index)
            for index, path in enumerate(sorted(set(groups)))}


def _paint(index: int) -> Paint:
    hue, ink = _HUES[index % len(_HUES)]
    turn = index // len(_HUES) % (1 + len(_DASHES))
    if turn == 0:
        return Paint(hue, hue, ink)
    return Paint(_PAPER, hue, _DARK_INK, _DASHES[turn - 1])
