# SPDX-License-Identifier: Apache-2.0
"""The picture as one self-contained SVG element."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement, tostring

from nova_holistic.picture import boxes, legend, svg_elements
from nova_holistic.picture.hosts.card import Card
from nova_holistic.picture.hosts.cell import Cell
from nova_holistic.picture.hosts.scale import Scale
from nova_holistic.picture.hosts.tag import Tag
from nova_holistic.picture.palette import Paint, paints
from nova_holistic.picture.scene import Scene
from nova_holistic.picture.style import STYLE
from nova_holistic.picture.svg_elements import Area
from nova_holistic.picture.tree import tree

_MARGIN = 22.0
_LEAST_WIDTH = 680.0
_USUAL_WIDTH = 1300.0
_MOST_ZOOM = 1.6
_MOST_CARDS = 48
_MOST_TAGS = 240


def draw(scene: Scene) -> Element:
    """Draw the whole picture: the legend, and the nested boxes below it."""
    colours = paints(scene.groups())
    scale = _scale(scene, colours)
    whole = boxes.arrange(tree(scene.levels, scene.hosts), scale)
    width = max(whole.size.width, _LEAST_WIDTH)
    root = _root(scene)
    paper = svg_elements.rectangle(root, 'paper', Area(0, 0, 0, 0))
    head = svg_elements.group(root, 'head', _MARGIN, _MARGIN)
    # A wide picture is usually scaled down by the viewer.
    zoom = min(_MOST_ZOOM, max(1.0, width / _USUAL_WIDTH))
    enlarged = svg_elements.group(head, 'enlarged')
    enlarged.set('transform', f'scale({svg_elements.number(zoom)})')
    top = zoom * legend.draw(enlarged, scene, colours, scale, width / zoom)
    body = svg_elements.group(root, 'topology', _MARGIN, _MARGIN + top)
    boxes.draw(body, whole, scale)
    _resize(root, paper, width + 2 * _MARGIN,
            top + whole.size.height + 2 * _MARGIN)
    return root


def to_bytes(scene: Scene) -> bytes:
    """An SVG file."""
    return tostring(draw(scene), encoding='utf-8', xml_declaration=True)


def _scale(scene: Scene, colours: Mapping[str, Paint]) -> Scale:
    if len(scene.hosts) <= _MOST_CARDS:
        return Card(colours, scene.classes())
    if len(scene.hosts) <= _MOST_TAGS:
        return Tag(colours)
    return Cell(colours)


def _root(scene: Scene) -> Element:
    root = Element('svg', {'xmlns': 'http://www.w3.org/2000/svg',
                           'role': 'img'})
    svg_elements.title(root, [scene.plan.group, legend.summary(scene)])
    SubElement(root, 'style').text = STYLE
    definitions = SubElement(root, 'defs')
    hatch = SubElement(definitions, 'pattern', {
        'id': 'hatch', 'width': '7', 'height': '7',
        'patternUnits': 'userSpaceOnUse', 'patternTransform': 'rotate(45)'})
    svg_elements.rectangle(hatch, 'hatch-line', Area(0, 0, 2.2, 7))
    return root


def _resize(root: Element, paper: Element, width: float,
            height: float) -> None:
    for element in (root, paper):
        element.set('width', svg_elements.number(width))
        element.set('height', svg_elements.number(height))
    root.set('viewBox',
             f'0 0 {svg_elements.number(width)} {svg_elements.number(height)}')
