# SPDX-License-Identifier: Apache-2.0
"""SVG elements with rounded numbers. The XML library escapes every text."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from nova_holistic.picture.palette import Paint
from nova_holistic.picture.text_fitting import fit, printable

_BOLD = frozenset({'heading', 'name', 'domain-name', 'violation'})
_BOLD_NARROWING = 0.9


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle in pixels, relative to the origin of its parent."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text and its format.

    :ivar size: font size in pixels
    :ivar room: maximum width in pixels, to which the text is shortened; None
        means no limit
    :ivar anchor: part of the text at its point: ``start``, ``middle`` or
        ``end``
    :ivar ink: colour; None means the colour of its class
    """

    content: str
    size: float
    room: float | None = None
    anchor: str = 'start'
    ink: str | None = None


def group(parent: Element, kind: str, x: float = 0,
          y: float = 0) -> Element:
    """A ``<g>`` with its origin at a point of the parent."""
    attributes = {'class': kind}
    if x or y:
        attributes['transform'] = f'translate({number(x)} {number(y)})'
    return SubElement(parent, 'g', attributes)


def rectangle(parent: Element, kind: str, area: Area,
              radius: float = 0) -> Element:
    attributes = {'class': kind, 'x': number(area.x), 'y': number(area.y),
                  'width': number(max(0, area.width)),
                  'height': number(max(0, area.height))}
    if radius:
        attributes['rx'] = number(radius)
    return SubElement(parent, 'rect', attributes)


def mark(parent: Element, paint: Paint, area: Area) -> Element:
    """An area in the colours of a group. Its edge is inside the area."""
    element = rectangle(
        parent, 'mark',
        Area(area.x + 1, area.y + 1, area.width - 2, area.height - 2),
        min(3.0, area.height / 4))
    element.set('fill', paint.fill)
    element.set('stroke', paint.stroke)
    if paint.dash:
        element.set('stroke-dasharray', paint.dash)
    return element


def text(parent: Element, kind: str, x: float, y: float,
         line: TextLine) -> Element:
    """A line of text whose baseline starts, ends or centres at a point."""
    attributes = {'class': kind, 'x': number(x), 'y': number(y),
                  'font-size': number(line.size)}
    if line.anchor != 'start':
        attributes['text-anchor'] = line.anchor
    if line.ink is not None:
        attributes['fill'] = line.ink
    room = line.room
    if room is not None and kind in _BOLD:
        room *= _BOLD_NARROWING
    element = SubElement(parent, 'text', attributes)
    element.text = (printable(line.content) if room is None
                    else fit(line.content, room, line.size))
    return element


def title(parent: Element, lines: list[str]) -> None:
    """The tooltip that a viewer shows when the pointer rests on the parent."""
    SubElement(parent, 'title').text = '\n'.join(map(printable, lines))


def number(value: float) -> str:
    return f'{value:.1f}'.removesuffix('.0')
