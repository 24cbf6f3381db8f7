# SPDX-License-Identifier: Apache-2.0
"""Divides a group into parts that may be in different clouds.

At first, all direct members of a nested group are one part. If a rule of the
level of clouds limits their number per cloud, each server is a part. Then,
parts that a policy or a relationship ties together become one part.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.child import Document
from nova_holistic.federation.splitting.cloud_rules import (
    effects, Form, Row, Tie)
from nova_holistic.federation.splitting.locations import allowed_clouds
from nova_holistic.model.group import Group
from nova_holistic.model.policy_types import PolicyTypes


@dataclass(frozen=True, slots=True)
class Part:
    """Members that must be in one cloud.

    :ivar paths: paths of the members in the order of the document
    :ivar clouds: clouds that the locations of all these members allow
    """

    paths: tuple[str, ...]
    clouds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Division:
    """A group and its parts.

    :ivar group: the whole group
    :ivar parts: each member is in exactly one of them
    :ivar rows: rules of the level of clouds that the parts must keep, or
        should keep
    """

    document: Document
    group: Group
    parts: tuple[Part, ...]
    rows: tuple[Row, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(m.path for m in self.group.all_members())

    @property
    def separates(self) -> bool:
        """Whether the rules may require or prefer several clouds."""
        return any(row.separates for row in self.rows) or len(
            {row.cloud for row in self.rows if row.form is Form.NEAR}) > 1 or (
                len(set().union(*(part.clouds for part in self.parts))) > 1
                and not frozenset.intersection(
                    *(part.clouds for part in self.parts)))


def divide(document: Document, policy_types: PolicyTypes,
           clouds: Collection[str]) -> Division:
    """The group of a document with its parts.

    :param clouds: names of all children
    :raises InvalidDocument: the document is invalid, or cannot be placed in
        clouds; at its position
    """
    if 'adopt' in document:
        raise InvalidDocument(
            'adopt', 'a parent cannot adopt servers: adopt them in their '
            'cloud')
    group = parse_group(document, policy_types)
    found = [each for scope in group.scopes() for each in effects(scope)]
    allowed = allowed_clouds(group, clouds)
    rows = tuple(replace(each, allowed=frozenset().union(
        *(allowed[path] for path in each.sides[0])))
        for each in found if isinstance(each, Row))
    ties = [each.members for each in found if isinstance(each, Tie)]
    if group.is_elastic:
        _must_not_separate(rows)
        ties.append(frozenset(allowed))
    order = {member.path: i for i, member in enumerate(group.all_members())}
    parts = []
    for paths in _joined(_atoms(group, rows, allowed), ties):
        inside = sorted(paths, key=order.__getitem__)
        parts.append(Part(tuple(inside), frozenset.intersection(
            *(allowed[path] for path in inside))))
    parts.sort(key=lambda part: order[part.paths[0]])
    return Division(document, group, tuple(parts), rows)


def _must_not_separate(rows: Sequence[Row]) -> None:
    for row in rows:
        if row.separates:
            raise InvalidDocument(
                row.place, 'a group whose number of members may change is '
                'in one cloud, so that this cannot be combined')


def _atoms(group: Group, rows: Sequence[Row],
           allowed: dict[str, frozenset[str]]) -> Iterator[frozenset[str]]:
    """Sets of members that are not divided further."""
    single = frozenset().union(*(
        row.sides[0] for row in rows
        if row.form in (Form.AT_MOST, Form.EVEN)))
    sides = [side for row in rows if row.form is Form.APART
             for side in row.sides]
    for scope in group.scopes():
        prefix = f'{scope.path}/' if scope.path else ''
        own = [prefix + name for description in scope.group.members
               for name in description.server_names()]
        # Possibly, the locations do not allow the same cloud for all members.
        common = frozenset.intersection(
            *(allowed[path] for path in own)) if own else frozenset()
        found: dict[object, set[str]] = defaultdict(set)
        for path in own:
            found[path if path in single else (
                common or allowed[path], tuple(path in side for side in sides),
            )].add(path)
        yield from map(frozenset, found.values())


def _joined(atoms: Iterator[frozenset[str]],
            ties: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The atoms, joined where a tie has members of several of them."""
    found = list(atoms)
    for tie in ties:
        inside = [each for each in found if each & tie]
        if len(inside) > 1:
            found = [each for each in found if not each & tie]
            found.append(frozenset().union(*inside))
    return found
