# SPDX-License-Identifier: Apache-2.0
"""The positions of keys and list items in a JSON text.

YAML's parser does not read all of JSON: it refuses some characters, keys of
more than 1,024 characters, and a line break between a key and its colon.
"""

import bisect
from collections.abc import Iterator
import json
import re

from nova_holistic.documents.validation import join

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LINE_BREAK = re.compile('\r\n|[\r\n]')


def is_json(text: str) -> bool:
    """Whether the text is one JSON document."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def marks(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each key and list item with its line and column, counted from 1, in the
    order of the text. The empty place is that of the document.

    :param text: a JSON document
    """
    starts = [0, *(each.end() for each in _LINE_BREAK.finditer(text))]
    # For each open collection: its place, and the next key or index; None for
    # a mapping in which a key comes next.
    open_: list[list] = []
    for token in _TOKEN.finditer(text):
        symbol = token[0]
        around = open_[-1] if open_ else None
        if symbol in '}]':
            open_.pop()
        elif symbol == ',':
            around[1] = around[1] + 1 if isinstance(around[1], int) else None
        elif symbol not in ',:':
            is_key = around is not None and around[1] is None
            if is_key:
                around[1] = json.loads(symbol)
            place = join(*around) if around else ''
            if is_key or around is None or isinstance(around[1], int):
                line = bisect.bisect_right(starts, token.start())
                yield place, (line, token.start() - starts[line - 1] + 1)
            if symbol in '{[':
                open_.append([place, None if symbol == '{' else 0])
