# SPDX-License-Identifier: Apache-2.0
"""The hosts of members, with the number of members in each domain."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections import Counter
from typing import TYPE_CHECKING

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.layered_mapping import LayeredMapping

if TYPE_CHECKING:
    from nova_holistic.model.group import Scope

Counts = Mapping[Domain | None, int]
"""Number of members in each domain. Domains without members may be missing.
The key None stands for hosts in no domain."""
Changes = Mapping[str, Host | None]
"""New hosts by path; None for members that no longer have a host."""

_Key = tuple[str | None, str]
"""The path of a scope, and a level. The path is None for all members."""


class PlacedMembers(Mapping[str, Host]):
    """The hosts of the members of a group by path, with the number of members
    in each domain. It is counted once, and adjusted if hosts change.

    The hosts of an object never change, so that threads may share it.
    """

    def __init__(self, scopes: 'Mapping[str, Sequence[Scope]]',
                 levels: tuple[str, ...], hosts: Mapping[str, Host]):
        """
        :param scopes: scopes whose members are counted, by the path of each of
            their members
        :param levels: levels of the topology, coarse to fine
        :param hosts: hosts by path; other paths count only in ``all_at``
        """
        self.hosts = self._hosts = hosts if isinstance(
            hosts, LayeredMapping) else LayeredMapping(hosts)
        self._scopes = scopes
        self._snapshot = Snapshot(levels, ())
        self._counts: dict[_Key, dict[Domain | None, int]] = {}
        self._origin: tuple[PlacedMembers, Changes] | None = None

    def __getitem__(self, path: str) -> Host:
        return self.hosts[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.hosts)

    def __len__(self) -> int:
        return len(self.hosts)

    def at(self, scope: 'Scope', level: str) -> Counts:
        """Number of the scope's members in each domain of the level. It is
        kept if the scope has rules.

        :param scope: a scope of the group, with all its members
        """
        key = scope.path, level
        if key not in self._counts:
            if not scope.group.rules:
                return self._counted(self._placed_in(scope), level)
            self._count(key, scope)
        return self._counts[key]

    def all_at(self, level: str) -> Counts:
        """Number of all hosts of members in each domain of the level."""
        key = None, level
        if key not in self._counts:
            self._count(key)
        return self._counts[key]

    def with_changes(self, changes: Changes) -> 'PlacedMembers':
        """The members after changes. Every number that is counted here is
        adjusted, and no member is read again."""
        found = self._changed(changes)
        for key, counts in list(self._counts.items()):
            found._counts[key] = self._adjusted(key, counts, changes)
        return found

    def variant(self, changes: Changes) -> 'PlacedMembers':
        """The members after changes, for one request. A number that is needed
        first there is counted here, so that another variant need not count it
        again."""
        found = self._changed(changes)
        found._origin = self, changes
        return found

    def _changed(self, changes: Changes) -> 'PlacedMembers':
        return PlacedMembers(
            self._scopes, self._snapshot.levels, self._hosts.updated(
                {path: host for path, host in changes.items()
                 if host is not None},
                [path for path, host in changes.items() if host is None]))

    def _placed_in(self, scope: 'Scope') -> list[str]:
        return [member.path for member in scope.members
                if member.path in self.hosts]

    def _count(self, key: _Key, scope: 'Scope | None' = None) -> None:
        if self._origin is None:
            self._counts[key] = self._counted(
                self.hosts if scope is None else self._placed_in(scope),
                key[1])
            return
        origin, changes = self._origin
        self._counts[key] = origin._adjusted(
            key, origin.all_at(key[1]) if scope is None
            else origin.at(scope, key[1]), changes)

    def _counted(self, paths: Iterable[str],
                 level: str) -> dict[Domain | None, int]:
        hosts, domain = self.hosts, self._snapshot.domain
        return dict(Counter([domain(hosts[path], level) for path in paths]))

    def _adjusted(self, key: _Key, counts: Counts, changes: Changes
                  ) -> dict[Domain | None, int]:
        """The numbers after changes of these hosts."""
        found = dict(counts)
        scope, level = key
        for path, host in changes.items():
            if scope is not None and not any(
                    each.path == scope for each in self._scopes.get(path, ())):
                continue
            for each, step in ((self.hosts.get(path), -1), (host, 1)):
                if each is not None:
                    domain = self._snapshot.domain(each, level)
                    found[domain] = found.get(domain, 0) + step
                    if not found[domain]:
                        del found[domain]
        return found
