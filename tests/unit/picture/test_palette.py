# SPDX-License-Identifier: Apache-2.0
"""Groups get different colours, on which text has enough contrast."""

from nova_holistic.picture.palette import paints
import pytest


def luminance(colour):
    """Relative luminance, as in WCAG 2.2."""
    channels = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
              for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_twenty_one_groups_have_different_paints():
    found = paints(f'group-{number:02}' for number in range(21))
    assert len(set(found.values())) == 21


def test_the_paint_of_a_group_does_not_depend_on_the_order():
    assert paints(['web', 'db', 'db/replica']) == paints(
        ['db/replica', 'web', 'db', 'web'])


def test_more_groups_than_paints_get_a_paint_each():
    assert len(paints(map(str, range(100)))) == 100


@pytest.mark.parametrize('paint', paints(map(str, range(21))).values())
def test_text_on_a_mark_has_the_contrast_of_wcag_aa(paint):
    assert contrast(paint.ink, paint.fill) >= 4.5
