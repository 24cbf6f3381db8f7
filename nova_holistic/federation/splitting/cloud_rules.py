# SPDX-License-Identifier: Apache-2.0
"""The effect of each rule of a document on the division between clouds."""

from collections.abc import Iterator
from dataclasses import dataclass
import enum
from fractions import Fraction

from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Scope
from nova_holistic.model.policy import Policy
from nova_holistic.model.relationship import Relationship

CLOUD = 'cloud'
"""The outermost level: its domains are the children."""

AFFINITY = ('affinity', 'soft-affinity')
ANTI_AFFINITY = ('anti-affinity', 'soft-anti-affinity')
SEPARABLE = ('exclusive', 'traits', 'aggregates', 'availability_zone',
             'location')
"""Policies that hold for a group if they hold in every cloud for the members
in that cloud."""


class Form(enum.Enum):
    """Forms of rows of the program."""

    TOGETHER = 'few clouds hold the members'
    AT_MOST = 'no cloud holds more than a number of the members'
    EVEN = 'the members are spread evenly over the clouds'
    APART = 'no cloud holds members of both sides'
    NEAR = 'the members are in one particular cloud'


@dataclass(frozen=True, slots=True)
class Row:
    """A rule about clouds.

    :ivar sides: paths of members; two sets for APART, one set for other forms
    :ivar weight: None: the rule is hard
    :ivar most: maximum number of members in a cloud, for AT_MOST
    :ivar max_skew: maximum difference between the numbers of members in two
        clouds, for EVEN; None: no limit
    :ivar min_clouds: minimum number of clouds with members, for EVEN; 0: no
        limit
    :ivar allowed: clouds that the locations of some member allow, for EVEN
    :ivar cloud: the cloud of the members, for NEAR
    :ivar title: names the rule in reasons
    :ivar place: position in the document
    """

    form: Form
    sides: tuple[frozenset[str], ...]
    weight: float | None
    title: str
    place: str
    most: int = 0
    max_skew: int | None = None
    min_clouds: int = 0
    allowed: frozenset[str] = frozenset()
    cloud: str = ''

    @property
    def separates(self) -> bool:
        """Whether the rule alone may require or prefer several clouds."""
        return self.form in (Form.AT_MOST, Form.EVEN, Form.APART)


@dataclass(frozen=True, slots=True)
class Tie:
    """Members that must be in the same cloud.

    :ivar title: names the rule in reasons
    :ivar place: position of the rule in the document
    """

    members: frozenset[str]
    title: str
    place: str = ''


def effects(scope: Scope) -> Iterator[Row | Tie]:
    """The rows and ties of the rules of one group, without nested groups.

    :raises InvalidDocument: no parent can enforce a rule of the level of
        clouds
    """
    for policy in scope.group.policies:
        yield from _policy(policy, scope)
    for relationship in scope.group.relationships:
        yield from _relationship(relationship, scope)


def _policy(policy: Policy, scope: Scope) -> Iterator[Row | Tie]:
    members = frozenset(member.path for member in scope.members)
    title = f'{scope.path}: {policy.summary}'.removeprefix(': ')
    base = (members,), policy.weight, title, policy.place
    ofclouds = CLOUD in policy.levels
    if policy.type in AFFINITY:
        # If the members are in several clouds, each cloud except the first
        # violates the preference.
        yield (Tie(members, title, policy.place) if policy.hard
               else Row(Form.TOGETHER, *base))
    elif policy.type in ANTI_AFFINITY:
        if ofclouds:
            yield Row(Form.AT_MOST, *base, most=_most(policy, len(members)))
    elif policy.type == 'spread' and ofclouds:
        yield Row(Form.EVEN, *base, max_skew=policy.max_skew,
                  min_clouds=policy.min_domains or 0)
    elif policy.type == 'location' and not policy.hard:
        yield Row(Form.NEAR, *base, cloud=policy.path[0])
    elif ofclouds:
        raise InvalidDocument(
            join(policy.place, 'level'),
            f'{policy.type} is not possible for level {CLOUD}: a parent '
            'cannot enforce it')
    elif policy.type not in SEPARABLE:
        yield Tie(members, title, policy.place)


def _relationship(rule: Relationship, scope: Scope) -> Iterator[Row | Tie]:
    sides = tuple(frozenset(member.path for member in side)
                  for side in rule.sides(scope))
    title = f'{scope.path}: {rule.summary}'.removeprefix(': ')
    both = frozenset().union(*sides)
    ofclouds = CLOUD in rule.levels
    if rule.type == 'affinity':
        if ofclouds and not rule.hard:
            yield Row(Form.TOGETHER, (both,), rule.weight, title, rule.place)
        else:
            yield Tie(both, title, rule.place)
    elif rule.type == 'anti-affinity' and ofclouds:
        yield Row(Form.APART, sides, rule.weight, title, rule.place)
    elif ofclouds:
        raise InvalidDocument(
            join(rule.place, 'level'),
            f'{rule.type} is not possible for level {CLOUD}: the capacity '
            'between clouds is not known')
    elif rule.type != 'anti-affinity' or not rule.hard or any(
            _is_stem(path, scope) for path in rule.between):
        # Sides in different clouds have no common domain, so that a hard
        # anti-affinity needs no tie. A document can name several nested groups
        # as one side only if it contains all of them.
        yield Tie(both, title, rule.place)


def _is_stem(path: str, scope: Scope) -> bool:
    """Whether the path means several nested groups."""
    names = path.split('/')
    group = scope.group
    for name in names:
        if any(each.stem == name for each in group.groups):
            return True
        group = next((g for g in group.groups if g.name == name), None)
        if group is None:
            return False
    return False


def _most(policy: Policy, members: int) -> int:
    most = policy.max_per_domain
    if isinstance(most, Fraction):
        return max(1, int(most * members))
    return most
