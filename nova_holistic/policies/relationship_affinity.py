# SPDX-License-Identifier: Apache-2.0
"""One domain of the level holds all members of both sides."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.policy import Encoder, Violations
from nova_holistic.model.relationship import Relationship
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.level_policy import LevelPolicy


@dataclass(frozen=True, kw_only=True)
class RelationshipAffinity(LevelPolicy, Relationship):
    """One domain of the level holds all members of both sides.

    This is the policy affinity for the members of the two sides only, with the
    violations of that policy.

    Unlike affinity, it declares no level in ``confines``. The group that
    declares it may have members of neither side, and these may be in other
    domains. A level in ``confines`` would be wrong for them: spread would
    count only the domains inside one domain, and the solver would place all
    members of the group in one domain.
    """

    type: ClassVar[str] = 'affinity'
    counts_servers: ClassVar[bool] = False
    counts_all: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    local: ClassVar[bool] = True

    @property
    def keeps_together(self) -> bool:
        return self.hard

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        first, second = self.sides(scope)
        return self._affinity().check(
            replace(scope, members=first + second), placement, snapshot)

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {self.level: False} if scope.holds(member) else {}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        first, second = self.sides(scope)
        self._affinity().encode(
            replace(scope, members=first + second), encoder)

    def _affinity(self) -> Affinity:
        return Affinity(level=self.level, weight=self.weight)
