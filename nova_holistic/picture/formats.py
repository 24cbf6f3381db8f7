# SPDX-License-Identifier: Apache-2.0
"""Formats of the picture, by the suffix of the file."""

from collections.abc import Callable, Mapping

from nova_holistic.picture import html, png, svg
from nova_holistic.picture.scene import Scene

FORMATS: Mapping[str, Callable[[Scene], bytes]] = {
    '.svg': svg.to_bytes,
    '.html': html.to_bytes,
    '.png': png.to_bytes,
}
