# SPDX-License-Identifier: Apache-2.0
"""The interface of relationships."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.identity_cache import IdentityCache
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.member_ranges import (
    member_ranges, with_replicas)
from nova_holistic.model.messages.marked_text import MarkedText
from nova_holistic.model.policy import Policy

if TYPE_CHECKING:
    from nova_holistic.model.group import Scope
    from nova_holistic.model.cloud.snapshot import Host, Snapshot

_spans = IdentityCache(member_ranges, 32)
_NONE = slice(0)
"""The members of a side whose servers have all left the group."""


@dataclass(frozen=True, kw_only=True)
class Relationship(Policy):
    """A rule between two sides, declared by a group that contains both.

    A subclass is one file and one entry point in
    ``nova_holistic.relationships``. It is created from its own keys and
    ``between``. Its check and its encoding receive the scope of the declaring
    group.

    :ivar between: two paths relative to that group, each of a nested group, a
        member, all servers of a counted member, or one of these servers
    """

    between: tuple[str, str]

    @property
    def title(self) -> str:
        return f'{self.type} between {" and ".join(self.between)}'

    @property
    def summary(self) -> str:
        return MarkedText(' '.join((self.type, *self.levels, 'between',
                                    ' and '.join(self.between))))

    @property
    def traffic_mbps(self) -> int:
        """Mbit/s, in each direction, between each server of one side and each
        of the other; 0 if the relationship specifies none."""
        return 0

    @property
    def separates_sides(self) -> bool:
        """Whether objectives may refer to the members of each side."""
        return bool(self.traffic_mbps)

    @property
    def limits_links(self) -> bool:
        """Whether no uplink may carry more than its capacity."""
        return False

    def without_traffic(self, scope: 'Scope') -> 'Relationship | None':
        """The hard relationship that a plan satisfies if no traffic between
        the sides leaves its domain, which would violate this preference;
        None if no such relationship exists.
        """
        return None

    def link_demand(self, scope: 'Scope', placement: Mapping[str, 'Host'],
                    snapshot: 'Snapshot') -> Mapping[Domain, int]:
        """Mbit/s that are reserved on the uplink of each domain.

        :param placement: path to host; the other members are left out
        :param snapshot: only its levels are read
        """
        return {}

    def overloaded(self, scope: 'Scope', placement: Mapping[str, 'Host'],
                   snapshot: 'Snapshot') -> Sequence[Domain]:
        """Domains whose uplinks would carry more than their capacity. The load
        of an uplink does not depend on the hosts of members outside its
        domain.

        :param placement: path to host; the other members are left out
        """
        return ()

    def warnings(self, scope: 'Scope', placement: Mapping[str, 'Host'],
                 snapshot: 'Snapshot') -> Sequence[str]:
        """The parts of this relationship that a plan does not guarantee
        although it satisfies the relationship.
        """
        return ()

    def sides(self, scope: 'Scope') -> tuple[tuple[Member, ...],
                                             tuple[Member, ...]]:
        """The members of both sides in document order."""
        known = with_replicas(
            _spans(scope.members), scope.group, _full(scope, ''))
        first, second = (
            scope.members[known.get(_full(scope, path), _NONE)]
            for path in self.between)
        return first, second

    def side_scopes(self, scope: 'Scope') -> tuple['Scope', 'Scope']:
        """The members of each side as a scope for an encoder."""
        first, second = (
            replace(scope, path=_full(scope, path), members=members)
            for path, members in zip(self.between, self.sides(scope)))
        return first, second


def _full(scope: 'Scope', path: str) -> str:
    return f'{scope.path}/{path}' if scope.path else path
