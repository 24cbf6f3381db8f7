# SPDX-License-Identifier: Apache-2.0
"""Whether the cloud has the levels of the policies of a group."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused, TimedOut
from nova_holistic.heat.templates import unknown_values

TIMEOUT = 30.0
"""Seconds for one plan of a single server."""


def check(client: Client, document: Mapping[str, Any],
          place: Callable[[str], Sequence[str]]) -> None:
    """Request a plan of one small server, which names unknown levels.

    If a service is unavailable, the levels are not checked: the engine checks
    them when the group is created.

    :param place: position in the template of a position in the document
    :raises StackValidationFailed: a level is unknown
    """
    levels = [(where, level) for where, level in _levels(document, '')
              if level != 'host']
    if not levels:
        return
    try:
        plan = client.plans.create({
            'name': 'levels', 'members': [
                {'name': 'one', 'resources': {'VCPU': 1}}],
            'policies': [{'type': 'anti-affinity', 'level': level}
                         for _, level in levels]})
        answer = client.plans.wait(plan['id'], TIMEOUT)
    except (Refused, TimedOut):
        return
    for reason in answer.get('reasons') or ():
        for number, (where, _) in enumerate(levels):
            if reason['at'] == f'policies[{number}].level':
                raise unknown_values.invalid(
                    place(where), reason['message'])


def _levels(group: Mapping[str, Any],
            base: str) -> Iterator[tuple[str, str]]:
    """Every level that a policy names, with its position."""
    for key in ('policies', 'relationships'):
        for number, policy in enumerate(group.get(key) or ()):
            if policy.get('level'):
                yield f'{base}{key}[{number}].level', policy['level']
    for number, inner in enumerate(group.get('groups') or ()):
        yield from _levels(inner, f'{base}groups[{number}].')
