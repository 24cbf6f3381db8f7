# SPDX-License-Identifier: Apache-2.0
"""A host as a cell: a mark with a number for each group, and its load as a
shade and a bar."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from nova_holistic.picture.box_packing import Size
from nova_holistic.picture.hosts import group_marks, load_bar
from nova_holistic.picture.hosts.scale import Scale
from nova_holistic.picture.palette import Paint
from nova_holistic.picture.scene import HostView
from nova_holistic.picture import svg_elements
from nova_holistic.picture.svg_elements import Area

_SIZE = Size(35.0, 26.0)
_INSET = 2.5
_MARK = 15.0
_BAR = 4.5
_SHADE = 0.55


class Cell(Scale):
    """For clouds that are too large to show names of hosts."""

    gap = 4.0
    header = 15.0
    lettering = 10.0
    bar_means = ' (tightest resource)'

    def __init__(self, paints: Mapping[str, Paint]):
        self._paints = paints

    def size(self, view: HostView) -> Size:
        return _SIZE

    def fill(self, element: Element, view: HostView, size: Size) -> None:
        room = size.width - 2 * _INSET
        if view.tightest is not None:
            shade = svg_elements.rectangle(
                element, 'before', Area(0, 0, size.width, size.height), 3)
            opacity = _SHADE * min(1.0, view.tightest.share) ** 2
            shade.set('fill-opacity', f'{opacity:.2f}')
            load_bar.across(
                element, view.tightest,
                Area(_INSET, size.height - _INSET - _BAR, room, _BAR))
        spot = svg_elements.group(element, 'marks', _INSET, _INSET)
        group_marks.draw(spot, view.groups(), self._paints, room, _MARK)
