# SPDX-License-Identifier: Apache-2.0
"""Different groups look different, with and without colour vision.

The hues are those of Okabe and Ito (Color Universal Design, 2008) without
black. Where there are more groups than hues, the next ones are rings, then
dashed rings, of the same hues: no eighth hue is safe for everyone.
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
    """How the marks of one group are painted.

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
    """A paint for each group path; the same set always gets the same ones.

    All differ for up to 21 groups; then the paints start again.
    """
    return {path: _paint(index)
            for index, path in enumerate(sorted(set(groups)))}


def _paint(index: int) -> Paint:
    hue, ink = _HUES[index % len(_HUES)]
    turn = index // len(_HUES) % (1 + len(_DASHES))
    if turn == 0:
        return Paint(hue, hue, ink)
    return Paint(_PAPER, hue, _DARK_INK, _DASHES[turn - 1])
