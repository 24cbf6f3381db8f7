# SPDX-License-Identifier: Apache-2.0
"""Checks that the members of a group can stay in their clouds in an update.

A parent never moves a member between clouds.
"""

from collections.abc import Collection, Mapping

from nova_holistic.documents.validation import join, listed
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.child import Document
from nova_holistic.federation.splitting.cloud_rules import effects, Tie
from nova_holistic.federation.splitting.locations import named_clouds
from nova_holistic.federation.splitting.part_documents import PartDocuments
from nova_holistic.federation.splitting.parts import divide, Division, Part
from nova_holistic.federation.update.part_change import (
    changed_members, part_change, PartChange)
from nova_holistic.model.group import Group
from nova_holistic.model.policy_types import PolicyTypes


def must_be_possible(before: Document, after: Document,
                     kept: Mapping[str, str], clouds: Collection[str],
                     policy_types: PolicyTypes) -> None:
    """Check an update before any cloud receives a request.

    :param before: the current document
    :param kept: path of each member that has a cloud, to this cloud
    :param clouds: names of all children
    :raises InvalidDocument: a member would have to move to another cloud, or
        several clouds might refuse their part of the change; at the position
    """
    old = divide(before, policy_types, named_clouds(before).union(clouds))
    new = divide(after, policy_types, clouds)
    for part in new.parts:
        _must_stay(new, part, kept, clouds)
    changed = []
    for cloud in sorted(set(kept.values())):
        documents = [_part(division, kept, cloud) for division in (old, new)]
        if None not in documents and part_change(
                *documents, policy_types) is PartChange.OTHER:
            changed.append(cloud)
    if len(changed) > 1:
        raise InvalidDocument(
            _first_change(before, after, old.group, new.group),
            'this changes members or rules in several clouds '
            f'({", ".join(changed)}), of which each may refuse it after the '
            'other one has carried it out; change the members of one cloud '
            'at a time')


def _part(division: Division, kept: Mapping[str, str],
          cloud: str) -> Document | None:
    paths = [path for path in division.paths if kept.get(path) == cloud]
    return PartDocuments(division).document(paths, cloud) if paths else None


def _must_stay(division: Division, part: Part, kept: Mapping[str, str],
               clouds: Collection[str]) -> None:
    own = {kept[path] for path in part.paths if path in kept}
    if len(own) > 1:
        tie = _tie(division.group, part, kept)
        raise InvalidDocument(
            tie.place, f'these members must be in one cloud, and they are in '
            f'{listed(sorted(own))}; a parent does not move members between '
            'clouds')
    for path in part.paths:
        if path in kept and kept[path] not in clouds:
            raise InvalidDocument(
                _location(division.group, path),
                f'member {path} is in cloud {kept[path]}, which this parent '
                'no longer has; an operator adds the cloud again, or lets the '
                'parent forget it')
        if path in kept and kept[path] not in part.clouds:
            raise InvalidDocument(
                _location(division.group, path),
                f'member {path} is in cloud {kept[path]}; a parent does not '
                'move members between clouds')


def _tie(group: Group, part: Part, kept: Mapping[str, str]) -> Tie:
    """The first rule that ties members of several clouds. If only several
    rules together tie them, the first of these rules."""
    ties = [each for scope in group.scopes() for each in effects(scope)
            if isinstance(each, Tie) and each.members.intersection(part.paths)]
    return next(
        (each for each in ties if len({
            kept[path] for path in each.members if path in kept}) > 1),
        ties[0] if ties else Tie(frozenset(), '', ''))


def _location(group: Group, path: str) -> str:
    """Position of the location of a member, or of the policy that has it."""
    for scope in group.scopes():
        prefix = f'{scope.path}/' if scope.path else ''
        for description in scope.group.members:
            if path in {prefix + n for n in description.server_names()} and (
                    description.requirements.location):
                return join(description.place, 'location')
    return next((join(rule.place, 'path') for scope in group.scopes()
                 for rule in scope.group.policies
                 if rule.type == 'location' and rule.hard and any(
                     m.path == path for m in scope.members)), '')


def _first_change(before: Document, after: Document, old: Group,
                  new: Group) -> str:
    """Position of the first member, or of the first rules, that change."""
    paths = set(changed_members(before, after, old, new))
    for scope in new.scopes():
        prefix = f'{scope.path}/' if scope.path else ''
        for description in scope.group.members:
            if paths.intersection(
                    prefix + name for name in description.server_names()):
                return description.place
    rules = {scope.path: scope.group.rules for scope in old.scopes()}
    return next((join(scope.group.place, 'policies')
                 for scope in new.scopes() if scope.path in rules
                 and rules[scope.path] != scope.group.rules), '')
