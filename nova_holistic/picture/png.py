# SPDX-License-Identifier: Apache-2.0
"""The picture in pixels, two for each unit of length."""

from importlib import resources

from nova_holistic import exceptions
from nova_holistic.picture.scene import Scene
from nova_holistic.picture import svg

try:
    import resvg_py
    import ziafont
except ImportError:
    resvg_py = ziafont = None

_ZOOM = 2
_MOST_PIXELS = 24_000_000
_FACE = 'DejaVu Sans'


class PNGUnavailable(exceptions.HolisticError):
    """The packages for PNG are not installed."""

    def __init__(self):
        super().__init__("PNG needs the extra 'png': "
                         "pip install 'nova_holistic[png]'")


def to_bytes(scene: Scene) -> bytes:
    """A PNG file of at most about 24 megapixels.

    The font comes from a package, because a machine may have no fonts. Fonts
    of the machine are used only for characters that this font does not have.

    :raises PNGUnavailable: the extra ``png`` is not installed
    """
    if resvg_py is None:
        raise PNGUnavailable()
    drawing = svg.draw(scene)
    area = float(drawing.get('width')) * float(drawing.get('height'))
    zoom = min(_ZOOM, (_MOST_PIXELS / area) ** 0.5)
    font = resources.files(ziafont).joinpath('fonts', 'DejaVuSans.ttf')
    with resources.as_file(font) as path:
        return bytes(resvg_py.svg_to_bytes(
            svg_string=svg.to_bytes(scene).decode(), zoom=zoom,
            font_files=[str(path)], font_family=_FACE,
            sans_serif_family=_FACE))
