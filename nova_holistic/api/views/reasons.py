# SPDX-License-Identifier: Apache-2.0
"""Why a group is not placed, as clients see it.

Users see a message only if its names are marked, and then without those names
and without the number of hosts and domains in the cloud.
"""

from collections.abc import Iterable, Mapping
import re
from typing import Any

from nova_holistic.api.views.totals import without_totals
from nova_holistic.model.messages.marked_text import HIDDEN, MarkedText

GENERAL = ('the request failed; the operator finds the reason in the record '
           'of the group')
"""Replaces a message with unmarked names: an engine of an earlier version
wrote it."""


def visible_reasons(reasons: Iterable[Mapping[str, Any]],
                    hosts: bool) -> list[dict[str, str]]:
    """
    :param hosts: whether the user may see names of hosts and domains
    """
    return [{'at': reason['at'],
             'message': reason['message'] if hosts
             else _without_names(reason)} for reason in reasons]


def _without_names(reason: Mapping[str, Any]) -> str:
    """The message of a reason without names of the topology and totals of the
    cloud."""
    if 'public' in reason:
        return reason['public']
    if 'names' not in reason:
        return GENERAL
    if 'totals' in reason:
        return MarkedText(reason['message'], reason.get('hidden', ()),
                          totals=reason['totals']).public()
    # An engine of an earlier version wrote it.
    if 'hidden' not in reason:
        return without_totals(_without_words(reason))
    return without_totals(
        MarkedText(reason['message'], reason['hidden']).public())


def _without_words(reason: Mapping[str, Any]) -> str:
    """The message of a reason from an engine of an earlier version, without
    any word that is the name of a host or domain."""
    text = reason['message']
    for name in sorted(reason.get('names', ()), key=len, reverse=True):
        text = re.sub(rf"(?<![^\s,;:()'\"]){re.escape(name)}"
                      rf"(?![^\s,;:()'\"])", HIDDEN, text)
    return text
