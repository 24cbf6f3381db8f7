# SPDX-License-Identifier: Apache-2.0
"""Policies and an objective of an external author who has read only the
manual. They implement check and encode, and most of them no optional method.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.objective import Objective
from nova_holistic.model.policy import Policy, Violations


def hosts_of(scope, placement):
    """Return the hosts of the scope's members that are placed."""
    return [placement[m.path] for m in scope.members if m.path in placement]


@dataclass(frozen=True, kw_only=True)
class InPairs(Policy):
    """Every host holds an even number of the members.

    It declares no level and has no messages.
    """

    type: ClassVar[str] = 'in-pairs'
    keys: ClassVar[dict] = {}

    def check(self, scope, placement, snapshot):
        held = Counter(host.name for host in hosts_of(scope, placement))
        if any(m.path not in placement for m in scope.members):
            return Violations(0)
        return Violations(sum(number % 2 for number in held.values()))

    def encode(self, scope, encoder):
        odds = 0
        for domain in encoder.domains('host'):
            pairs = encoder.integer(f'pairs {domain}', len(scope.members) // 2)
            odd = 0 if self.hard else encoder.integer(f'odd {domain}', 1)
            encoder.require(
                encoder.count(scope, domain) == 2 * pairs + odd)
            odds += odd
        if not self.hard:
            encoder.penalise(self, scope, odds)


@dataclass(frozen=True, kw_only=True)
class FewOthers(Policy):
    """A host of the members has at most ``most`` servers that are not among
    them."""

    type: ClassVar[str] = 'few-others'
    keys: ClassVar[dict] = {'most': {'type': 'integer'}}

    most: int = 1

    def check(self, scope, placement, snapshot):
        paths = {m.path for m in scope.members}
        others = Counter(host.name for path, host in placement.items()
                         if path not in paths)
        used = {host.name: host for host in hosts_of(scope, placement)}
        return Violations(sum(
            max(0, host.servers + others[name] - self.most)
            for name, host in used.items()))

    def encode(self, scope, encoder):
        others, surplus = encoder.others(scope), 0
        most = len(others.members)
        servers = {encoder.snapshot.domain(host, 'host'): host.servers
                   for host in encoder.snapshot.hosts}
        for domain in encoder.domains('host'):
            there = servers[domain]
            excess = encoder.integer(f'excess {domain}', there + most)
            encoder.require(
                encoder.count(others, domain) + there - self.most - excess
                <= (there + most) * (1 - encoder.used(scope, domain)))
            if self.hard:
                encoder.require(excess == 0)
            surplus += excess
        if not self.hard:
            encoder.penalise(self, scope, surplus)


@dataclass(frozen=True, kw_only=True)
class Painted(Policy):
    """All members are on hosts of the given colours. A host without a colour
    violates the policy."""

    type: ClassVar[str] = 'painted'
    keys: ClassVar[dict] = {
        'colours': {'type': 'array', 'items': {'type': 'string'}}}

    colours: list[str]

    def _strange(self, host):
        return host.labels.get('paint') not in self.colours

    def check(self, scope, placement, snapshot):
        wrong = [h.name for h in hosts_of(scope, placement)
                 if self._strange(h)]
        return Violations(len(wrong), tuple(
            f'{name} is not {" or ".join(self.colours)}' for name in wrong))

    def encode(self, scope, encoder):
        wrong = encoder.among(scope, [
            h for h in encoder.snapshot.hosts if self._strange(h)])
        if self.hard:
            encoder.require(wrong == 0)
        else:
            encoder.penalise(self, scope, wrong)


@dataclass(frozen=True, kw_only=True)
class PaintedAndSaysSo(Painted):
    """The same policy, which also implements ``admits``."""

    type: ClassVar[str] = 'painted-and-says-so'

    def admits(self, host):
        return not self.hard or not self._strange(host)


@dataclass(frozen=True, kw_only=True)
class Escorted(Policy):
    """No domain holds more members of the last description than of the first.
    Each additional member is a violation."""

    type: ClassVar[str] = 'escorted'
    keys: ClassVar[dict] = {'level': {'type': 'string'}}

    level: str = 'rack'

    @property
    def levels(self):
        return (self.level,)

    @staticmethod
    def _sides(scope):
        names = [m.description for m in scope.members]
        return (replace(scope, members=tuple(
            m for m in scope.members if m.description == names[n]))
            for n in (0, -1))

    def check(self, scope, placement, snapshot):
        first, last = (Counter(
            snapshot.domain(host, self.level)
            for host in hosts_of(side, placement))
            for side in self._sides(scope))
        if any(m.path not in placement for m in scope.members):
            return Violations(0)
        more = {d: last[d] - first[d] for d in last if last[d] > first[d]}
        return Violations(sum(more.values()), tuple(
            f'{n} without escort in {domain}' for domain, n in more.items()))

    def encode(self, scope, encoder):
        first, last = self._sides(scope)
        total = 0
        for more in (
                *(encoder.count(last, d) - encoder.count(first, d)
                  for d in encoder.domains(self.level)),
                encoder.outside(last, self.level)
                - encoder.outside(first, self.level)):
            if self.hard:
                encoder.require(more <= 0)
                continue
            over = encoder.integer('over', len(last.members))
            encoder.require(over >= more)
            total += over
        if not self.hard:
            encoder.penalise(self, scope, total)


@dataclass(frozen=True, kw_only=True)
class Fused(Policy):
    """Each feed has at most ``most`` members. Each member outside all feeds is
    a violation."""

    type: ClassVar[str] = 'fused'
    keys: ClassVar[dict] = {'most': {'type': 'integer'}}

    most: int

    @property
    def levels(self):
        return ('feed',)

    def check(self, scope, placement, snapshot):
        borne = Counter(snapshot.domain(host, 'feed')
                        for host in hosts_of(scope, placement))
        over = borne.pop(None, 0) + sum(
            max(0, n - self.most) for n in borne.values())
        return Violations(over, ('a fuse blows',) if over else ())

    def encode(self, scope, encoder):
        total = encoder.outside(scope, 'feed')
        if self.hard:
            encoder.require(total == 0)
        for feed in encoder.domains('feed'):
            count = encoder.count(scope, feed)
            if self.hard:
                encoder.require(count <= self.most)
                continue
            over = encoder.integer(f'over {feed}', len(scope.members))
            encoder.require(count <= self.most + over)
            total += over
        if not self.hard:
            encoder.penalise(self, scope, total)


@dataclass(frozen=True, kw_only=True)
class Licensed(Policy):
    """At most ``vcpus`` VCPUs of the members are on hosts of one paint."""

    type: ClassVar[str] = 'licensed'
    keys: ClassVar[dict] = {'paint': {'type': 'string'},
                            'vcpus': {'type': 'integer'}}

    paint: str
    vcpus: int

    def check(self, scope, placement, snapshot):
        used = sum(
            m.requirements.resources.get('VCPU', 0) for m in scope.members
            if m.path in placement
            and placement[m.path].labels.get('paint') == self.paint)
        over = max(0, used - self.vcpus)
        return Violations(over, (f'{used} VCPUs on {self.paint}',)[:over])

    def encode(self, scope, encoder):
        there = [h for h in encoder.candidates(scope)
                 if h.labels.get('paint') == self.paint]
        sizes = {m.requirements.resources.get('VCPU', 0)
                 for m in scope.members}
        # The built-in sum of no terms is the number 0, and a comparison of it
        # is True or False.
        used = sum(size * encoder.among(replace(scope, members=tuple(
            m for m in scope.members
            if m.requirements.resources.get('VCPU', 0) == size)), there)
            for size in sorted(sizes) if size)
        if self.hard:
            encoder.require(used <= self.vcpus)
            return
        over = encoder.integer('over', 10**6)
        encoder.require(over >= used - self.vcpus)
        encoder.penalise(self, scope, over)


@dataclass(frozen=True, kw_only=True)
class Shunned(Policy):
    """No member is in the rack with the given name. The rack need not exist.
    """

    type: ClassVar[str] = 'shunned'
    keys: ClassVar[dict] = {'rack': {'type': 'string'}}

    rack: str

    def check(self, scope, placement, snapshot):
        return Violations(sum(
            snapshot.domain(host, 'rack') == Domain('rack', (self.rack,))
            for host in hosts_of(scope, placement)))

    def encode(self, scope, encoder):
        there = encoder.count(scope, Domain('rack', (self.rack,)))
        if self.hard:
            encoder.require(there <= 0)
        else:
            encoder.penalise(self, scope, there)


class Rent(Objective):
    """Each host in use costs the rent of its paint, and each VCPU of new
    members a tenth of this rent."""

    name: ClassVar[str] = 'rent'
    RENTS: ClassVar[dict] = {'red': 5.0, 'blue': 2.0}

    def _rent(self, host):
        return self.RENTS.get(host.labels.get('paint'), 1.0)

    def value(self, members, placement, placed, snapshot):
        used = {placement[m.path].name: placement[m.path] for m in members}
        return sum(map(self._rent, used.values())) + sum(
            m.requirements.resources.get('VCPU', 0) / 10
            * self._rent(placement[m.path])
            for m in members if m.path not in placed)

    def encode(self, encoder):
        return sum(
            self._rent(host) * (
                encoder.host_used(host) + encoder.demand(host, 'VCPU') / 10)
            for host in encoder.hosts())


POLICIES = {each.type: each for each in (
    InPairs, Painted, PaintedAndSaysSo, Escorted, Fused, Licensed,
    Shunned)}
