# SPDX-License-Identifier: Apache-2.0
"""One mark with a number for each group with members on a host."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from nova_holistic.picture.palette import Paint
from nova_holistic.picture import svg_elements
from nova_holistic.picture.svg_elements import Area, TextLine
from nova_holistic.picture.text_fitting import width as text_width

_LEAST = 15.0
_GAP = 1.5
_LETTERING = 9.5
_BASELINE = 0.36


def draw(parent: Element, counts: Mapping[str, int],
         paints: Mapping[str, Paint], room: float, height: float) -> None:
    """Draw the marks from left to right. Many marks are narrower.

    :param counts: number of members by the path of their group
    :param room: maximum width of all marks together, in pixels
    """
    if not counts:
        return
    widest = (room + _GAP) / len(counts) - _GAP
    left = 0.0
    for path, count in counts.items():
        text_size = text_width(str(count), _LETTERING)
        width = min(widest, max(_LEAST, text_size + 7))
        element = svg_elements.group(parent, 'member', left)
        svg_elements.mark(element, paints[path], Area(0, 0, width, height))
        if text_size < width:
            svg_elements.text(
                element, 'label', width / 2,
                height / 2 + _LETTERING * _BASELINE,
                TextLine(str(count), _LETTERING, anchor='middle',
                         ink=paints[path].ink))
        left += width + _GAP
