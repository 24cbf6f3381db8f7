# SPDX-License-Identifier: Apache-2.0
"""Suggestions for unknown names that resemble known ones."""

from collections.abc import Iterable
import difflib

_LONGEST = 255
"""Maximum length in characters; a longer word is not a misspelled name."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` (did you mean 'NAME'?)``, or nothing if no known name is similar."""
    if len(word) > _LONGEST:
        return ''
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ''
