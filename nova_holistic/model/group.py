# SPDX-License-Identifier: Apache-2.0
"""Groups: members, nested groups, and the rules on them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from nova_holistic.model.member import Member, MemberDescription
from nova_holistic.model.policy import Policy
from nova_holistic.model.relationship import Relationship


@dataclass(frozen=True, slots=True)
class Group:
    """A named set of members and nested groups, with policies on all of them.

    :ivar place: where in its document this stands, for error messages
    :ivar _known: answers of :meth:`all_members`, by path
    """

    name: str
    members: tuple[MemberDescription, ...] = ()
    groups: tuple['Group', ...] = ()
    policies: tuple[Policy, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    place: str = field(default='', compare=False)
    _known: dict[str, tuple[Member, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False)

    @property
    def rules(self) -> tuple[Policy, ...]:
        """Policies and relationships, in the order of the document."""
        return (*self.policies, *self.relationships)

    def scopes(self, path: str = '',
               ancestors: tuple['Group', ...] = ()) -> Iterator['Scope']:
        """This group and all below it, each with the members it governs."""
        yield Scope(path, self, self.all_members(path), ancestors)
        for group in self.groups:
            yield from group.scopes(
                _join(path, group.name), (*ancestors, self))

    def all_members(self, path: str = '') -> tuple[Member, ...]:
        """Every server of this group and of those nested in it, in order."""
        if path not in self._known:
            prefix = path + '/' if path else ''
            own = [m for d in self.members for m in d.members(prefix)]
            for group in self.groups:
                own.extend(group.all_members(_join(path, group.name)))
            self._known[path] = tuple(own)
        return self._known[path]

    def only(self, paths: Collection[str], path: str = '') -> 'Group':
        """The same group if it had no other servers than these; nested groups
        without any are left out."""
        prefix = path + '/' if path else ''
        nested = [g.only(paths, _join(path, g.name)) for g in self.groups]
        return replace(
            self, groups=tuple(g for g in nested if g.all_members()),
            members=tuple(replace(d, absent=d.absent.union(
                name for name in d.server_names()
                if prefix + name not in paths)) for d in self.members))


@dataclass(frozen=True, slots=True)
class Scope:
    """A group seen from the top: its path, '' there, and all its members.

    :ivar ancestors: groups that this one is nested in, outermost first
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
        """Levels of which a single domain holds all the members, by a hard
        policy of this group or of an enclosing group."""
        return tuple(policy.confines
                     for group in (*self.ancestors, self.group)
                     for policy in group.policies if policy.confines)


def _join(path: str, name: str) -> str:
    return f'{path}/{name}' if path else name
