# SPDX-License-Identifier: Apache-2.0
"""Text in reStructuredText without its code, at the same positions."""

import re

from tools.prose.rules import BREAK

_INLINE = re.compile(r'``.+?``', re.DOTALL)
_ROLE = re.compile(r':[a-z:]+:`[^`]+`')
_FIELD = re.compile(r':(?:param|ivar|raises) [\w.]+:')
_CODE = re.compile(r'\.\. (?:code|code-block|parsed-literal|highlight|math)'
                   r'::|(?!\s*\.\. ).*::\s*\Z')


def as_word(match: re.Match) -> str:
    """Return one word of the same length, with the line breaks of the match.
    """
    return re.sub(r'[^\n]', 'X', match[0])


def masked(text: str) -> str:
    """Replace inline literals, roles and fields of docstrings by words."""
    for code in (_INLINE, _ROLE, _FIELD):
        text = code.sub(as_word, text)
    return text


def prose(text: str) -> str:
    """Return the text without the content of its literal blocks."""
    lines: list[str] = []
    block: int | None = None
    for line in text.split('\n'):
        indent = len(line) - len(line.lstrip())
        if block is not None and line.strip() and indent <= block:
            block = None
        lines.append(line if block is None
                     else re.sub(r'[^\s]', BREAK, line))
        if block is None and _CODE.match(line.strip()):
            block = indent
    return masked('\n'.join(lines))
