# SPDX-License-Identifier: Apache-2.0
"""The picture as pixels, two to a unit of length."""

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
    """The packages that draw pixels are not installed."""

    def __init__(self):
        super().__init__("PNG needs the extra 'png': "
                         "pip install 'nova_holistic[png]'")


def to_bytes(scene: Scene) -> bytes:
    """A PNG file, at most some 24 megapixels.

    The face comes from a package, for machines without fonts; fonts of the
    machine serve only for characters that it lacks.

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
