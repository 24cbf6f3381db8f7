# SPDX-License-Identifier: Apache-2.0
"""All members below the group are in one domain of the level."""

from collections.abc import Callable, Iterator, Mapping
from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

import pulp

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.model.messages.marked_text import (
    format_message, joined, MarkedText)
from nova_holistic.model.policy import Encoder, Violations
from nova_holistic.policies.level_policy import LevelPolicy


@dataclass(frozen=True, kw_only=True)
class Affinity(LevelPolicy):
    """All members below the group are in one domain of the level.

    With a weight, each used domain after the first is one violation, and so is
    each member on a host in no domain of the level.
    """

    type: ClassVar[str] = 'affinity'
    counts_servers: ClassVar[bool] = False
    counts_all: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    local: ClassVar[bool] = True

    @property
    def confines(self) -> str | None:
        return self.level if self.hard else None

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        where: dict[Domain, list[str]] = defaultdict(list)
        outside = []
        for member in scope.members:
            if member.path not in placement:
                continue
            host = placement[member.path]
            domain = snapshot.domain(host, self.level)
            if domain is None:
                outside.append((member.path, host))
            else:
                where[domain].append(member.path)
        return Violations.of(max(0, len(where) - 1) + len(outside),
                             self._messages, where, outside)

    def allows_another(self, scope: Scope, placed: PlacedMembers,
                       snapshot: Snapshot) -> Callable[[Host], bool]:
        used = placed.at(scope, self.level).keys() - {None}

        def allows(host: Host) -> bool:
            domain = snapshot.domain(host, self.level)
            return domain is not None and (not used or domain in used)

        return allows

    def _messages(self, where: Mapping[Domain, list[str]],
                  outside: list[tuple[str, Host]]) -> Iterator[MarkedText]:
        if len(where) > 1:
            yield format_message(
                'members are in {} domains of level {} instead of one: {}',
                len(where), self.level, joined('; ', (
                    format_message('{:name} has {}', domain,
                                   ', '.join(where[domain]))
                    for domain in sorted(where))))
        yield from (self.outside(path, host) for path, host in outside)

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {self.level: False} if scope.holds(member) else {}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        if not scope.members:
            return
        domains = encoder.domains(self.level)
        used = pulp.lpSum(encoder.used(scope, d) for d in domains)
        outside = encoder.outside(scope, self.level)
        if self.hard:
            # At most one domain holds members of the scope.
            encoder.require(used <= 1)
            # Every member is in some domain.
            encoder.require(outside == 0)
            return
        # Used domains after the first. The number is not below zero if all
        # members are outside and no domain is used.
        further = encoder.integer(
            f'affinity {self.level} {scope.path}', len(domains))
        encoder.require(further >= used - 1)
        encoder.penalise(self, scope, further + outside)


@dataclass(frozen=True, kw_only=True)
class SoftAffinity(Affinity):
    """Affinity as a preference, in Nova's spelling."""

    type: ClassVar[str] = 'soft-affinity'
    counts_servers: ClassVar[bool] = False

    default_weight: ClassVar[float | None] = 1.0

    weight: float | None = 1.0
