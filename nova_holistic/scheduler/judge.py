# SPDX-License-Identifier: Apache-2.0
"""What a group's policies say of one member at one host."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nova_holistic.model.domain import Domain
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.model.snapshot import Host, Snapshot


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares the group with the member at a host to the group without it.

    What others break already is not held against the host.

    :ivar path: of the member
    :ivar others: path to host of every other member that takes up room
    :ivar strangers: hosts with servers of others, in domains that the member
        would reserve
    """

    group: Group
    levels: tuple[str, ...]
    path: str
    others: Mapping[str, Host]
    strangers: Mapping[Domain, Sequence[Host]] = FrozenMapping()

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
            self.levels, (*self.others.values(), host, *crowd))
        together = {**self.others, self.path: host}
        for scope in self._scopes():
            for policy in scope.group.rules:
                yield (policy, policy.check(scope, together, snapshot),
                       policy.check(scope, self.others, snapshot))

    def _scopes(self) -> Iterator[Scope]:
        for scope in self.group.scopes():
            if any(member.path == self.path for member in scope.members):
                yield scope
