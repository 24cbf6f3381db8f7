# SPDX-License-Identifier: Apache-2.0
"""The prose of a Python module, at the lines and columns of the module."""

import ast
from collections.abc import Iterator
import io
import re
import tokenize

from tools.prose import markup
from tools.prose.rules import BREAK

_LITERAL = re.compile(
    r'''([rbfu]{0,2})("""|\'\'\'|"|')(.*?)(?<!\\)((?:\\\\)*)\2''',
    re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r'\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}')
_CONVERSION = re.compile(r'%(?:\(\w+\))?[.0-9]*[sdrgf]')
_ESCAPE = re.compile(r'\\[ntr\n]')
_WORD = re.compile(r'[A-Za-z]{2,}')


def prose(source: str, *, messages: bool = True) -> str:
    """Return docstrings, comments and strings of three or more words.

    All other code becomes breaks, so that lines and columns are those of the
    source.

    :param messages: whether strings that are not docstrings are read
    """
    text = list(re.sub(r'[^\s]', BREAK, source))
    starts = _line_starts(source)
    for begin, end in _strings(source, starts, messages):
        segment = source[begin:end]
        if len(_WORD.findall(segment)) > 2:
            text[begin:end] = _content(segment)
    last = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            begin = starts[line - 1] + column
            follows = last == (line - 1, column)
            text[begin:begin + len(token.string)] = (
                ' ' if follows else BREAK) + markup.masked(token.string[1:])
            last = token.start
    return ''.join(text)


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _strings(source: str, starts: list[int],
             messages: bool) -> Iterator[tuple[int, int]]:
    """Generate the begin and the end of each string expression, as offsets."""
    lines = source.splitlines()

    def position(line: int, offset: int) -> int:
        before = lines[line - 1].encode()[:offset]
        return starts[line - 1] + len(before.decode())

    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if _is_string(node):
            yield (position(node.lineno, node.col_offset),
                   position(node.end_lineno, node.end_col_offset))
        else:
            waiting.extend(each for each in ast.iter_child_nodes(node)
                           if messages or isinstance(node, ast.Expr)
                           or not _is_string(each))


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str))


def _content(segment: str) -> str:
    """Return the text of adjacent string literals, of the same length. Quotes
    become white space, and inserted values become words."""
    content = _LITERAL.sub(_unquoted, segment)
    return BREAK + markup.masked(content)[1:-1] + BREAK


def _unquoted(match: re.Match) -> str:
    prefix, quote, body, slashes = match.groups()
    body += slashes
    if 'f' in prefix.lower():
        body = _FIELD.sub(markup.as_word, body)
    body = _CONVERSION.sub(markup.as_word, body)
    body = _ESCAPE.sub(lambda each: each[0][0].replace('\\', ' ') + (
        '\n' if each[0][1] == '\n' else ' '), body)
    return ' ' * len(prefix + quote) + body + ' ' * len(quote)
