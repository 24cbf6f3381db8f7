# SPDX-License-Identifier: Apache-2.0
"""Why a group is not placed, as clients see it.

Users read a message only if the names in it are known, and never those names
nor how many hosts and domains the cloud has.
"""

from collections.abc import Iterable, Mapping
import re
from typing import Any

from nova_holistic.api.views.totals import without_totals

HIDDEN = '…'
GENERAL = ('the request could not be carried out; the operator finds the '
           'reason in the record of the group')
"""Instead of a message whose names nobody has marked: an engine of an earlier
version wrote it."""


def shown(reasons: Iterable[Mapping[str, Any]],
          hosts: bool) -> list[dict[str, str]]:
    """
    :param hosts: whether names of hosts and domains may be told
    """
    return [{'at': reason['at'],
             'message': reason['message'] if hosts
             else _discreet(reason)} for reason in reasons]


def _discreet(reason: Mapping[str, Any]) -> str:
    """Without names of the topology, and without its totals."""
    if 'public' in reason:
        return reason['public']
    if 'names' not in reason:
        return GENERAL
    if 'hidden' not in reason:
        return without_totals(_without_words(reason))
    text = reason['message']
    for start, end in sorted(reason['hidden'], reverse=True):
        text = text[:start] + HIDDEN + text[end:]
    return without_totals(text)


def _without_words(reason: Mapping[str, Any]) -> str:
    """Of a reason that an engine of the version before has written: without
    any word that is a name somewhere."""
    text = reason['message']
    for name in sorted(reason.get('names', ()), key=len, reverse=True):
        text = re.sub(rf"(?<![^\s,;:()'\"]){re.escape(name)}"
                      rf"(?![^\s,;:()'\"])", HIDDEN, text)
    return text
