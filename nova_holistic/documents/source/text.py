# SPDX-License-Identifier: Apache-2.0
"""Converts YAML or JSON text into plain data: a finite tree of lists, mappings
with unique string keys, strings, numbers, booleans and nulls.

Documents may come from any source, so this module limits their size, their
depth and the work to read them.
"""

import math
import re
from typing import Any

import yaml

from nova_holistic.documents.source import surrogate_pairs
from nova_holistic.documents.source.json_text import (
    json_value, MAX_DEPTH, MAX_DIGITS, MAX_LENGTH, MAX_NODES)
from nova_holistic.documents.source.yaml_collection import Collection, Measures
from nova_holistic.exceptions import InvalidDocument

MAX_REPEATED = 4 * 2**20
"""Maximum number of characters that the aliases of one document repeat."""

_Loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_LINE_BREAK = re.compile('\r\n|[\n\r\x85\u2028\u2029]')
_DIRECTIVE = re.compile('^%', re.MULTILINE)
"""YAML requires the start marker of a document after a directive."""
_TAG = 'tag:yaml.org,2002:'


class _PlainLoader(_Loader):
    """YAML's safe subset without timestamps and merge keys.

    Both would change names that users write.
    """

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers
                if tag not in (_TAG + 'timestamp', _TAG + 'merge',
                               _TAG + 'value')]
        for first, resolvers in _Loader.yaml_implicit_resolvers.items()}


def load(text: str | bytes, trusted: bool = False) -> Any:
    """Read one document.

    :param trusted: whether the text is a local file of the user, which may
        have any length
    :raises InvalidDocument: the text is not a YAML or JSON document, or
        exceeds a limit
    """
    if len(text) > MAX_LENGTH and not trusted:
        raise InvalidDocument(
            '', f'longer than {MAX_LENGTH // 2**20} MiB, the maximum')
    if isinstance(text, bytes):
        try:
            text = text.decode('utf-8-sig')
        except UnicodeDecodeError as error:
            raise InvalidDocument(
                '', f'not UTF-8 at byte {error.start}') from None
    else:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise _lone_surrogate(error) from None
    if text.lstrip()[:1] in ('{', '[', '"'):
        try:
            return json_value(text, trusted)
        except (ValueError, RecursionError):
            # The text may be YAML in flow style. Otherwise the error of YAML
            # names the line.
            return _load_flow(text, trusted)
    return _load_yaml(text, trusted)


def _load_flow(text: str, trusted: bool) -> Any:
    """Read YAML in flow style, which may contain the escapes of JSON."""
    plain = surrogate_pairs.as_plain_text(text)
    document = _load_yaml(plain, trusted)
    return document if plain == text else _load_yaml(
        surrogate_pairs.as_yaml(text), trusted)


def _load_yaml(text: str, trusted: bool) -> Any:
    try:
        loader = _PlainLoader(text.encode())
        try:
            return _Builder(loader, trusted).document()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise InvalidDocument('', _one_line(error, text)) from None
    except UnicodeEncodeError as error:
        raise _lone_surrogate(error) from None


def _lone_surrogate(error: UnicodeEncodeError) -> InvalidDocument:
    return InvalidDocument(
        '', f'a character that is not valid Unicode (the lone surrogate '
        f'U+{ord(error.object[error.start]):04X}) at position {error.start}')


def _one_line(error: yaml.YAMLError, text: str) -> str:
    if isinstance(error, yaml.reader.ReaderError):
        # The error does not state the line of the refused character.
        lines = _LINE_BREAK.split(text[:text.find(chr(error.character))])
        return (f'{error.reason}, line {len(lines)}, '
                f'column {len(lines[-1]) + 1}')
    mark = getattr(error, 'problem_mark', None)
    problem = getattr(error, 'problem', None) or 'not YAML or JSON'
    problem = re.sub(r'\s+', ' ', str(problem))
    if '<document start>' in problem and not _DIRECTIVE.search(text):
        # The parser names the marker of a second document.
        problem = 'text after the end of the document'
    return f'{problem}{_at(mark)}' if mark else problem


def _at(mark: yaml.Mark) -> str:
    return f', line {mark.line + 1}, column {mark.column + 1}'


class _Builder:
    """Builds plain data from YAML's events, and counts their values.

    ``open`` holds the collections around the current event, outermost first,
    ``anchors`` each finished anchor's value with its measures.
    """

    def __init__(self, loader: _PlainLoader, trusted: bool):
        self.loader = loader
        self.trusted = trusted
        self.open: list[Collection] = []
        self.anchors: dict[str, tuple[Any, Measures]] = {}
        self.nodes = 0
        self.repeated = 0
        self.root: Any = None

    def document(self) -> Any:
        documents = 0
        while self.loader.check_event():
            event = self.loader.get_event()
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._fail('a second document begins', event)
            elif isinstance(event, yaml.ScalarEvent):
                self._value(event, self._scalar(event), Measures(
                    1, 0, len(event.value)))
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._end(event)
        return self.root

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        kind = dict if isinstance(event, yaml.MappingStartEvent) else list
        plain = _TAG + ('map' if kind is dict else 'seq')
        if event.tag not in (None, '!', plain):
            self._fail(f'tag {event.tag} is not accepted', event)
        if self.open and self.open[-1].expects_key:
            self._fail('a key must be a string', event)
        self.open.append(Collection(event, kind()))
        if len(self.open) > MAX_DEPTH:
            self._fail(f'nested deeper than {MAX_DEPTH} levels', event)

    def _end(self, event: yaml.CollectionEndEvent) -> None:
        done = self.open.pop()
        self._value(done.event, done.value, done.measures)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if any(c.event.anchor == event.anchor for c in self.open):
            self._fail(f'alias *{event.anchor} is inside the value that it '
                       f'repeats', event)
        if event.anchor not in self.anchors:
            self._fail(f'undefined alias *{event.anchor}', event)
        value, measures = self.anchors[event.anchor]
        if len(self.open) + measures.height > MAX_DEPTH:
            self._fail(f'nested deeper than {MAX_DEPTH} levels', event)
        self.repeated += measures.characters
        if self.repeated > MAX_REPEATED:
            self._fail(f'aliases repeat more than {MAX_REPEATED} characters',
                       event)
        self._value(event, value, measures, alias=True)

    def _value(self, event: yaml.NodeEvent, value: Any,
               measures: Measures, alias: bool = False) -> None:
        """Add a finished value to its container."""
        if event.anchor is not None and not alias:
            self.anchors[event.anchor] = value, measures
        # The values inside an open collection are already counted, unless an
        # alias repeats them.
        if alias or not self.trusted:
            self.nodes += measures.size if alias else 1
        if self.nodes > MAX_NODES:
            self._fail(f'more than {MAX_NODES} values', event)
        if not self.open:
            self.root = value
            return
        around = self.open[-1]
        if around.expects_key and not isinstance(value, str):
            self._fail('a key must be a string', event)
        if not around.add(value, measures):
            self._fail(f'duplicate key {value[:80]!r}', event)

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        if event.style == '"':
            # Escapes can write a lone surrogate.
            event.value.encode()
        tag = event.tag
        if tag is None or tag == '!':
            tag = self.loader.resolve(
                yaml.ScalarNode, event.value, event.implicit)
        if tag == _TAG + 'str':
            return event.value
        kind = tag.removeprefix(_TAG)
        if kind not in ('int', 'float', 'bool', 'null'):
            self._fail(f'tag {tag} is not accepted', event)
        if len(event.value) > MAX_DIGITS:
            self._fail(f'longer than {MAX_DIGITS} characters for a value of '
                       f'kind {kind}', event)
        node = yaml.ScalarNode(tag, event.value)
        try:
            value = self.loader.yaml_constructors[tag](self.loader, node)
        except (ValueError, KeyError, IndexError, OverflowError):
            self._fail(f'{event.value!r} is not a value of kind {kind}',
                       event)
        if isinstance(value, float) and not math.isfinite(value):
            self._fail(f'{event.value} is not a finite number', event)
        return value

    def _fail(self, message: str, event: yaml.Event) -> None:
        raise InvalidDocument('', message + _at(event.start_mark))
