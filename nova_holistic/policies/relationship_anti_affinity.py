# SPDX-License-Identifier: Apache-2.0
"""No domain of the level holds members of both sides."""

from collections.abc import Iterator, Mapping
from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

import pulp

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.policy import Encoder, Expression, Violations
from nova_holistic.model.relationship import Relationship
from nova_holistic.policies.level_policy import LevelPolicy


@dataclass(frozen=True, kw_only=True)
class RelationshipAntiAffinity(LevelPolicy, Relationship):
    """No domain of the level holds members of both sides.

    With a weight, each domain with members of both sides is one violation, and
    so is each member on a host in no domain of the level.
    """

    type: ClassVar[str] = 'anti-affinity'
    counts_servers: ClassVar[bool] = False
    counts_all: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    local: ClassVar[bool] = True

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        where: dict[Domain, tuple[list[str], list[str]]] = defaultdict(
            lambda: ([], []))
        outside = []
        for number, side in enumerate(self.sides(scope)):
            for member in side:
                if member.path not in placement:
                    continue
                host = placement[member.path]
                domain = snapshot.domain(host, self.level)
                if domain is None:
                    outside.append((member.path, host))
                else:
                    where[domain][number].append(member.path)
        shared = [(domain, *sides) for domain, sides in where.items()
                  if all(sides)]
        return Violations.of(len(outside) + len(shared), self._messages,
                             outside, shared)

    def _messages(self, outside: list[tuple[str, Host]],
                  shared: list[tuple[Domain, list[str], list[str]]]
                  ) -> Iterator[MarkedText]:
        yield from (self.outside(path, host) for path, host in outside)
        for domain, first, second in sorted(shared):
            yield format_message('{} {:name} holds {} together with '
                                 '{}', self.level, domain,
                                 ', '.join(first), ', '.join(second))

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {self.level: False} if scope.holds(member) else {}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        first, second = self.side_scopes(scope)
        outside = [encoder.outside(side, self.level)
                   for side in (first, second)]
        if self.hard:
            for number in outside:
                # Every member is in some domain.
                encoder.require(number == 0)
            for domain in encoder.domains(self.level):
                # At most one side uses a domain.
                encoder.require(encoder.used(first, domain)
                                + encoder.used(second, domain) <= 1)
            return
        encoder.penalise(self, scope, pulp.lpSum(
            [*self._shared(first, second, encoder), *outside]))

    def _shared(self, first: Scope, second: Scope,
                encoder: Encoder) -> Iterator[Expression]:
        """For each domain, 1 if both sides use it."""
        for domain in encoder.domains(self.level):
            both = encoder.integer(
                f'both {first.path} {second.path} {domain.level} {domain}', 1)
            encoder.require(both >= encoder.used(first, domain)
                            + encoder.used(second, domain) - 1)
            yield both
