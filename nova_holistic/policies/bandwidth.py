# SPDX-License-Identifier: Apache-2.0
"""No uplink of the level carries more than its capacity.

The model is the pipe model: every server of one side and every server of the
other exchange ``mbps`` Mbit/s in each direction at the same time. So sides of
n and m servers exchange n x m x mbps in each direction; a relationship between
groups
is equivalent to one between each two of their servers; and the order of the
sides does not matter. A pair that shares a domain of the level does not use
its uplink; any other pair uses the uplinks of both its ends. Links are full
duplex, and capacity and usage are those of one direction.

This is the customer-pipe of Duffield et al., A Flexible Model for Resource
Management in Virtual Private Networks (SIGCOMM 1999), with the traffic matrix
of Meng, Pappas and Zhang, Improving the Scalability of Data Center Networks
with Traffic-aware Virtual Machine Placement (INFOCOM 2010). The alternative is
a hose, or one for each two tiers as in the tenant application graphs of Lee et
al., Application-Driven Bandwidth Guarantees in Datacenters (SIGCOMM 2014), in
which the load of an uplink is the smaller of the rates that the servers on
each side of it can send and receive. With equal guarantees, this is a function
of the number of servers below the uplink, of either side of the relationship:
the hose model sees no gain in a web server next to its database unless all
servers of both sides are below the uplink. Pipes do, and their load on a link
is a sum over pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass
from math import gcd
from typing import Any, ClassVar

import pulp

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Link, Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.identity_cache import IdentityCache
from nova_holistic.model.members.member import Member
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.pairs import pairs_together
from nova_holistic.model.policy import Encoder, Expression, Violations
from nova_holistic.model.relationship import Relationship
from nova_holistic.policies.level_policy import LEVEL, LevelPolicy
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.uplink_loads import (
    numbers_of_members, UplinkLoads)


@dataclass(frozen=True, kw_only=True)
class _NoTraffic(RelationshipAffinity):
    """The affinity of both sides in place of preferred traffic. An objective
    still refers to the traffic."""

    type: ClassVar[str] = RelationshipAffinity.type

    @property
    def separates_sides(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class Bandwidth(LevelPolicy, Relationship):
    """No uplink of the level carries more than its capacity.

    The load of an uplink is its usage in the snapshot, which includes the hard
    relationships of other groups, and the traffic of all hard bandwidth
    relationships of the level in the whole top-level group. Each
    Mbit/s over its capacity is a violation of each relationship that crosses
    it, and so is each member on a host in no domain of the level. A domain
    without a link in the snapshot has an uplink without limits.

    With a weight, no uplink is limited, and each Mbit/s between servers that
    do not share a domain of the level is one violation.

    :ivar mbps: Mbit/s in each direction between each server of one side and
        each server of the other
    """

    type: ClassVar[str] = 'bandwidth'
    counts_servers: ClassVar[bool] = False
    local: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Any]] = {
        **LEVEL,
        'mbps': {'type': 'integer', 'minimum': 1, 'maximum': 10**7},
    }
    required: ClassVar[Sequence[str]] = ('mbps',)

    mbps: int

    @property
    def traffic_mbps(self) -> int:
        return self.mbps

    @property
    def limits_links(self) -> bool:
        return self.hard

    def without_traffic(self, scope: Scope) -> RelationshipAffinity | None:
        # Without servers on one side, no traffic exists.
        return _NoTraffic(
            level=self.level, between=self.between, place=self.place
        ) if all(self.sides(scope)) else None

    def link_demand(self, scope: Scope, placement: Mapping[str, Host],
                    snapshot: Snapshot) -> Mapping[Domain, int]:
        return (self._own_loads(scope, placement, snapshot)
                if self.hard else {})

    def overloaded(self, scope: Scope, placement: Mapping[str, Host],
                   snapshot: Snapshot) -> Sequence[Domain]:
        return [domain for domain, _, _ in self._overloaded(
            scope, placement, snapshot)] if self.hard else ()

    def warnings(self, scope: Scope, placement: Mapping[str, Host],
                 snapshot: Snapshot) -> Sequence[str]:
        used = self.link_demand(scope, placement, snapshot).keys()
        missing = used - snapshot.uplinks(self.level).keys()
        return (MarkedText(
            f'{self.title} is not limited in {len(missing)} of the '
            f'{len(used)} domains of level {self.level} whose uplinks it '
            'uses: the inventory has no links for them'),) if missing else ()

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        sides = self.sides(scope)
        if not self.hard:
            first, second = (numbers_of_members(
                side, self.level, placement, snapshot) for side in sides)
            together = sum(number * second.get(domain, 0)
                           for domain, number in first.items() if domain)
            apart = sum(first.values()) * sum(second.values()) - together
            return Violations(apart * self.mbps, (MarkedText(
                f'{apart} pairs of servers share no domain of level '
                f'{self.level}: {apart * self.mbps} Mbit/s'
            ),) if apart else ())
        outside = [
            (member.path, placement[member.path])
            for side in sides for member in side
            if member.path in placement and snapshot.domain(
                placement[member.path], self.level) is None]
        over, full = len(outside), []
        for _, link, load in self._overloaded(scope, placement, snapshot):
            over += load - max(0, link.uplink_mbps - link.used_mbps)
            full.append((link, load))
        return Violations.of(over, self._messages, outside, full)

    def _messages(self, outside: list[tuple[str, Host]],
                  full: list[tuple[Link, int]]) -> Iterator[MarkedText]:
        yield from (self.outside(path, host) for path, host in outside)
        for link, load in full:
            yield format_message(
                'the uplink of {} {:name} would carry {} Mbit/s; {} of '
                'its {} are used by others', self.level,
                '/'.join(link.domain), load, link.used_mbps,
                link.uplink_mbps)

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        # Uplinks of the level differ, and other hard relationships in the
        # top-level group also use them.
        return {self.level: True} if self.hard or scope.holds(member) else {}

    def _overloaded(self, scope: Scope, placement: Mapping[str, Host],
                    snapshot: Snapshot) -> Iterator[
                        tuple[Domain, Link, int]]:
        """Links that this relationship uses, and that carry too much, with
        their domains and loads."""
        links = snapshot.uplinks(self.level)
        used = [domain for domain in self._own_loads(
            scope, placement, snapshot) if domain in links]
        if not used:
            return
        loads: Counter[Domain] = Counter()
        for each in self._on_the_same_links(scope):
            loads.update(each.loads(placement, snapshot))
        for domain in sorted(used):
            link = links[domain]
            if loads[domain] > link.uplink_mbps - link.used_mbps:
                yield domain, link, loads[domain]

    def _own_loads(self, scope: Scope, placement: Mapping[str, Host],
                   snapshot: Snapshot) -> Mapping[Domain, int]:
        return UplinkLoads(self.sides(scope), self.level, self.mbps)(
            placement, snapshot)

    def _on_the_same_links(self, scope: Scope) -> list['_BandwidthRule']:
        """All hard bandwidth relationships of the level in the top-level
        group, including this one."""
        top = scope.ancestors[0] if scope.ancestors else scope.group
        return [each for each in _remembered(top)
                if each.rule.level == self.level]

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        sides = self.side_scopes(scope)
        if not self.hard:
            pairs = len(sides[0].members) * len(sides[1].members)
            together = pulp.lpSum(
                pairs_together(encoder, *sides, domain)
                for domain in encoder.domains(self.level))
            encoder.penalise(self, scope, (pairs - together) * self.mbps)
            return
        for side in sides:
            # Every member is in some domain.
            encoder.require(encoder.outside(side, self.level) == 0)
        sharing = self._on_the_same_links(scope)
        # The first of the relationships on the same links reports the
        # violations of all.
        if sharing and sharing[0].rule is self:
            self._keep_within(sharing, encoder)

    def _keep_within(self, sharing: Sequence['_BandwidthRule'],
                     encoder: Encoder) -> None:
        links = encoder.snapshot.uplinks(self.level)
        # The rows are divided by the common divisor. This is exact, because
        # numbers of pairs are whole.
        unit = gcd(*(each.rule.mbps for each in sharing))
        between = [(each.rule.mbps // unit,
                    *each.rule.side_scopes(each.scope)) for each in sharing]
        for domain in encoder.domains(self.level):
            if domain in links:
                link = links[domain]
                free = max(0, link.uplink_mbps - link.used_mbps)
                # All relationships together use at most the free capacity.
                encoder.require(pulp.lpSum(
                    self._crossing(first, second, domain, encoder) * units
                    for units, first, second in between) <= free // unit)

    @staticmethod
    def _crossing(first: Scope, second: Scope, domain: Domain,
                  encoder: Encoder) -> Expression:
        """Number of pairs on the uplink, with exactly one server in the
        domain.

        The value may be higher than the number of pairs, but not lower.
        """
        return (encoder.count(first, domain) * len(second.members)
                + encoder.count(second, domain) * len(first.members)
                - pairs_together(encoder, first, second, domain) * 2)


@dataclass(frozen=True, slots=True)
class _BandwidthRule:
    """A bandwidth relationship and the group that declares it."""

    rule: Bandwidth
    scope: Scope
    loads: UplinkLoads


def _hard_ones(top: Group) -> tuple[_BandwidthRule, ...]:
    """The hard bandwidth relationships of the top-level group and of all
    groups below it, in document order."""
    return tuple(
        _BandwidthRule(each, scope, UplinkLoads(
            each.sides(scope), each.level, each.mbps))
        for scope in top.scopes() for each in scope.group.relationships
        if isinstance(each, Bandwidth) and each.hard)


_remembered = IdentityCache(_hard_ones, 8)
