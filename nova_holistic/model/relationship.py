# SPDX-License-Identifier: Apache-2.0
"""What every relationship must be able to do."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nova_holistic.model.member import Member
from nova_holistic.model.policy import Policy

if TYPE_CHECKING:
    from nova_holistic.model.group import Scope


@dataclass(frozen=True, kw_only=True)
class Relationship(Policy):
    """A rule between two sides, carried by a group that holds them both.

    A subclass is one file and one entry point in
    ``nova_holistic.relationships``. Check and encoding are given the scope of
    the group that carries it.

    :ivar between: two paths relative to that group: of a nested group, a
        member, all servers of a counted member, or one of them
    """

    between: tuple[str, str]

    def sides(self, scope: 'Scope') -> tuple[tuple[Member, ...],
                                             tuple[Member, ...]]:
        """Members of either side, in document order."""
        first, second = (_side(scope, path) for path in self.between)
        return first, second


def _side(scope: 'Scope', path: str) -> tuple[Member, ...]:
    full = f'{scope.path}/{path}' if scope.path else path
    return tuple(
        m for m in scope.members
        if full in (m.path, m.description) or m.path.startswith(full + '/'))
