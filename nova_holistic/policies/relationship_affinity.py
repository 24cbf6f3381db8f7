# SPDX-License-Identifier: Apache-2.0
"""One domain of the level holds all members of both sides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from nova_holistic.model.domain import HOST
from nova_holistic.model.group import Scope
from nova_holistic.model.policy import Encoder, Violations
from nova_holistic.model.relationship import Relationship
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.policies.affinity import Affinity


@dataclass(frozen=True, kw_only=True)
class RelationshipAffinity(Relationship):
    """One domain of the level holds all members of both sides.

    It is the policy affinity on the members of the two sides and no others,
    with that policy's violations.
    """

    type: ClassVar[str] = 'affinity'
    local: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Any]] = {
        'level': {'type': 'string', 'minLength': 1, 'maxLength': 255},
    }

    level: str = HOST

    @classmethod
    def from_document(cls, keys: Mapping[str, Any], *, weight: float | None,
                      place: str) -> 'RelationshipAffinity':
        return cls(weight=weight, place=place, **keys)

    @property
    def levels(self) -> Sequence[str]:
        return (self.level,)

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        first, second = self.sides(scope)
        return self._affinity().check(
            replace(scope, members=first + second), placement, snapshot)

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        first, second = self.sides(scope)
        self._affinity().encode(
            replace(scope, members=first + second), encoder)

    def _affinity(self) -> Affinity:
        return Affinity(level=self.level, weight=self.weight)
