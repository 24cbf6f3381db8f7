# SPDX-License-Identifier: Apache-2.0
"""The load of a host as a bar: used before, added by the plan, free."""

from xml.etree.ElementTree import Element

from nova_holistic.picture.scene import Load
from nova_holistic.picture import svg_elements
from nova_holistic.picture.svg_elements import Area


def across(parent: Element, load: Load, x: float, y: float, width: float,
           height: float) -> None:
    """Draw the bar from left to right. It ends at its width if the host is
    over-committed."""
    svg_elements.rectangle(parent, 'track', Area(x, y, width, height))
    before, end = _ends(load)
    if before:
        svg_elements.rectangle(
            parent, 'before', Area(x, y, width * before, height))
    if end > before:
        svg_elements.rectangle(
            parent, 'planned',
            Area(x + width * before, y, width * (end - before), height))
    if load.share > 1:
        svg_elements.rectangle(
            parent, 'over', Area(x + width - 3, y, 3, height))


def _ends(load: Load) -> tuple[float, float]:
    return min(1.0, load.before / load.capacity), min(1.0, load.share)
