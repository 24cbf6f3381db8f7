# SPDX-License-Identifier: Apache-2.0
"""Characters that JSON writes as two escapes, such as ``\\ud83d\\ude80``. YAML
refuses these escapes."""

from collections.abc import Callable
import re

_ESCAPE = re.compile(
    r'\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)',
    re.DOTALL | re.IGNORECASE)


def as_plain_text(text: str) -> str:
    """The text with other characters for each pair. All positions remain, and
    different pairs remain different."""
    return _replaced(text, lambda high, low: f'_u{high}_u{low}')


def as_yaml(text: str) -> str:
    """The text with the escapes of YAML, which have another length."""
    return _replaced(text, lambda high, low: '\\U{:08x}'.format(
        0x10000 + (int(high, 16) - 0xd800) * 0x400 + int(low, 16) - 0xdc00))


def _replaced(text: str, written: Callable[[str, str], str]) -> str:
    # An escaped backslash is matched as a whole, so that it does not begin
    # another escape.
    return _ESCAPE.sub(lambda found: written(*found.groups())
                       if found[1] else found[0], text)
