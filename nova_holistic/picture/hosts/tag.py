# SPDX-License-Identifier: Apache-2.0
"""A host as a tag: its name, its highest load, and a mark with a number for
each group."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from nova_holistic.picture.box_packing import Size
from nova_holistic.picture.hosts import group_marks, load_bar
from nova_holistic.picture.hosts.scale import Scale
from nova_holistic.picture.palette import Paint
from nova_holistic.picture.scene import HostView
from nova_holistic.picture import svg_elements
from nova_holistic.picture.svg_elements import Area, TextLine

_SIZE = Size(94.0, 48.0)
_INSET = 5.0
_MARK = 16.0


class Tag(Scale):
    """For clouds that are small enough to show names of hosts, but not names
    of members."""

    gap = 7.0
    header = 19.0
    lettering = 11.5
    bar_means = ' (tightest resource)'

    def __init__(self, paints: Mapping[str, Paint]):
        self._paints = paints

    def size(self, view: HostView) -> Size:
        return _SIZE

    def fill(self, element: Element, view: HostView, size: Size) -> None:
        room = size.width - 2 * _INSET
        svg_elements.text(
            element, 'name', _INSET, 13, TextLine(view.host.name, 10, room))
        if view.tightest is not None:
            load_bar.across(element, view.tightest, Area(_INSET, 18, room, 6))
        spot = svg_elements.group(element, 'marks', _INSET,
                                  size.height - _MARK - 4)
        group_marks.draw(spot, view.groups(), self._paints, room, _MARK)
