# SPDX-License-Identifier: Apache-2.0
"""No domain of the level holds more than k members."""

from collections.abc import Callable, Iterator, Mapping
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import pulp

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.policy import Encoder, Violations
from nova_holistic.policies.level_policy import LEVEL, LevelPolicy


@dataclass(frozen=True, kw_only=True)
class AntiAffinity(LevelPolicy):
    """No domain of the level holds more than k members below the group.

    With a weight, each member over the limit is one violation, and so is each
    member on a host in no domain of the level.

    :ivar max_per_domain: k itself, or k as a fraction of all members below the
        group, rounded down and at least 1
    """

    type: ClassVar[str] = 'anti-affinity'
    counts_servers: ClassVar[bool] = False
    local: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Any]] = {
        **LEVEL,
        'max_per_domain': {
            'description': "a whole number from 1 to 2147483647, or a share "
                           "from '1%' to '100%'",
            'anyOf': [
                {'type': 'integer', 'minimum': 1, 'maximum': 2**31 - 1},
                {'type': 'string', 'pattern': r'^([1-9][0-9]?|100)%\Z'},
            ],
        },
    }

    max_per_domain: int | Fraction = 1

    @property
    def counts_all(self) -> bool:  # type: ignore[override]
        """A share depends on the number of all members."""
        return isinstance(self.max_per_domain, Fraction)

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        """With fewer members, a share is a smaller number."""
        return not self.counts_all

    @classmethod
    def from_document(cls, keys: Mapping[str, Any], *, weight: float | None,
                      place: str) -> 'AntiAffinity':
        values = dict(keys)
        limit = values.get('max_per_domain')
        if isinstance(limit, str):
            values['max_per_domain'] = Fraction(int(limit[:-1]), 100)
        return super().from_document(values, weight=weight, place=place)

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        limit = self._limit(scope)
        where = defaultdict(list)
        for member in scope.members:
            if member.path in placement:
                host = placement[member.path]
                where[snapshot.domain(host, self.level)].append(member.path)
        outside = where.pop(None, [])
        over, full = len(outside), []
        for domain, paths in where.items():
            if len(paths) > limit:
                over += len(paths) - int(limit)
                full.append((domain, paths))
        return Violations.of(over, self._messages, placement, outside, full,
                             int(limit))

    def _limit(self, scope: Scope) -> int | Fraction:
        """A count exceeds a share that is rounded down if and only if it
        exceeds the share."""
        limit = self.max_per_domain
        if isinstance(limit, Fraction):
            return max(Fraction(1), limit * len(scope.members))
        return limit

    def allows_another(self, scope: Scope, placed: PlacedMembers,
                       snapshot: Snapshot) -> Callable[[Host], bool]:
        counts = placed.at(scope, self.level)
        limit = self._limit(scope)

        def allows(host: Host) -> bool:
            domain = snapshot.domain(host, self.level)
            return domain is not None and (
                counts.get(domain, 0) + 1 <= limit)

        return allows

    def _messages(self, placement: Mapping[str, Host], outside: list[str],
                  full: list[tuple[Domain, list[str]]],
                  limit: int) -> Iterator[MarkedText]:
        yield from (self.outside(path, placement[path]) for path in outside)
        for domain, paths in full:
            yield format_message(
                '{} {:name} holds {} members, and the limit is {}: '
                '{}', self.level, domain, len(paths), limit,
                ', '.join(paths))

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {self.level: False} if scope.holds(member) else {}

    def most_on_a_host(self, scope: Scope) -> int | None:
        # Every member is in some domain, with all members on the same host.
        return self._most(scope) if self.hard else None

    def _most(self, scope: Scope) -> int:
        most = self.max_per_domain
        if isinstance(most, Fraction):
            share = len(scope.members) * most.numerator // most.denominator
            most = max(share, 1)
        return most

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        most = self._most(scope)
        outside = encoder.outside(scope, self.level)
        if self.hard:
            # Every member is in some domain.
            encoder.require(outside == 0)
            encoder.limit(scope, self.level, most)
            return
        surplus = len(scope.members) - most
        excesses = []
        for domain in self._domains(scope, encoder) if surplus > 0 else ():
            # The members of a domain over the limit.
            excess = encoder.integer(
                f'anti-affinity {domain.level} {domain} {scope.path}', surplus)
            encoder.require(excess >= encoder.count(scope, domain) - most)
            excesses.append(excess)
        encoder.penalise(self, scope, pulp.lpSum([*excesses, outside]))

    def _domains(self, scope: Scope, encoder: Encoder) -> Iterator[Domain]:
        """The domains that could hold members. Other domains cannot have too
        many."""
        near = {encoder.snapshot.domain(host, self.level)
                for host in encoder.candidates(scope)}
        return (d for d in encoder.domains(self.level) if d in near)


@dataclass(frozen=True, kw_only=True)
class SoftAntiAffinity(AntiAffinity):
    """Anti-affinity as a preference, in Nova's spelling."""

    type: ClassVar[str] = 'soft-anti-affinity'
    counts_servers: ClassVar[bool] = False

    default_weight: ClassVar[float | None] = 1.0

    weight: float | None = 1.0
