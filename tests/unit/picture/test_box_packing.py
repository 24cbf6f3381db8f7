# SPDX-License-Identifier: Apache-2.0
"""Boxes of any size are packed without overlap."""

from hypothesis import given
from hypothesis import strategies as st
from nova_holistic.picture.box_packing import pack, Size

_LENGTHS = st.integers(1, 60)
_SIZES = st.lists(st.builds(Size, _LENGTHS, _LENGTHS), min_size=1,
                  max_size=25)


@given(_SIZES, st.integers(0, 8))
def test_boxes_do_not_overlap_and_stay_inside(sizes, gap):
    packing = pack(sizes, gap, 1.5)
    placed = [(x, y, x + size.width, y + height)
              for size, (x, y, height) in zip(sizes, packing.spots)]
    for at, (left, top, right, bottom) in enumerate(placed):
        assert left >= 0 and top >= 0
        assert right <= packing.size.width
        assert bottom <= packing.size.height
        for other in placed[at + 1:]:
            apart = (other[0] >= right + gap or left >= other[2] + gap
                     or other[1] >= bottom + gap or top >= other[3] + gap)
            assert apart


@given(_SIZES)
def test_every_box_has_at_least_its_height(sizes):
    packing = pack(sizes, 2, 1.5)
    for size, (_, _, height) in zip(sizes, packing.spots, strict=True):
        assert height >= size.height


def test_equal_boxes_leave_no_gaps():
    packing = pack([Size(10, 10)] * 12, 0, 1.5)
    assert packing.size.width * packing.size.height == 1200


def test_no_boxes_have_size_zero():
    assert pack([], 4, 1.5).size == Size(0, 0)
