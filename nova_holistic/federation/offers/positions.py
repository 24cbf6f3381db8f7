# SPDX-License-Identifier: Apache-2.0
"""Positions in the document of the parent.

A child refers to positions in the document that it has received. This document
has neither the rules of the level of clouds nor the members in other clouds,
so that the numbers of rules, members and groups may be lower.
"""

from collections.abc import Mapping
from dataclasses import replace
import re
from typing import Any

from nova_holistic.federation.child import Document, Refusal
from nova_holistic.federation.offers.problem import Problem

_STEP = re.compile(r'(policies|relationships|members|groups)\[(\d+)\]')
_START = re.compile(
    r'((?:cloud [A-Za-z0-9_.-]+: )+)'
    r'((?:policies|relationships|members|groups)\[\d+\][A-Za-z0-9_.\[\]]*)')
"""The start of a message with the names of clouds and a position."""


def in_parent(problem: Problem, cloud: str, document: Document,
              position: str) -> str:
    """The position in the parent's document. A text that does not name a
    position in the document of the child is unchanged.

    :param document: document that the child has received
    :param position: position in it
    """
    own: Any = document
    group: Any = problem.division.document
    steps = []
    for step in position.split('.'):
        match = own is not None and _STEP.fullmatch(step)
        if match:
            key, number = match[1], int(match[2])
            if number >= len(own.get(key, ())):
                return position
            found = _number(problem, cloud, own[key][:number + 1],
                            group, key)
            if found is None:
                return position
            step = f'{key}[{found}]'
            own, group = (own[key][number], group[key][found]) if (
                key == 'groups') else (None, None)
        steps.append(step)
    return '.'.join(steps)


def translated(problem: Problem, refusal: Refusal,
               document: Document) -> Refusal:
    """The refusal with the positions of its reasons in the parent's document.

    :param document: document that the child has received
    """
    def place(text: str) -> str:
        return in_parent(problem, refusal.child, document, text)

    def message(text: str | None) -> str | None:
        return text and _START.sub(
            lambda found: found[1] + place(found[2]), text, count=1)

    return replace(refusal, reasons=tuple(replace(
        each, at=place(each.at), message=message(each.message),
        public=message(each.public)) for each in refusal.reasons))


def _number(problem: Problem, cloud: str, own: Any, group: Document,
            key: str) -> int | None:
    """The number in the parent's document of the last of these rules, members
    or groups; None: the document lacks it.

    :param own: the first of those in the document of the child
    """
    theirs = group.get(key, ())
    if key == 'policies':
        kept = problem.documents.kept_policies(group, cloud)
        return kept[len(own) - 1] if len(own) <= len(kept) else None
    found: int | None = -1
    for each in own if key == 'relationships' else own[-1:]:
        found = next((number for number in range(found + 1, len(theirs))
                      if _is_same(theirs[number], each)), None)
        if found is None:
            return None
    return found


def _is_same(theirs: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Whether a relationship, a member or a group of the parent's document has
    become the one of the child, where each replica may be a group."""
    if 'name' not in own:
        return theirs == own
    if theirs['name'] == own['name']:
        return True
    name, _, number = own['name'].rpartition('-')
    return 'count' in theirs and 'count' not in own and (
        theirs['name'] == name and number.isdigit())
