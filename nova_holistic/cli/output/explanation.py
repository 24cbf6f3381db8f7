# SPDX-License-Identifier: Apache-2.0
"""Why members of a plan are on their hosts: for programs, and in words."""

from collections.abc import Iterator, Sequence
from typing import Any

from nova_holistic.solver.diagnosis.explain import Explanation, Move

_NOTHING = 1e-9


def to_documents(explanations: Sequence[Explanation]) -> list[dict[str, Any]]:
    """Plain data that JSON can represent: the key ``explain`` of the plan."""
    return [{
        'member': each.member, 'host': each.host,
        'hosts': [{'condition': left.condition, 'left': left.hosts}
                  for left in each.left],
        'policies': [{'policy': binding.policy, 'at': binding.at,
                      'rules_out': binding.rules_out}
                     for binding in each.bindings],
        'open': each.open,
        'next_best': None if each.next_best is None else {
            'host': each.next_best.host,
            'preferences': each.next_best.preferences,
            'objective': each.next_best.objective},
        'tried': each.tried} for each in explanations]


def lines(explanations: Sequence[Explanation], top: str,
          members: int) -> Iterator[str]:
    """One line per member, and one for the members that the time limit left
    out.

    :param top: name of the top-level group
    :param members: members of the plan
    """
    for each in explanations:
        yield (f'{each.member} on {each.host}: '
               + '; '.join((_left(each), *_bound(each, top), _other(each))))
    if len(explanations) < members:
        yield (f'{members - len(explanations)} more: the time limit left no '
               'time to explain them')


def _left(each: Explanation) -> str:
    """The conditions that excluded hosts, and the first and the last of
    them."""
    parts, before = [], None
    for left in each.left:
        if left.hosts != before or left is each.left[-1]:
            parts.append(f'{left.hosts} {_condition(left.condition)}')
        before = left.hosts
    return 'hosts: ' + ', '.join(parts)


def _condition(words: str) -> str:
    for start, instead in (('is enabled', 'enabled'), ('is ', ''),
                           ('has ', 'with ')):
        if words.startswith(start):
            return instead + words.removeprefix(start)
    return words


def _bound(each: Explanation, top: str) -> Iterator[str]:
    for binding in each.bindings:
        if binding.rules_out:
            yield (f'{binding.policy} of {binding.at or top} rules out '
                   f'{binding.rules_out}')


def _other(each: Explanation) -> str:
    if each.next_best is None:
        return 'no other host is open' if not each.open else (
            f'{each.open} others are open')
    best = f'next best: {each.next_best.host}'
    if each.tried < each.open:
        best = f'next best of {each.tried} tried: {each.next_best.host}'
    return f'{each.open} open, {best}, {_price(each.next_best)}'


def _price(move: Move) -> str:
    parts = [f'{name} {value:+.3g}' for name, value in (
        ('preferences', move.preferences), ('objective', move.objective))
        if abs(value) > _NOTHING]
    return ', '.join(parts) or 'as good'
