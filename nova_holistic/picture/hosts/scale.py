# SPDX-License-Identifier: Apache-2.0
"""The level of detail of a host, which depends on the number of hosts."""

import abc
from typing import ClassVar
from xml.etree.ElementTree import Element

from nova_holistic.picture.box_packing import Size
from nova_holistic.picture.scene import HostView
from nova_holistic.picture import svg_elements, tooltip
from nova_holistic.picture.svg_elements import Area


class Scale(abc.ABC):
    """One way to draw a host, and lengths of the boxes around it in pixels.

    :ivar gap: between neighbours, and between a box and its content
    :ivar header: height of a box's own line of text
    :ivar lettering: font size of that line
    :ivar bar_means: text in the legend about the content of the bar
    """

    gap: ClassVar[float]
    header: ClassVar[float]
    lettering: ClassVar[float]
    bar_means: ClassVar[str] = ''

    @abc.abstractmethod
    def size(self, view: HostView) -> Size:
        """The minimum size of the host."""

    @abc.abstractmethod
    def fill(self, element: Element, view: HostView, size: Size) -> None:
        """Draw the content inside the outline of the host."""

    def draw(self, parent: Element, view: HostView, x: float, y: float,
             size: Size) -> None:
        """Draw one host completely: outline, content, hatching and tooltip."""
        kind = 'host' if view.members else 'host idle'
        element = svg_elements.group(parent, kind, x, y)
        svg_elements.title(element, tooltip.lines(view))
        svg_elements.rectangle(
            element, 'plate', Area(0, 0, size.width, size.height), 3)
        if not view.host.enabled:
            svg_elements.rectangle(
                element, 'hatched', Area(0, 0, size.width, size.height), 3)
        self.fill(element, view, size)
        edge = 'edge violated' if view.violations else 'edge'
        svg_elements.rectangle(
            element, edge, Area(0, 0, size.width, size.height), 3)
