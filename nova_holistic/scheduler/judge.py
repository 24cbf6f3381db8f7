# SPDX-License-Identifier: Apache-2.0
"""What a group's policies say of one member at one host."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nova_holistic.model.domain import Domain
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.model.snapshot import Host, Link, Snapshot


@dataclass(frozen=True, slots=True)
class Cloud:
    """Every host, also by its name."""

    snapshot: Snapshot
    hosts: Mapping[str, Host]


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares the group with the member at a host to the group without it.

    What others break already is not held against the host.

    :ivar path: of the member
    :ivar others: path to host of every other member that takes up room
    :ivar links: uplinks of domains
    :ivar strangers: hosts with servers of others, in domains that the member
        would reserve
    :ivar cloud: every host, for policies that look further than at where
        members are; without it those say nothing
    """

    group: Group
    levels: tuple[str, ...]
    path: str
    others: Mapping[str, Host]
    links: tuple[Link, ...] = ()
    strangers: Mapping[Domain, Sequence[Host]] = FrozenMapping()
    cloud: Cloud | None = None

    @property
    def rules(self) -> Iterator[Policy]:
        """Every rule that the member is under."""
        for scope in self._scopes():
            yield from scope.group.rules

    def reserves(self, host: Host) -> frozenset[Domain]:
        """Domains in which no stranger may be once the member is there, and
        might be so far."""
        domains = self._reserved({self.path: host})
        return domains and domains - self._reserved(self.others)

    def _reserved(self, placement: Mapping[str, Host]) -> frozenset[Domain]:
        snapshot = Snapshot(self.levels, tuple(placement.values()))
        return frozenset[Domain]().union(*(
            policy.reserves(scope, placement, snapshot)
            for scope in self._scopes() for policy in scope.group.rules))

    def objections(self, host: Host) -> tuple[str, ...]:
        """What hard policies say against the host, one line each."""
        return tuple(
            f'{policy.title}: {"; ".join(found.messages) or found.count}'
            for policy, found, before in self._verdicts(host)
            if policy.hard and found.count > before.count)

    def cost(self, host: Host) -> float:
        """Weighted violations that the member adds by being there."""
        return sum(policy.weight * (found.count - before.count)
                   for policy, found, before in self._verdicts(host)
                   if not policy.hard)

    def _verdicts(self, host: Host
                  ) -> Iterator[tuple[Policy, Violations, Violations]]:
        crowd = [each for domain in self.reserves(host)
                 for each in self.strangers.get(domain, ())
                 ] if self.strangers else []
        snapshot = Snapshot(
            self.levels, (*self.others.values(), host, *crowd), self.links)
        for scope in self._scopes():
            for policy in scope.group.rules:
                if policy.local:
                    yield self._verdict(policy, scope, host, snapshot)
                elif self.cloud is not None:
                    known = self.cloud.hosts.get(host.name, host)
                    yield self._verdict(
                        policy, scope, known, self.cloud.snapshot)

    def _verdict(self, policy: Policy, scope: Scope, host: Host,
                 snapshot: Snapshot
                 ) -> tuple[Policy, Violations, Violations]:
        together = {**self.others, self.path: host}
        return (policy, policy.check(scope, together, snapshot),
                policy.check(scope, self.others, snapshot))

    def _scopes(self) -> Iterator[Scope]:
        for scope in self.group.scopes():
            if any(member.path == self.path for member in scope.members):
                yield scope
