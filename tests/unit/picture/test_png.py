# SPDX-License-Identifier: Apache-2.0
"""A picture as PNG has the scale of the SVG, up to a maximum size."""

import struct

from nova_holistic.picture import png, svg
from nova_holistic.picture.scene import scene
from tests.unit.builders import cloud, host, two_racks
from tests.unit.picture.builders import Drawing, plan


def size(content):
    """Width and height, from the header chunk of a PNG."""
    assert content[:8] == b'\x89PNG\r\n\x1a\n'
    assert content[12:16] == b'IHDR'
    return struct.unpack('>II', content[16:24])


def picture(snapshot, **fields):
    return scene(snapshot, plan(snapshot, {}, **fields))


def test_a_unit_of_length_has_two_pixels():
    view = picture(two_racks())
    root = Drawing(svg.to_bytes(view)).root
    width, height = size(png.to_bytes(view))
    assert abs(width - 2 * float(root.get('width'))) <= 1
    assert abs(height - 2 * float(root.get('height'))) <= 1


def test_text_is_drawn():
    plain, named = (png.to_bytes(picture(two_racks(), name=name))
                    for name in ('.', 'a-name-with-letters'))
    assert size(plain) == size(named)
    assert plain != named


def test_a_huge_cloud_still_fits_in_memory():
    view = picture(cloud(*(host(f'h{n}', f'r{n // 10}')
                           for n in range(4500))))
    width, height = size(png.to_bytes(view))
    assert 23_000_000 < width * height < 24_100_000
