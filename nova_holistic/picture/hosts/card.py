# SPDX-License-Identifier: Apache-2.0
"""A host as a card: its name, a bar for each resource class, and a chip for
each member."""

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

from nova_holistic.picture import amounts, svg_elements
from nova_holistic.picture.box_packing import Size
from nova_holistic.picture.hosts import load_bar
from nova_holistic.picture.hosts.scale import Scale
from nova_holistic.picture.palette import Paint
from nova_holistic.picture.scene import HostView, Load, group_of
from nova_holistic.picture.svg_elements import Area, TextLine

_WIDTH = 226.0
_INSET = 9.0
_HEAD = 26.0
_BAR = 17.0
_CHIP = 19.0
_MOST_BARS = 4
_MOST_CHIPS = 12
_LABEL = 38.0
_AMOUNT = 90.0


class Card(Scale):
    """For clouds that are small enough to show every name."""

    gap = 10.0
    header = 24.0
    lettering = 13.0

    def __init__(self, paints: Mapping[str, Paint], classes: Sequence[str]):
        self._paints = paints
        self._classes = classes[:_MOST_BARS]

    def size(self, view: HostView) -> Size:
        chips = min(len(view.members), _MOST_CHIPS + 1)
        return Size(_WIDTH, _HEAD + _BAR * len(self._classes) + _CHIP * chips
                    + (12 if chips else 7))

    def fill(self, element: Element, view: HostView, size: Size) -> None:
        room = size.width - 2 * _INSET
        if not view.host.enabled:
            svg_elements.text(
                element, 'muted', size.width - _INSET, 18,
                TextLine('disabled', 11, anchor='end'))
            room -= 62
        svg_elements.text(
            element, 'name', _INSET, 18, TextLine(view.host.name, 12.5, room))
        loads = {load.resource_class: load for load in view.loads}
        top = _HEAD
        for name in self._classes:
            self._bar(element, name, loads.get(name), top)
            top += _BAR
        self._chips(element, view, top + 5)

    def _bar(self, element: Element, name: str, load: Load | None,
             top: float) -> None:
        svg_elements.text(
            element, 'muted', _INSET, top + 10,
            TextLine(amounts.name(name), 10, _LABEL - 4))
        if load is None:
            return
        left = _INSET + _LABEL
        width = _WIDTH - 2 * _INSET - _LABEL - _AMOUNT
        load_bar.across(element, load, Area(left, top + 2, width, 9))
        label = amounts.ratio(name, load.before + load.planned, load.capacity)
        svg_elements.text(
            element, 'muted', _WIDTH - _INSET, top + 10,
            TextLine(label, 10, _AMOUNT - 5, anchor='end'))

    def _chips(self, element: Element, view: HostView, top: float) -> None:
        width = _WIDTH - 2 * _INSET
        for member in view.members[:_MOST_CHIPS]:
            chip = svg_elements.group(element, 'member', _INSET, top)
            paint = self._paints[group_of(member)]
            svg_elements.mark(chip, paint, Area(0, 0, width, _CHIP - 2))
            svg_elements.text(
                chip, 'label', 7, 12.5,
                TextLine(member, 11, width - 14, ink=paint.ink))
            top += _CHIP
        hidden = len(view.members) - _MOST_CHIPS
        if hidden > 0:
            svg_elements.text(
                element, 'muted', _INSET + 7, top + 12,
                TextLine(f'and {hidden} more', 11))
