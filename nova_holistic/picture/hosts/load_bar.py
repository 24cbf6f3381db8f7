# SPDX-License-Identifier: Apache-2.0
"""The load of a host as a bar: used before, added by the plan, free."""

from xml.etree.ElementTree import Element

from nova_holistic.picture.scene import Load
from nova_holistic.picture import svg_elements
from nova_holistic.picture.svg_elements import Area


_OVERCOMMITTED = 3.0
"""Width in pixels of the warning at the end of the bar."""


def across(parent: Element, load: Load, area: Area) -> None:
    """Draw the bar from left to right. It ends at its width if the host is
    over-committed."""
    svg_elements.rectangle(parent, 'track', area)
    before, end = _ends(load)
    if before:
        svg_elements.rectangle(parent, 'before', _part(area, 0, before))
    if end > before:
        svg_elements.rectangle(parent, 'planned', _part(area, before, end))
    if load.share > 1:
        svg_elements.rectangle(
            parent, 'over',
            Area(area.x + area.width - _OVERCOMMITTED, area.y,
                 _OVERCOMMITTED, area.height))


def _part(area: Area, start: float, end: float) -> Area:
    """The part of the bar between two fractions of its width."""
    return Area(area.x + area.width * start, area.y,
                area.width * (end - start), area.height)


def _ends(load: Load) -> tuple[float, float]:
    return min(1.0, load.before / load.capacity), min(1.0, load.share)
