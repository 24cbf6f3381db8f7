# SPDX-License-Identifier: Apache-2.0
"""Converts a group document into a Group, each part of which is well-formed.

model.binding checks the flavors and levels, because only a snapshot shows
which of them exist.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nova_holistic.documents.groups.adoption import check_adoptions
from nova_holistic.documents.groups.bounds import read_bounds
from nova_holistic.documents.groups.checks import (
    check_members, check_names, check_replicas)
from nova_holistic.documents.groups.relationship_sides import check_sides
from nova_holistic.documents.groups.request_groups import (
    read_request_groups, read_same_subtree, read_traits)
from nova_holistic.documents.groups.valid_part import valid_part
from nova_holistic.documents.groups.volumes import (
    boots_from_volume, check_boot_volumes, check_kind, is_volume,
    must_be_fixed, read_volume)
from nova_holistic.documents.images import read_image
from nova_holistic.documents.schemas.group import (
    BETWEEN, GROUP, MAX_DEPTH, MAX_MEMBERS, WEIGHT)
from nova_holistic.documents.servers.server import check_server
from nova_holistic.documents.validation import brief, join, listed, validator
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.suggestion import did_you_mean
from nova_holistic.model.policy import Policy
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.model.request_group import NONE
from nova_holistic.model.storage_pools import has_volumes

_check_shape = validator(GROUP)


def parse_group(
        document: Any,
        policy_types: PolicyTypes | Mapping[str, type[Policy]],
        incomplete: bool = False) -> Group:
    """Read a group, with or without the outer key ``group``.

    :param policy_types: types that the document may name; a mapping contains
        only policies
    :param incomplete: whether parts were left out because of mistakes that are
        already known; only the other parts are checked
    :raises InvalidDocument: the document is invalid; with all mistakes
    """
    document = _without_outer_key(document)
    _bound(document)
    types = (policy_types if isinstance(policy_types, PolicyTypes)
             else PolicyTypes(policy_types))
    mistakes = Mistakes()
    with mistakes.collected():
        _check_shape(document)
    if mistakes:
        # Parts of the right shape are read nevertheless, to find their
        # mistakes.
        document = valid_part(document, _check_shape.errors(document))
    if document is not None:
        with mistakes.collected():
            _must_be_one(document)
        group = _Reader(types, mistakes, incomplete).group(document, '')
        check_adoptions(document, group, mistakes)
    mistakes.must_be_none()
    if not incomplete:
        check_members(group)
    return group


def _must_be_one(document: dict) -> None:
    if 'count' in document:
        raise InvalidDocument(
            'count', 'only a member or a nested group can have a count')


def _without_outer_key(document: Any) -> Any:
    if not isinstance(document, dict) or 'group' not in document:
        return document
    for key in document:
        if key != 'group':
            raise InvalidDocument(
                join('', key if isinstance(key, str) else brief(key)),
                'unknown key next to the outer key group')
    return document['group']


def _bound(document: Any) -> None:
    """Limit the work of the validator, which visits every group and member
    description by recursion."""
    layer, descriptions = [document], 0
    for _ in range(MAX_DEPTH):
        below = []
        for group in layer:
            for key in ('members', 'groups'):
                found = group.get(key) if isinstance(group, dict) else None
                if isinstance(found, list):
                    descriptions += len(found)
                    below += found if key == 'groups' else []
        if descriptions > MAX_MEMBERS:
            raise InvalidDocument(
                '', f'more than {MAX_MEMBERS} members and groups')
        layer = below
    if layer:
        raise InvalidDocument(
            '', f'groups are nested more than {MAX_DEPTH} deep')


class _Reader:
    """Converts a document that matches the schema into the model, from the
    outside to the inside."""

    def __init__(self, types: PolicyTypes, mistakes: Mistakes,
                 incomplete: bool):
        self.mistakes = mistakes
        self._incomplete = incomplete
        self.policies = _Rules('policy', types.policies, {})
        self.relationships = _Rules(
            'relationship', types.relationships, {'between': BETWEEN})

    def group(self, document: dict, place: str) -> Group:
        policies = self._each(document, place, 'policies', self.policies.read)
        members = self._each(document, place, 'members', _member)
        groups = tuple(
            each for found in self._each(
                document, place, 'groups', self._replicas) for each in found)
        relationships = self._each(
            document, place, 'relationships', self.relationships.read)
        group = Group(
            document['name'], members,
            tuple(each for each in groups if not each.bounds), policies,
            relationships, place,
            templates=tuple(each for each in groups if each.bounds))
        with self.mistakes.collected():
            check_names(group)
        with self.mistakes.collected():
            if not (self._incomplete or document.get('members')
                    or document.get('groups')):
                raise InvalidDocument(place, 'the group has no members')
        if self.mistakes or self._incomplete:
            # Later checks may need a part that is missing because of a
            # mistake.
            return group
        with self.mistakes.collected():
            check_sides(group)
        with self.mistakes.collected():
            check_boot_volumes(document.get('members', ()), place)
        return group

    def _replicas(self, document: dict, place: str) -> Sequence[Group]:
        """A nested group, or the number of groups in its count. If this number
        may change, the template is first."""
        count = document.get('count')
        group = self.group(document, place)
        if count is None:
            return [group]
        bounds = read_bounds(count, join(place, 'count'))
        number = bounds.desired if bounds else count
        must_be_fixed(bounds, has_volumes(group), join(place, 'count'))
        check_replicas(group, bounds.most if bounds else count,
                       join(place, 'count'))
        return [*([replace(group, bounds=bounds)] if bounds else ()),
                *(group.replica(index) for index in range(number))]

    def _each(self, document: dict, place: str, key: str,
              read: Callable[[dict, str], Any]) -> tuple:
        """The valid items of a list."""
        found = []
        for i, item in enumerate(document.get(key, ())):
            if item is not None:
                with self.mistakes.collected():
                    found.append(read(item, join(place, key, i)))
        return tuple(found)


class _Rules:
    """Reads policies or relationships of the known types.

    :param kind: their name in errors
    :param common: JSON schema of the keys that every one of them must have
    """

    def __init__(self, kind: str, types: Mapping[str, type[Policy]],
                 common: Mapping[str, Any]):
        self.kind = kind
        self.types = types
        self.validators = {name: validator(_schema(each, common))
                           for name, each in types.items()}

    def read(self, document: dict, place: str) -> Policy:
        name = document['type']
        if name not in self.types:
            raise InvalidDocument(
                join(place, 'type'),
                f'{self.kind} type {brief(name)} is not supported'
                f'{did_you_mean(name, self.types)}; known are '
                f'{listed(self.types)}')
        self.validators[name](document, place)
        keys = {key: value for key, value in document.items()
                if key not in ('type', 'weight')}
        if 'between' in keys:
            keys['between'] = tuple(keys['between'])
        weight = document.get('weight')
        return self.types[name].from_document(
            keys, weight=None if weight is None else float(weight),
            place=place)


def _schema(policy: type[Policy], common: Mapping[str, Any]) -> dict[str, Any]:
    return {
        'type': 'object',
        'additionalProperties': False,
        'required': ['type', *common, *policy.required],
        'properties': {'type': {'const': policy.type}, 'weight': WEIGHT,
                       **common, **policy.keys},
    }


def _member(document: dict, place: str) -> MemberDescription:
    check_kind(document, place)
    required, forbidden = read_traits(document, place)
    location = document.get('location')
    boots = boots_from_volume(document, place)
    check_server({**document, 'boot_from_volume': True}
                 if 'boot_volume' in document else document, place)
    requirements = Requirements(
        resources=FrozenMapping(document.get('resources')),
        flavor=document.get('flavor'),
        required_traits=required,
        forbidden_traits=forbidden,
        availability_zone=document.get('availability_zone'),
        aggregates=frozenset(document.get('aggregates', ())),
        location=tuple(location.split('/')) if location else (),
        image=None if is_volume(document) else read_image(
            document.get('image'), join(place, 'image')),
        boot_from_volume=boots,
        server_group=document.get('server_group'),
        request_groups=read_request_groups(document, place),
        group_policy=document.get('group_policy', NONE),
        same_subtree=read_same_subtree(document, place),
        volume=read_volume(document))
    bounds = read_bounds(document.get('count'), join(place, 'count'))
    if bounds is not None:
        _must_skip_none(document, place)
        return MemberDescription(
            document['name'], requirements, bounds.desired, place=place,
            bounds=bounds, numbers=tuple(range(bounds.desired)))
    return MemberDescription(
        document['name'], requirements, document.get('count'),
        _skipped(document, place), place)


def _must_skip_none(document: dict, place: str) -> None:
    if document.get('skip'):
        raise InvalidDocument(
            join(place, 'skip'), 'must not be combined with a count that has '
            'min, desired and max: such a member chooses its numbers itself')


def _skipped(document: dict, place: str) -> frozenset[str]:
    """Names of servers that a counted member omits."""
    skipped, count = document.get('skip', ()), document.get('count', 0)
    if skipped and not count:
        raise InvalidDocument(
            join(place, 'skip', 0), 'is only possible with a count')
    for i, number in enumerate(skipped):
        if number >= count:
            raise InvalidDocument(
                join(place, 'skip', i),
                f'server {number} does not exist: the servers are numbered 0 '
                f'to {count - 1}')
    if count and len(skipped) == count:
        raise InvalidDocument(
            join(place, 'skip'),
            'all servers are skipped; at least one must remain')
    return frozenset(f'{document["name"]}-{n}' for n in skipped)
