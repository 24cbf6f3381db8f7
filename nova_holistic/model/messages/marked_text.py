# SPDX-License-Identifier: Apache-2.0
"""Text with marks at the names of hosts and domains and at the totals of the
cloud, so that these can be hidden from users who may not see them."""

from collections.abc import Callable, Iterable, Sequence
import functools
import string
import textwrap
from typing import Any

NAME = 'name'
"""The format of a part that is a name."""

HIDDEN = '…'
"""Text that users read instead of a name."""

_CUT = ' [...]'


class MarkedText(str):
    """A text with marks. It is equal to its plain text. All methods of str
    except ``removeprefix`` return plain text.

    :ivar hidden: the start and end index of each name, in order
    :ivar whole: False if it may contain unmarked names
    :ivar totals: the start and end index of each part with a total of the
        cloud, and the text that users read instead
    """

    __slots__ = ('hidden', 'whole', 'totals')

    hidden: tuple[tuple[int, int], ...]
    whole: bool
    totals: tuple[tuple[int, int, str], ...]

    def __new__(cls, text: str = '', hidden: Iterable[tuple[int, int]] = (),
                whole: bool = True,
                totals: Iterable[tuple[int, int, str]] = ()) -> 'MarkedText':
        made = super().__new__(cls, text)
        made.hidden, made.whole = tuple(hidden), whole
        made.totals = tuple(totals)
        return made

    def __getnewargs__(self) -> tuple:
        return str(self), self.hidden, self.whole, self.totals

    @property
    def names(self) -> tuple[str, ...]:
        """The marked names, each once, sorted."""
        return tuple(sorted({self[start:end] for start, end in self.hidden}))

    def public(self) -> str:
        """The text for users who may see neither names nor totals."""
        text = str(self)
        names = [(start, end, HIDDEN) for start, end in self.hidden
                 if not any(first <= start < last
                            for first, last, _ in self.totals)]
        for start, end, instead in sorted(
                [*names, *map(tuple, self.totals)], reverse=True):
            text = text[:start] + instead + text[end:]
        return text

    def removeprefix(self, prefix: str) -> 'MarkedText':
        cut = len(prefix) if self.startswith(prefix) else 0
        return MarkedText(self[cut:], (
            (max(0, start - cut), end - cut) for start, end in self.hidden
            if end > cut), self.whole, (
            (max(0, start - cut), end - cut, public)
            for start, end, public in self.totals if end > cut))


def format_message(pattern: str, *parts: Any) -> MarkedText:
    """A text in which each part replaces a ``{}``, or a ``{:name}`` if it is a
    name.

    An argument may also be a list of names, which is written with commas, or
    None, which is written as ``none``. A marked part keeps its marks; any
    other part, and the pattern, contain no names.
    """
    pieces, rest = [], iter(parts)
    for literal, spec in _parsed(pattern):
        pieces.append(literal)
        if spec is not None:
            part = next(rest)
            pieces.append(_names(part) if spec == NAME else part)
    return joined('', pieces)


def joined(separator: str, parts: Iterable[Any]) -> MarkedText:
    """The parts with their marks, joined by a separator without names."""
    texts, hidden, totals, whole, at = [], [], [], True, 0
    for part in parts:
        if texts:
            at += len(separator)
        if isinstance(part, MarkedText):
            hidden.extend((at + start, at + end)
                          for start, end in part.hidden)
            totals.extend((at + start, at + end, public)
                          for start, end, public in part.totals)
            whole = whole and part.whole
        texts.append(str(part))
        at += len(texts[-1])
    return MarkedText(separator.join(texts), hidden, whole, totals)


def policy_message(text: str) -> MarkedText:
    """The message of a policy: if the policy marks no names, they are
    unmarked."""
    return (text if isinstance(text, MarkedText)
            else MarkedText(text, whole=False))


def shortened(text: MarkedText, width: int) -> MarkedText:
    """The text shortened as by ``textwrap.shorten``."""
    short = textwrap.shorten(text, width)
    if short == text:
        return text
    # The new index of each character after runs of spaces become one space.
    places, length, space = [], 0, True
    for character in text:
        places.append(length)
        blank = character.isspace()
        length += not (blank and space)
        space = blank
    places.append(length)
    end = len(short)
    if short.endswith(_CUT.strip()) and length > end - len(_CUT):
        end = max(0, end - len(_CUT))
    return MarkedText(short, (
        (places[start], min(places[stop], end))
        for start, stop in text.hidden if places[start] < end), text.whole, (
        (places[start], min(places[stop], end), public)
        for start, stop, public in text.totals if places[start] < end))


class Messages(Sequence[str]):
    """Messages whose text is created when it is read, because for most
    placements only the number of violations is needed."""

    __slots__ = ('_make', '_args', '_made')

    def __init__(self, make: Callable[..., Iterable[str]], *args: Any):
        """:param make: called with the arguments; returns the messages"""
        self._make = make
        self._args = args
        self._made: tuple[str, ...] | None = None

    def _all(self) -> tuple[str, ...]:
        if self._made is None:
            self._made = tuple(self._make(*self._args))
        return self._made

    def __getitem__(self, index):
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (tuple, Messages)):
            return self._all() == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


@functools.lru_cache(maxsize=256)
def _parsed(pattern: str) -> tuple[tuple[str, str | None], ...]:
    return tuple((literal, spec) for literal, _, spec, _
                 in string.Formatter().parse(pattern))


def _names(part: Any) -> MarkedText | str:
    if part is None:
        return 'none'
    if isinstance(part, (list, tuple)):
        return joined(', ', map(_names, part))
    text = str(part)
    return MarkedText(text, [(0, len(text))] if text else ())
