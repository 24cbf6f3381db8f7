# SPDX-License-Identifier: Apache-2.0
"""Groups, members, events and plans as rows and columns.

Programs get the complete values.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from cliff import columns
import yaml

from nova_holistic.documents.relaxations import (
    headroom_line, relaxation_lines)

GROUP = ('id', 'name', 'status', 'task', 'revision', 'objective',
         'objective_value', 'members', 'counts', 'holds_written', 'reasons',
         'violations', 'volume_creation', 'lease_expires_at', 'project_id',
         'user_id',
         'created_at', 'updated_at')
GROUPS = ('id', 'name', 'status', 'members', 'lease_expires_at')
MEMBERS = ('member', 'state', 'host', 'pool', 'location', 'instance_uuid',
           'volume_id', 'size', 'volume_type', 'creation', 'cloud', 'pointer')
BINDINGS = ('kind', 'target', 'path', 'status', 'created_at', 'rules')
EVENTS = ('at', 'kind', 'member', 'from_state', 'to_state', 'host',
          'reasons')
EVENTS_LONG = ('id', *EVENTS, 'details', 'service', 'request_id', 'user_id')
PLAN = ('id', 'status', 'objective', 'preferences', 'preference_cost',
        'warnings', 'reasons', 'relaxations', 'headroom', 'placements')


class Counts(columns.FormattableColumn):
    """Numbers, each with its unit."""

    def human_readable(self) -> str:
        return ', '.join(f'{name}: {number}' for name, number
                         in sorted(self._value.items()))


class Sizes(columns.FormattableColumn):
    """The members whose number may change, one per line."""

    def human_readable(self) -> str:
        return '\n'.join(
            f'{count["path"]}: {count["number"]} '
            f'(min: {count["min"]}, desired: {count["desired"]}, '
            f'max: {count["max"]})'
            + (f', {count["missing"]} missing' if count['missing'] else '')
            for count in self._value)


class Reasons(columns.FormattableColumn):
    """One reason per line, with the position that it refers to."""

    def human_readable(self) -> str:
        return '\n'.join(reason_lines(self._value))


class Actions(columns.FormattableColumn):
    """What each server requires, one per line, in the order of the steps.
    Servers that require nothing are counted."""

    def human_readable(self) -> str:
        lines = [_action_line(action) for action in self._value
                 if action['action'] != 'nothing']
        unchanged = len(self._value) - len(lines)
        if unchanged:
            lines.append(f'nothing: {unchanged} servers')
        return '\n'.join(lines)


class Definition(columns.FormattableColumn):
    """The value in the syntax of a document."""

    def human_readable(self) -> str:
        return yaml.safe_dump(self._value, sort_keys=False).rstrip()


class Location(columns.FormattableColumn):
    """Names from coarse to fine."""

    def human_readable(self) -> str:
        return '/'.join(self._value)


class Objective(columns.FormattableColumn):
    """The value of the objective and its proven bound."""

    def human_readable(self) -> str:
        objective = self._value
        if not isinstance(objective, Mapping):
            return objective
        text = f'{objective["name"]} {objective["value"]:g}'
        gap = objective.get('gap')
        return text if gap is None else f'{text}, gap {gap:.2%}'


class ObjectiveValue(Objective):
    """The value of a plan, and the number of members that it kept."""

    def human_readable(self) -> str:
        kept = self._value['kept']
        return super().human_readable() + (f', {kept} kept' if kept else '')


class PreferenceCost(columns.FormattableColumn):
    """The weighted violations, and their proven lower bound."""

    def human_readable(self) -> str:
        cost = self._value
        return (f'{cost["value"]:g}, bound {cost["bound"]:g}, gap '
                f'{cost["gap"]:.2%}')


class Preferences(columns.FormattableColumn):
    """The number of violations of each weighted policy, one per line."""

    def human_readable(self) -> str:
        return '\n'.join(
            f'{_rule(p)} at {p["at"] or "the top"}: {p["violations"]}'
            for p in self._value)


class Placements(columns.FormattableColumn):
    """Each member, with its host if the user may see it, one per line."""

    def human_readable(self) -> str:
        return '\n'.join(' '.join(filter(None, (p['member'], p.get('host'))))
                         for p in self._value)


class Relaxations(columns.FormattableColumn):
    """Changes that make the group fit, one per line."""

    def human_readable(self) -> str:
        return '\n'.join(relaxation_lines(self._value))


class Pointer(columns.FormattableColumn):
    """Scheduler hints, one per line, as openstack server create --hint takes
    them."""

    def human_readable(self) -> str:
        return '\n'.join(f'{name}={value}'
                         for name, value in self._value.items())


class StackRules(columns.FormattableColumn):
    """The rules of a Heat stack as the command takes them, one per line."""

    def human_readable(self) -> str:
        return '\n'.join(f'{rule["resource"]}={rule["member"]}'
                         for rule in self._value)


class Headroom(columns.FormattableColumn):
    """How many copies of the group fit."""

    def human_readable(self) -> str:
        return headroom_line(self._value).removeprefix('headroom: ')


class Creation(columns.FormattableColumn):
    """The creation of volumes by an engine, and why it has failed."""

    def human_readable(self) -> str:
        found = self._value or {}
        return '\n'.join(filter(None, (
            found.get('status', found.get('state')), found.get('fault'),
            *reason_lines(found.get('reasons', ())))))


_KINDS = {'actions': Actions, 'members': Counts, 'counts': Sizes,
          'details': Counts,
          'reasons': Reasons,
          'violations': Reasons, 'warnings': Reasons, 'location': Location,
          'objective': Objective, 'objective_value': ObjectiveValue,
          'preferences': Preferences,
          'preference_cost': PreferenceCost,
          'relaxations': Relaxations, 'headroom': Headroom,
          'pointer': Pointer, 'rules': StackRules, 'placements': Placements,
          'definition': Definition, 'creation': Creation,
          'volume_creation': Creation}


def _rule(preference: Mapping[str, Any]) -> str:
    """Type, level and weight of a policy, as far as they are known."""
    weight = preference.get('weight')
    return ' '.join(filter(None, (
        preference['policy'], preference.get('level'),
        None if weight is None else f'weight {weight:g}')))


def _action_line(action: Mapping[str, Any]) -> str:
    pairs = [(action['from_flavor'], action['to_flavor']),
             (action.get('from_host'), action.get('to_host'))]
    changes = [f'{before} to {after}' for before, after in pairs
               if after is not None and before != after]
    why = '; '.join(reason['message'] for reason in action['reasons'])
    return (f'{action["member"]}: {action["action"]} '
            f'{", ".join([*changes, action["state"]])}: {why}')


def reason_lines(reasons: Sequence[Mapping[str, str]]) -> list[str]:
    return [': '.join(filter(None, (r['at'], r['message'])))
            for r in reasons]


def fields(document: Mapping[str, Any], names: Sequence[str],
           ) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Names and values of the fields that exist in the document."""
    present = tuple(name for name in names if name in document)
    return present, row(document, present)


def rows(documents: Sequence[Mapping[str, Any]], names: Sequence[str],
         ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """A column for each field that any of the documents has."""
    present = tuple(name for name in names if not documents or any(
        name in document for document in documents))
    return present, [row(document, present) for document in documents]


def row(document: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(_value(name, document.get(name)) for name in names)


def _value(name: str, value: Any) -> Any:
    kind = _KINDS.get(name)
    return value if kind is None or value is None else kind(value)
