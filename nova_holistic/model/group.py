# SPDX-License-Identifier: Apache-2.0
"""Groups: members, nested groups and their rules."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from nova_holistic.model.members.bounds import Bounds, numbered
from nova_holistic.model.members.member import Member, MemberDescription
from nova_holistic.model.policy import Policy
from nova_holistic.model.relationship import Relationship


@dataclass(frozen=True, slots=True)
class Group:
    """A named set of members and nested groups, with policies on all of them.

    :ivar place: its position in the document, for error messages
    :ivar stem: of a group that exists several times: the name of all of them
        in the document, such as ``replica`` for ``replica-0``
    :ivar bounds: for a template: the number of groups that are made from it
    :ivar templates: nested groups whose number may change; ``groups`` contains
        the groups made from them
    :ivar _known: results of :meth:`all_members` by path
    :ivar _elastic: the result of :attr:`is_elastic`, once it is known
    """

    name: str
    members: tuple[MemberDescription, ...] = ()
    groups: tuple['Group', ...] = ()
    policies: tuple[Policy, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    place: str = field(default='', compare=False)
    stem: str = ''
    bounds: Bounds | None = None
    templates: tuple['Group', ...] = ()
    _known: dict[str, tuple[Member, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False)
    _elastic: list[bool] = field(
        default_factory=list, init=False, repr=False, compare=False)

    @property
    def rules(self) -> tuple[Policy, ...]:
        """Policies and relationships, in the order of the document."""
        return (*self.policies, *self.relationships)

    def scopes(self, path: str = '',
               ancestors: tuple['Group', ...] = ()) -> Iterator['Scope']:
        """This group and all groups below it, each with its members."""
        yield Scope(path, self, self.all_members(path), ancestors)
        for group in self.groups:
            yield from group.scopes(
                join_path(path, group.name), (*ancestors, self))

    def described_groups(self) -> Iterator['Group']:
        """This group and all groups below it, including templates from which
        no group is made yet."""
        yield self
        for group in (*self.groups, *self.templates):
            yield from group.described_groups()

    def all_members(self, path: str = '') -> tuple[Member, ...]:
        """Every server of this group and of its nested groups, in document
        order."""
        if path not in self._known:
            prefix = path + '/' if path else ''
            own = [m for d in self.members for m in d.members(prefix)]
            for group in self.groups:
                own.extend(group.all_members(join_path(path, group.name)))
            self._known[path] = tuple(own)
        return self._known[path]

    def only(self, paths: Collection[str], path: str = '') -> 'Group':
        """The group with these servers only. Nested groups without any of them
        are left out."""
        whole = self.resized(paths, path)
        prefix = path + '/' if path else ''
        # There may be hundreds of nested groups.
        below: dict[str, set[str]] = defaultdict(set)
        for each in paths:
            if each.startswith(prefix):
                below[each[len(prefix):].partition('/')[0]].add(each)
        nested = [g.only(below[g.name], join_path(path, g.name))
                  for g in whole.groups if g.name in below]
        return replace(
            whole, groups=tuple(g for g in nested if g.all_members()),
            members=tuple(replace(d, absent=d.absent.union(
                name for name in d.server_names()
                if prefix + name not in paths)) for d in whole.members))

    @property
    def is_elastic(self) -> bool:
        """Whether the number of members may change without an update."""
        # The solver asks for it for each batch of members.
        if not self._elastic:
            self._elastic.append(bool(self.templates) or any(
                each.bounds for each in self.members) or any(
                    each.is_elastic for each in self.groups))
        return self._elastic[0]

    def resized(self, paths: Collection[str], path: str = '') -> 'Group':
        """The group with these servers of members whose number may change. All
        other members remain unchanged.

        :param paths: paths of the existing servers
        :param path: path of this group
        """
        if not self.is_elastic:
            return self
        below = _below(paths, path)
        names = {name.partition('/')[0] for name in below}
        made = [template.replica(number) for template in self.templates
                for number in sorted(_numbers(template.name, names))]
        return replace(
            self,
            members=tuple(each.at(below) for each in self.members),
            groups=tuple(
                each.resized(paths, join_path(path, each.name)) for each in (
                    *(g for g in self.groups if not self._is_made(g)),
                    *made)))

    def replica(self, number: int) -> 'Group':
        """One of the groups that are made from this template."""
        return replace(self, name=f'{self.name}-{number}', stem=self.name,
                       bounds=None)

    def _is_made(self, group: 'Group') -> bool:
        return any(group.stem == each.name for each in self.templates)


@dataclass(frozen=True, slots=True)
class Scope:
    """A group with its path from the top-level group, which is '' for that
    group, and all its members.

    :ivar ancestors: groups around this one; the outermost is first
    """

    path: str
    group: Group
    members: tuple[Member, ...]
    ancestors: tuple[Group, ...] = ()

    def holds(self, member: Member) -> bool:
        """Whether the member is below the group."""
        return not self.path or member.path.startswith(f'{self.path}/')

    @property
    def confining_levels(self) -> tuple[str, ...]:
        """Levels of which a single domain must contain all the members,
        because of a hard policy of this group or of a group around it."""
        return tuple(policy.confines
                     for group in (*self.ancestors, self.group)
                     for policy in group.policies if policy.confines)


def join_path(path: str, name: str) -> str:
    """The path of a member or nested group of the group at this path."""
    return f'{path}/{name}' if path else name


def _below(paths: Collection[str], path: str) -> Collection[str]:
    """The paths below one path, relative to it."""
    prefix = path + '/' if path else ''
    return {each[len(prefix):] for each in paths if each.startswith(prefix)}


def _numbers(stem: str, names: Collection[str]) -> set[int]:
    return {number for name in names
            if (number := numbered(stem, name)) is not None}
