# SPDX-License-Identifier: Apache-2.0
"""The steps of the threshold search. At first, all preferences are conditions.
Each step relaxes more of them, those with the lowest weights first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nova_holistic.federation.child import Document

_SOFT = {'soft-affinity': 'affinity', 'soft-anti-affinity': 'anti-affinity'}
MAX_STEPS = 4
"""Maximum number of steps of a search, including the last step, in which no
preference is a condition."""


def thresholds(document: Document) -> Sequence[float | None]:
    """The thresholds of the steps: preferences of at least this weight are
    conditions; None: no preference is a condition."""
    weights = sorted(set(_weights(document)))
    return (*weights[:MAX_STEPS - 1], None)


def harden(document: Document, threshold: float | None) -> Document:
    """The document with the preferences of at least this weight as
    conditions."""
    if threshold is None:
        return document
    found = dict(document)
    for key in ('policies', 'relationships'):
        if key in document:
            found[key] = [_hard(rule, threshold) for rule in document[key]]
    if 'groups' in document:
        found['groups'] = [harden(each, threshold)
                           for each in document['groups']]
    return found


def _weight(rule: Mapping[str, Any]) -> float | None:
    return rule.get('weight', 1.0 if rule['type'] in _SOFT else None)


def _hard(rule: Mapping[str, Any], threshold: float) -> Mapping[str, Any]:
    weight = _weight(rule)
    if weight is None or weight < threshold:
        return rule
    return {**{key: value for key, value in rule.items() if key != 'weight'},
            'type': _SOFT.get(rule['type'], rule['type'])}


def _weights(document: Document) -> Iterator[float]:
    for key in ('policies', 'relationships'):
        for rule in document.get(key, ()):
            weight = _weight(rule)
            if weight is not None:
                yield weight
    for each in document.get('groups', ()):
        yield from _weights(each)
