# SPDX-License-Identifier: Apache-2.0
"""Fits text into the available width, for any names that users choose.

Widths are estimates in pixels for a wide sans-serif font (DejaVu Sans), so
that text in a narrower font also fits.
"""

from collections.abc import Sequence
import unicodedata

_NARROW = frozenset('iIjlftr.,:;|!\'()[]/ ·')
_WIDE = frozenset('mwMW@%&…')
_UNPRINTABLE = '\ufffd'


def printable(text: str) -> str:
    """The text with control characters and lone surrogates replaced.

    Neither XML nor a terminal can show them safely.
    """
    return ''.join(c if c.isprintable() else _UNPRINTABLE for c in text)


def width(text: str, size: float) -> float:
    """Estimated width of a line at a font size, both in pixels."""
    return size * sum(_em(character) for character in text)


def fit(text: str, room: float, size: float) -> str:
    """The text; if it is too wide, its middle is left out.

    Names of hosts and servers mostly differ in their ends.
    """
    text = printable(text)
    if width(text, size) <= room:
        return text
    for length in range(len(text) - 1, 0, -1):
        tail = length // 2
        shorter = text[:length - tail] + '…' + text[len(text) - tail:]
        if width(shorter, size) <= room:
            return shorter
    return '…'


def wrap(parts: Sequence[str], separator: str, room: float,
         size: float) -> list[str]:
    """The parts joined into lines that fit, in order.

    A part that alone exceeds the space has a separate line.
    """
    lines: list[str] = []
    for part in parts:
        joined = separator.join((*lines[-1:], part))
        if lines and width(joined, size) <= room:
            lines[-1] = joined
        else:
            lines.append(part)
    return lines


def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in 'WF':
        return 1.0
    if character in _NARROW:
        return 0.38
    if character in _WIDE:
        return 0.98
    return 0.7 if character.isupper() else 0.62
