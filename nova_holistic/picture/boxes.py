# SPDX-License-Identifier: Apache-2.0
"""Nested boxes: the box of a domain contains the domains and hosts in this
domain."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from nova_holistic.picture import amounts, svg_elements
from nova_holistic.picture.svg_elements import Area, TextLine
from nova_holistic.picture.box_packing import pack, Packing, Size
from nova_holistic.picture.hosts.scale import Scale
from nova_holistic.picture.text_fitting import width as text_width
from nova_holistic.picture.tree import DomainView

_INNER_RATIO = 1.5
_OUTER_RATIO = 1.7
_MOST_LABEL = 120.0


@dataclass(frozen=True, slots=True)
class Box:
    """A domain with space for its content, in pixels."""

    domain: DomainView
    size: Size
    boxes: tuple['Box', ...]
    packing: Packing


def arrange(domain: DomainView, scale: Scale) -> Box:
    """Arrange the whole topology. Its outermost box has no edge and no
    header."""
    boxes = tuple(_box(inner, scale) for inner in domain.domains)
    packing = _pack(domain, boxes, scale, _OUTER_RATIO)
    return Box(domain, packing.size, boxes, packing)


def draw(parent: Element, box: Box, scale: Scale, depth: int = 0) -> None:
    """The content of the box, at the origin of the parent."""
    for inner, (x, y, height) in zip(box.boxes, box.packing.spots):
        element = svg_elements.group(parent, 'domain', x, y)
        _frame(element, inner, scale, depth, height)
        content = svg_elements.group(element, 'content', scale.gap,
                                     scale.header)
        draw(content, inner, scale, depth + 1)
    for view, (x, y, height) in zip(box.domain.hosts, box.packing.spots):
        scale.draw(parent, view, x, y, Size(scale.size(view).width, height))


def _box(domain: DomainView, scale: Scale) -> Box:
    boxes = tuple(_box(inner, scale) for inner in domain.domains)
    packing = _pack(domain, boxes, scale, _INNER_RATIO)
    label = min(_MOST_LABEL, text_width(_label(domain), scale.lettering))
    return Box(domain, Size(
        max(packing.size.width, label) + 2 * scale.gap,
        packing.size.height + scale.header + scale.gap), boxes, packing)


def _pack(domain: DomainView, boxes: tuple[Box, ...], scale: Scale,
          ratio: float) -> Packing:
    sizes = ([box.size for box in boxes]
             or [scale.size(view) for view in domain.hosts])
    return pack(sizes, scale.gap, ratio)


def _frame(element: Element, box: Box, scale: Scale, depth: int,
           height: float) -> None:
    domain = box.domain
    svg_elements.title(element, [
        f'{domain.level} {domain.name}',
        f'{amounts.counted(domain.members(), "member")} on '
        f'{amounts.counted(domain.all_hosts(), "host")}'])
    svg_elements.rectangle(
        element, f'box box{depth % 2}', Area(0, 0, box.size.width, height), 5)
    svg_elements.text(
        element, 'domain-name', scale.gap + 1, scale.header * 0.72,
        TextLine(_label(domain), scale.lettering,
                 box.size.width - 2 * scale.gap))


def _label(domain: DomainView) -> str:
    members = domain.members()
    return f'{domain.name} · {members}' if members else domain.name
