# SPDX-License-Identifier: Apache-2.0
"""The result for a group as a document, from which it can be read without
loss."""

from collections.abc import Sequence
from dataclasses import replace
import math
from typing import Any

from nova_holistic.documents.schemas import plan as schemas
from nova_holistic.documents.validation import brief, join, validator
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import (
    ObjectiveValue, Placement, Plan, Preference, PreferenceCost, Reason,
    Unknown, Unplaceable)

_check_status = validator(schemas.STATUS)
_check_shape = {
    'planned': validator(schemas.PLANNED),
    'unplaceable': validator(schemas.UNPLACEABLE),
    'unknown': validator(schemas.UNKNOWN),
}


def to_document(result: Plan | Unplaceable | Unknown, group_name: str,
                group: Group | None = None) -> dict[str, Any]:
    """Plain data for JSON: any result for the group with that name.

    :param group: the group, to write the level and weight of preferences
    """
    if isinstance(result, Unplaceable):
        return {
            'status': 'unplaceable',
            'reasons': [{'at': reason.at, 'message': reason.message}
                        for reason in result.reasons],
            **({} if result.minimal else {'minimal': False})}
    if isinstance(result, Unknown):
        return {
            'status': 'unknown', 'group': group_name,
            'message': result.message, 'seconds': dict(result.seconds)}
    return {
        'status': 'planned',
        'group': group_name,
        'placements': [
            {'member': p.member, 'host': p.host, 'node': p.node,
             'location': list(p.location)} for p in result.placements],
        'objective': objective_document(result.objective),
        'preferences': [_preference(p) for p in _described(
            result.preferences, group)],
        **_cost(result.preference_cost),
        **({'warnings': [{'at': each.at, 'message': each.message}
                         for each in result.warnings]}
           if result.warnings else {}),
        'seconds': dict(result.seconds),
    }


def objective_document(objective: ObjectiveValue) -> dict[str, Any]:
    """Plain data for JSON. An unproved bound is None."""
    return {'name': objective.name, 'value': objective.value,
            'bound': _finite(objective.bound), 'gap': _finite(objective.gap)}


def parse_plan(document: Any) -> Plan | Unplaceable | Unknown:
    """Read a result. ``node`` and keys that only inform are optional.

    :raises InvalidDocument: with the first mistake
    """
    _check_status(document)
    status = document['status']
    _check_shape[status](document)
    if status == 'unplaceable':
        return Unplaceable(tuple(
            Reason(r['at'], r['message']) for r in document['reasons']),
            document.get('minimal', True))
    seconds = FrozenMapping(document.get('seconds'))
    if status == 'unknown':
        return Unknown(document['message'], seconds)
    return Plan(
        group=document['group'],
        placements=_placements(document['placements']),
        objective=_objective(document['objective']),
        preferences=tuple(
            Preference(p['policy'], p['at'], p['violations'], p.get('level'),
                       p.get('weight'))
            for p in document.get('preferences', ())),
        seconds=seconds,
        preference_cost=_read_cost(document.get('preference_cost')),
        warnings=tuple(Reason(each['at'], each['message'])
                       for each in document.get('warnings', ())))


def _described(preferences: Sequence[Preference],
               group: Group | None) -> Sequence[Preference]:
    """The preferences with the level and weight that the group has."""
    rules = [] if group is None else [
        rule for scope in group.scopes() for rule in scope.group.rules
        if not rule.hard]
    if [p.policy for p in preferences] != [rule.title for rule in rules]:
        return preferences
    return [replace(p, level=next(iter(rule.levels), None),
                    weight=rule.weight)
            for p, rule in zip(preferences, rules)]


def _cost(cost: PreferenceCost | None) -> dict[str, Any]:
    return {} if cost is None else {'preference_cost': {
        'value': cost.value, 'bound': cost.bound, 'gap': cost.gap}}


def _read_cost(document: dict | None) -> PreferenceCost | None:
    return None if document is None else PreferenceCost(
        document['value'], document['bound'], document['gap'])


def _preference(preference: Preference) -> dict[str, Any]:
    document = {'policy': preference.policy, 'at': preference.at,
                'violations': preference.violations,
                'level': preference.level, 'weight': preference.weight}
    return {key: value for key, value in document.items()
            if value is not None}


def _placements(documents: list[dict]) -> tuple[Placement, ...]:
    placements: dict[str, Placement] = {}
    for i, document in enumerate(documents):
        member, host = document['member'], document['host']
        if member in placements:
            raise InvalidDocument(
                join('placements', i, 'member'),
                f'{brief(member)} is already placed')
        placements[member] = Placement(
            member, host, document.get('node', host),
            tuple(document.get('location', ())))
    return tuple(placements.values())


def _objective(document: dict) -> ObjectiveValue:
    bound, gap = document['bound'], document['gap']
    return ObjectiveValue(
        document['name'], document['value'],
        -math.inf if bound is None else bound,
        math.inf if gap is None else gap)


def _finite(number: float) -> float | None:
    """JSON has no infinity: an unproved bound is null."""
    return number if math.isfinite(number) else None
