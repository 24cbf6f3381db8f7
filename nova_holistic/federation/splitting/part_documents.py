# SPDX-License-Identifier: Apache-2.0
"""Writes the document of a group for one cloud, without the members in other
clouds.

Members have the same paths in this document as in the whole group.
"""

from collections.abc import Collection, Mapping
from typing import Any

from nova_holistic.federation.child import Document
from nova_holistic.federation.splitting.cloud_rules import CLOUD, ANTI_AFFINITY
from nova_holistic.federation.splitting.parts import Division
from nova_holistic.model.group import Scope


class PartDocuments:
    """Writes documents of parts of one group."""

    def __init__(self, division: Division):
        self._document = division.document
        self._paths = frozenset(division.paths)
        self._elastic = division.group.is_elastic
        self._scopes = {scope.path: scope
                        for scope in division.group.scopes()}

    def document(self, paths: Collection[str], cloud: str) -> Document:
        """The document for the members in one cloud, without the level of
        clouds.

        :param paths: paths of these members; ignored if the number of members
            may change, because all members are then in one cloud
        """
        keep = frozenset(paths)
        whole = self._elastic or keep == self._paths
        return _Writer(self._scopes, cloud, keep, whole).group(
            self._document, '')

    def kept_policies(self, group: Document, cloud: str) -> list[int]:
        """Positions of the policies of a group that the document for members
        in one cloud has.

        :param group: a group of the document
        """
        return [position for position, rule in enumerate(
            group.get('policies', ())) if rule.get('level') != CLOUD and (
                rule['type'] != 'location' or below(rule['path'], cloud))]


def below(location: str, cloud: str) -> str:
    """The location below this cloud; empty: the location is the cloud
    itself, or is in another cloud."""
    first, _, rest = location.partition('/')
    return rest if first == cloud else ''


class _Writer:
    """Writes one document.

    :param keep: paths of the members that remain
    :param whole: whether all members remain
    """

    def __init__(self, scopes: Mapping[str, Scope], cloud: str,
                 keep: frozenset[str], whole: bool):
        self._scopes = scopes
        self._cloud = cloud
        self._keep = keep
        self._whole = whole

    def group(self, document: Document, path: str) -> dict[str, Any]:
        found = dict(document)
        scope = self._scopes.get(path)
        lists = {
            'policies': [p for each in document.get('policies', ())
                         if (p := self._policy(each, scope)) is not None],
            'relationships': self._relationships(document, scope),
            'members': [m for each in document.get('members', ())
                        if (m := self._member(each, path)) is not None],
            'groups': [g for each in document.get('groups', ())
                       for g in self._nested(each, path)]}
        for key, values in lists.items():
            found.pop(key, None)
            if values:
                found[key] = values
        return found

    def _policy(self, policy: Mapping[str, Any],
                scope: Scope | None) -> Mapping[str, Any] | None:
        if policy.get('level') == CLOUD:
            return None
        if policy['type'] == 'location':
            rest = below(policy['path'], self._cloud)
            return {**policy, 'path': rest} if rest else None
        share = policy.get('max_per_domain')
        if policy['type'] in ANTI_AFFINITY and isinstance(share, str) and (
                scope is not None and not self._whole):
            # The share refers to all members, also to those in other clouds.
            number = int(share[:-1]) * len(scope.members) // 100
            return {**policy, 'max_per_domain': max(1, number)}
        return policy

    def _relationships(self, document: Document,
                       scope: Scope | None) -> list[Mapping[str, Any]]:
        rules = document.get('relationships', ())
        models: Any = scope.group.relationships if scope else [None] * len(
            rules)
        return [rule for rule, model in zip(rules, models, strict=True)
                if rule.get('level') != CLOUD and (
                    self._whole or scope is None or all(
                        any(m.path in self._keep for m in side)
                        for side in model.sides(scope)))]

    def _member(self, member: Mapping[str, Any],
                path: str) -> dict[str, Any] | None:
        found = dict(member)
        if 'location' in member:
            found['location'] = below(member['location'], self._cloud)
            if not found['location']:
                del found['location']
        if self._whole:
            return found
        prefix = f'{path}/{member["name"]}' if path else member['name']
        if 'count' not in member:
            return found if prefix in self._keep else None
        missing = [n for n in range(member['count'])
                   if f'{prefix}-{n}' not in self._keep]
        if len(missing) == member['count']:
            return None
        found.pop('skip', None)
        return {**found, 'skip': missing} if missing else found

    def _nested(self, group: Document, path: str) -> list[dict[str, Any]]:
        """The nested group, or its replicas that have members."""
        name = f'{path}/{group["name"]}' if path else group['name']
        count = group.get('count')
        if count is None:
            return [self.group(group, name)] if self._has(name) else []
        first = f'{name}-0'
        if self._whole or all(
                self._all(f'{name}-{n}') for n in range(count)):
            return [self.group(group, first)]
        single = {key: value for key, value in group.items()
                  if key != 'count'}
        return [self.group({**single, 'name': f'{group["name"]}-{n}'},
                           f'{name}-{n}')
                for n in range(count) if self._has(f'{name}-{n}')]

    def _has(self, path: str) -> bool:
        return self._whole or any(
            m.path in self._keep for m in self._scopes[path].members)

    def _all(self, path: str) -> bool:
        return all(m.path in self._keep for m in self._scopes[path].members)
