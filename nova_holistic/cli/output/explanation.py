# SPDX-License-Identifier: Apache-2.0
"""Why members of a plan are on their hosts: for programs, and in words."""

from collections.abc import Iterator, Sequence
from typing import Any

from nova_holistic.solver.diagnosis.explain import Explanation, Move

_NOTHING = 1e-9


def to_documents(explanations: Sequence[Explanation]) -> list[dict[str, Any]]:
    """Plain data that JSON can represent: the key ``explain`` of the plan."""
    return [{
        'member': explanation.member, 'host': explanation.host,
        'hosts': [{'condition': left.condition, 'left': left.hosts}
                  for left in explanation.left],
        'policies': [{'policy': binding.policy, 'at': binding.at,
                      'rules_out': binding.rules_out}
                     for binding in explanation.bindings],
        'open': explanation.open,
        'next_best': None if explanation.next_best is None else {
            'host': explanation.next_best.host,
            'preferences': explanation.next_best.preferences,
            'objective': explanation.next_best.objective},
        'tried': explanation.tried} for explanation in explanations]


def lines(explanations: Sequence[Explanation], top: str,
          members: int) -> Iterator[str]:
    """One line per member, and one for the members that the time limit left
    out.

    :param top: name of the top-level group
    :param members: members of the plan
    """
    for explanation in explanations:
        yield (f'{explanation.member} on {explanation.host}: '
               + '; '.join((_remaining_hosts(explanation),
                            *_policies(explanation, top),
                            _next_best(explanation))))
    if len(explanations) < members:
        yield (f'{members - len(explanations)} more: the time limit left no '
               'time to explain them')


def _remaining_hosts(explanation: Explanation) -> str:
    """The conditions that excluded hosts, and the first and the last of
    them."""
    parts, before = [], None
    for left in explanation.left:
        if left.hosts != before or left is explanation.left[-1]:
            parts.append(f'{left.hosts} {_condition(left.condition)}')
        before = left.hosts
    return 'hosts: ' + ', '.join(parts)


def _condition(words: str) -> str:
    for start, instead in (('is enabled', 'enabled'), ('is ', ''),
                           ('has ', 'with ')):
        if words.startswith(start):
            return instead + words.removeprefix(start)
    return words


def _policies(explanation: Explanation, top: str) -> Iterator[str]:
    for binding in explanation.bindings:
        if binding.rules_out:
            yield (f'{binding.policy} of {binding.at or top} rules out '
                   f'{binding.rules_out}')


def _next_best(explanation: Explanation) -> str:
    move = explanation.next_best
    if move is None:
        return 'no other host is open' if not explanation.open else (
            f'{explanation.open} others are open')
    best = f'next best: {move.host}'
    if explanation.tried < explanation.open:
        best = f'next best of {explanation.tried} tried: {move.host}'
    return f'{explanation.open} open, {best}, {_difference(move)}'


def _difference(move: Move) -> str:
    parts = [f'{name} {value:+.3g}' for name, value in (
        ('preferences', move.preferences), ('objective', move.objective))
        if abs(value) > _NOTHING]
    return ', '.join(parts) or 'as good'
