# SPDX-License-Identifier: Apache-2.0
"""Why a group is not placed, as clients see it."""

from collections.abc import Iterable, Mapping
import re
from typing import Any

HIDDEN = '…'


def shown(reasons: Iterable[Mapping[str, Any]], failed: bool,
          hosts: bool) -> list[dict[str, str]]:
    """
    :param failed: whether they may be of a failure, which tells of the cloud
        whatever it met
    :param hosts: whether names of hosts and domains may be told
    """
    return [{'at': reason['at'],
             'message': reason['message'] if hosts
             else _discreet(reason, failed)} for reason in reasons]


def _discreet(reason: Mapping[str, Any], failed: bool) -> str:
    """Without names of the topology. What is wrong in a definition has a
    place in it; of any other failure, and where nobody has looked for names,
    there is only what comes first."""
    if not reason['at'] and (failed or 'names' not in reason):
        return re.split('[;:]', reason['message'], maxsplit=1)[0]
    if 'hidden' not in reason:
        return _without_words(reason)
    text = reason['message']
    for start, end in sorted(reason['hidden'], reverse=True):
        text = text[:start] + HIDDEN + text[end:]
    return text


def _without_words(reason: Mapping[str, Any]) -> str:
    """Of a reason that an engine of the version before has written: without
    any word that is a name somewhere."""
    text = reason['message']
    for name in sorted(reason.get('names', ()), key=len, reverse=True):
        text = re.sub(rf"(?<![^\s,;:()'\"]){re.escape(name)}"
                      rf"(?![^\s,;:()'\"])", HIDDEN, text)
    return text
