# SPDX-License-Identifier: Apache-2.0
"""Text is shortened to a width and contains only printable characters."""

from nova_holistic.picture.text_fitting import fit, printable, width
import pytest


def test_text_that_fits_is_unchanged():
    assert fit('cmp-001', 200, 12) == 'cmp-001'


def test_long_names_keep_both_ends():
    short = fit('compute-rack07-host0123', 90, 12)
    assert short.startswith('comp')
    assert short.endswith('123')
    assert '…' in short
    assert width(short, 12) <= 90


def test_without_room_an_ellipsis_remains():
    assert fit('cmp-001', 1, 12) == '…'


def test_chinese_characters_are_one_square_wide():
    assert width('日本', 10) == 20


def test_combining_marks_have_no_width():
    assert width('e\u0301', 10) == width('e', 10)


@pytest.mark.parametrize('bad', ['\x1b', '\x00', '\n', '\ud800', '\uffff'])
def test_unprintable_characters_are_replaced(bad):
    assert printable(f'a{bad}b') == 'a\ufffdb'


def test_letters_of_any_script_are_printable():
    assert printable('Überschall 日本 · ß') == 'Überschall 日本 · ß'
