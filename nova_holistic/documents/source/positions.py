# SPDX-License-Identifier: Apache-2.0
"""The line and column of positions in the text of a document."""

from collections.abc import Generator, Iterable, Iterator, Mapping
import contextlib
import re

import yaml

from nova_holistic.documents.source import json_marks, surrogate_pairs
from nova_holistic.documents.validation import join

MAX_LENGTH = 2**23
"""Maximum length of a text that is searched, because reading YAML takes
time."""

_OUTER_KEY = 'group'
_Loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)

Position = tuple[int, int]


def source_positions(
        text: bytes, places: Iterable[str]) -> Mapping[str, Position]:
    """Line and column, counted from 1, of the key or list item at each place.

    If the text does not contain a position, the position of its container is
    used. The empty place is that of the whole document, or of the group in it
    if it has the outer key ``group``. The result is empty for a text that is
    neither JSON nor YAML.
    """
    searched = {each for place in places for each in _around(place)}
    found: dict[str, Position] = {}
    outer = 1, 1
    if len(text) > MAX_LENGTH:
        return found
    try:
        for place, position in _marks(text):
            if place == _OUTER_KEY:
                outer = position
            elif place.startswith(f'{_OUTER_KEY}.'):
                # Places do not contain the outer key of a group document.
                place = place.removeprefix(f'{_OUTER_KEY}.')
                found[''] = outer
            if place in searched:
                found.setdefault(place, position)
    except (yaml.YAMLError, UnicodeError):
        return {}
    return {place: position for place in places
            if (position := next((found[each] for each in _around(place)
                                  if each in found), None))}


def _around(place: str) -> Iterator[str]:
    """The position and those of its containers; the innermost is first."""
    while place:
        yield place
        shorter = re.sub(
            r'(\.[^.\[\]]*|\[[^\[\]]*\]|^[^.\[]+)\Z', '', place)
        if shorter == place:
            # The place contains a quoted key with brackets.
            quoted = re.search(r'\[[\'"]', place)
            shorter = place[:quoted.start()] if quoted else ''
        place = shorter
    yield ''


def _marks(text: bytes) -> Iterator[tuple[str, Position]]:
    """Each place with its line and column."""
    decoded = text.decode('utf-8-sig')
    if decoded.lstrip()[:1] in ('{', '[') and json_marks.is_json(decoded):
        yield from json_marks.marks(decoded)
    else:
        for place, mark in _yaml_marks(text):
            yield place, (mark.line + 1, mark.column + 1)


def _yaml_marks(text: bytes) -> Iterator[tuple[str, yaml.Mark]]:
    """Each place with the mark of its start in YAML."""
    # For each open collection: its position, and the next key or index; None
    # for a mapping in which a key comes next.
    open_: list[list] = []
    for event, value in _events_with_values(text):
        if isinstance(event, yaml.CollectionEndEvent):
            open_.pop()
            _next(open_)
        elif isinstance(event, yaml.NodeEvent):
            around = open_[-1] if open_ else None
            if around is not None and around[1] is None:
                # A key.
                around[1] = value
                yield join(around[0], around[1]), event.start_mark
                continue
            place = join(*around[:2]) if around else ''
            if around is None or isinstance(around[1], int):
                yield place, event.start_mark
            if isinstance(event, yaml.CollectionStartEvent):
                is_list = isinstance(event, yaml.SequenceStartEvent)
                open_.append([place, 0 if is_list else None])
            else:
                _next(open_)


def _events_with_values(text: bytes) -> Iterator[tuple[yaml.Event, str]]:
    """The events of the text with their positions in it, and the text of
    scalars; the text of other events is empty."""
    # The escapes that are replaced are ASCII.
    same = text.decode('latin-1')
    plain = surrogate_pairs.as_plain_text(same)
    with contextlib.closing(_events(plain)) as events:
        if plain == same:
            for event in events:
                yield event, getattr(event, 'value', '')
            return
        # Keys with such escapes have their characters only in the other text.
        with contextlib.closing(
                _events(surrogate_pairs.as_yaml(same))) as others:
            for event, other in zip(events, others, strict=True):
                yield event, getattr(other, 'value', '')


def _events(text: str) -> Generator[yaml.Event, None, None]:
    loader = _Loader(text.encode('latin-1'))
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _next(open_: list[list]) -> None:
    """The value at the current key or index has ended."""
    if open_:
        step = open_[-1][1]
        open_[-1][1] = step + 1 if isinstance(step, int) else None
