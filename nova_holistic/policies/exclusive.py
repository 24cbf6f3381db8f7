# SPDX-License-Identifier: Apache-2.0
"""No domain of the level contains both members and servers from outside the
group."""

from collections.abc import Callable, Iterable, Iterator, Mapping
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
class Exclusive(LevelPolicy):
    """No domain of the level contains both members and servers from outside
    the group.

    Servers from outside the group are existing servers, and members of the
    top-level group that are not below the group that declares the policy. With
    a weight, each domain with both kinds is one violation, and so is each
    member on a host in no domain of the level.
    """

    type: ClassVar[str] = 'exclusive'
    counts_all: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    local: ClassVar[bool] = True

    @property
    def closes(self) -> str | None:
        return self.level if self.hard else None

    def reserves(self, scope: Scope, placement: Mapping[str, Host],
                 snapshot: Snapshot) -> frozenset[Domain]:
        if not self.hard:
            return frozenset()
        found = {snapshot.domain(placement[m.path], self.level)
                 for m in scope.members if m.path in placement}
        return frozenset(domain for domain in found if domain is not None)

    def allows_another(self, scope: Scope, placed: PlacedMembers,
                       snapshot: Snapshot) -> Callable[[Host], bool]:
        inside = placed.at(scope, self.level)
        everyone = placed.all_at(self.level)

        def allows(host: Host) -> bool:
            domain = snapshot.domain(host, self.level)
            return domain is not None and not host.servers and (
                inside.get(domain, 0) == everyone.get(domain, 0))

        return allows

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        own = {member.path for member in scope.members}
        inside, others = defaultdict(list), defaultdict(list)
        outside, shared = [], []
        for path, host in placement.items():
            domain = snapshot.domain(host, self.level)
            if path not in own:
                others[domain].append(path)
            elif domain is None:
                outside.append((path, host))
            else:
                inside[domain].append(path)
        hosts = snapshot.divided(self.level) if inside else {}
        for domain in sorted(inside):
            used = [host for host in hosts.get(domain, ()) if host.servers]
            if used or others[domain]:
                shared.append((domain, inside[domain], used, others[domain]))
        return Violations.of(len(outside) + len(shared), self._messages,
                             outside, shared)

    def _messages(self, outside: list[tuple[str, Host]],
                  shared: list[tuple[Domain, list[str], list[Host], list[str]]]
                  ) -> Iterator[MarkedText]:
        yield from (self.outside(path, host) for path, host in outside)
        for domain, inside, used, others in shared:
            found = [format_message('host {:name} has {} servers', host.name,
                                    host.servers) for host in used]
            found.extend(format_message('member {}', path)
                         for path in others)
            yield format_message('{} {:name} holds {} and others: {}',
                                 self.level, domain, ', '.join(inside),
                                 joined('; ', found))

    def excluded(self, snapshot: Snapshot) -> frozenset[Domain]:
        def work() -> frozenset[Domain]:
            return _domains(snapshot, self.level,
                            (h for h in snapshot.hosts if h.servers))

        return snapshot.once_for_hosts(('exclusive', self.level), work)

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        # All other servers count, and a member may count as one for other
        # groups.
        return {self.level: True}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        taken, shared = self._others(scope, encoder)
        others = encoder.others(scope)
        outside = encoder.outside(scope, self.level)
        if self.hard:
            # Every member is in some domain.
            encoder.require(outside == 0)
            # No member is in a domain with servers from outside the group.
            encoder.require(encoder.among(scope, [
                host for host in encoder.candidates(scope)
                if encoder.snapshot.domain(host, self.level) in taken]) == 0)
        costs = [outside]
        for domain in encoder.domains(self.level) if (
                shared or not self.hard) else ():
            if domain in taken:
                if not self.hard:
                    costs.append(encoder.used(scope, domain))
            elif domain in shared:
                both = (encoder.used(scope, domain)
                        + encoder.used(others, domain))
                if self.hard:
                    # Members and others are not in one domain.
                    encoder.require(both <= 1)
                else:
                    # 1 for a domain with both.
                    mixed = encoder.integer(
                        f'exclusive {self.level} {domain} {scope.path}', 1)
                    encoder.require(mixed >= both - 1)
                    costs.append(mixed)
        if not self.hard:
            encoder.penalise(self, scope, pulp.lpSum(costs))

    def _others(self, scope: Scope, encoder: Encoder
                ) -> tuple[frozenset[Domain], frozenset[Domain]]:
        """Domains with servers from outside the group, and domains that other
        members could use."""
        return self.excluded(encoder.snapshot), _domains(
            encoder.snapshot, self.level,
            encoder.candidates(encoder.others(scope)))


def _domains(snapshot: Snapshot, level: str,
             hosts: Iterable[Host]) -> frozenset[Domain]:
    found = {snapshot.domain(host, level) for host in hosts}
    return frozenset(domain for domain in found if domain is not None)
