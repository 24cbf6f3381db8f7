# SPDX-License-Identifier: Apache-2.0
"""The members are spread evenly over eligible domains, or over a minimum."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, ClassVar

import pulp

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.member_traits import traits_for
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.marked_text import (
    format_message, MarkedText, Messages)
from nova_holistic.model.policy import Encoder, Expression, Policy, Violations
from nova_holistic.policies.eligible_domains import (
    Demand, demands_of, eligible_domains)
from nova_holistic.policies.level_policy import LEVEL, LevelPolicy
from nova_holistic.policies.spread_counts import MemberNumbers, SpreadCounts


@dataclass(frozen=True, kw_only=True)
class Spread(LevelPolicy):
    """The members are spread evenly over eligible domains, or over a minimum.

    The numbers of members in two eligible domains differ by at most max_skew,
    and at least min_domains domains are used. With a weight, each excess unit
    is one violation, and so is each member on a host in no domain.

    A domain is eligible if it has an enabled host that meets the traits,
    aggregates, zone and location of at least one member, as required by the
    member itself and the hard policies above it. Its capacity does not matter.
    A hard affinity of a coarser level limits these to one of its domains.
    """

    type: ClassVar[str] = 'spread'
    counts_servers: ClassVar[bool] = False
    keys: ClassVar[Mapping[str, Any]] = {
        **LEVEL,
        'max_skew': {'type': 'integer', 'minimum': 0, 'maximum': 2**31 - 1},
        'min_domains': {'type': 'integer', 'minimum': 1, 'maximum': 2**31 - 1},
    }

    max_skew: int | None = None
    min_domains: int | None = None

    @classmethod
    def from_document(cls, keys: Mapping[str, Any], *, weight: float | None,
                      place: str) -> 'Spread':
        if 'max_skew' not in keys and 'min_domains' not in keys:
            raise InvalidDocument(
                place, 'max_skew or min_domains is missing')
        return super().from_document(keys, weight=weight, place=place)

    # The check of a placement.

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        hosts = [(m.path, placement[m.path]) for m in scope.members
                 if m.path in placement]
        if not hosts:
            return Violations(0)
        missing = len(scope.members) - len(hosts)
        counts = Counter(snapshot.domain(h, self.level) for _, h in hosts)
        outside = [
            (path, host) for path, host in hosts
            if snapshot.domain(host, self.level) is None
        ] if counts.pop(None, 0) else []
        coarser, places = self._places(scope, snapshot)
        chosen = {tuple(snapshot.domain(host, c) for c in coarser)
                  for _, host in hosts} if coarser else {()}
        skew, uneven = self._skewed(
            {d for place in chosen for d in places.get(place, ())}, counts,
            missing)
        short, few = self._too_few(len(counts), missing)
        return Violations.of(skew + short + len(outside), lambda: (
            *uneven, *few, *(self.outside(*each) for each in outside)))

    def allows_another(self, scope: Scope, placed: PlacedMembers,
                       snapshot: Snapshot) -> Callable[[Host], bool] | None:
        coarser, places = self._places(scope, snapshot)
        if len(coarser) > 1:
            # The numbers at each level do not show which domains of two
            # levels are used together.
            return None
        counts = SpreadCounts(
            len(scope.members), placed.at(scope, self.level), frozenset(
                (domain,) for domain in placed.at(scope, coarser[0])
            ) if coarser else frozenset({()}), places)

        def violations(numbers: MemberNumbers) -> int:
            over = (0 if self.max_skew is None
                    else max(0, numbers.skew() - self.max_skew))
            short, _ = self._too_few(numbers.used, numbers.missing)
            return over + short + numbers.outside

        without = violations(counts.now) if counts.counts else 0
        return lambda host: violations(counts.with_another(
            snapshot.domain(host, self.level),
            tuple(snapshot.domain(host, level) for level in coarser)
        )) == without

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        # The possible coarser domains of the group differ in the number of
        # eligible domains. The check uses that of the placed members.
        return {self.level: False, **dict.fromkeys(
            scope.confining_levels, True)} if scope.holds(member) else {}

    def _skewed(self, eligible: set[Domain], counts: Counter[Domain],
                missing: int) -> tuple[int, Sequence[str]]:
        if self.max_skew is None:
            return 0, ()
        used = [d for d in counts if d in eligible]
        largest = max((counts[d] for d in used), default=0)
        smallest = min((counts[d] for d in used), default=0) if (
            len(used) == len(eligible)) else 0
        # Members without a host may still be placed in the smallest domains.
        while missing > 0 and smallest < largest:
            missing -= sum(counts[d] <= smallest for d in eligible)
            smallest += missing >= 0
        over = largest - smallest - self.max_skew
        if over <= 0:
            return 0, ()
        fullest = min(d for d in used if counts[d] == largest)
        emptiest = min(eligible, key=lambda d: (counts[d], d))
        return over, Messages(lambda: [format_message(
            '{} {:name} holds {} members and {} {:name} {}: they may differ '
            'by {}', self.level, fullest, largest, self.level, emptiest,
            smallest, self.max_skew)])

    def _too_few(self, used: int, missing: int) -> tuple[int, tuple[str, ...]]:
        short = (self.min_domains or 0) - used - missing
        if short <= 0:
            return 0, ()
        return short, (MarkedText(
            f'members are in {used} domains of level {self.level}; at least '
            f'{self.min_domains} are required'),)

    def _places(self, scope: Scope, snapshot: Snapshot
                ) -> tuple[Sequence[str], Mapping[tuple, set[Domain]]]:
        """The coarser levels that confine the members, and the eligible
        domains in each combination of their domains."""
        if self.max_skew is None:
            return (), {}
        demands = demands_of(scope)
        confining = scope.confining_levels
        return snapshot.once_for_hosts(
            ('spread', self.level, confining, demands),
            lambda: eligible_domains(self.level, confining, demands, snapshot))

    def most_on_a_host(self, scope: Scope) -> int | None:
        # The other domains have at least one member each.
        return (max(1, len(scope.members) - self.min_domains + 1)
                if self.hard and self.min_domains else None)

    # The encoding in the solver's model.

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        if not scope.members:
            return
        outside = encoder.outside(scope, self.level)
        costs = [outside]
        if self.hard:
            # Every member is in some domain.
            encoder.require(outside == 0)
        if self.max_skew is not None:
            among = set(encoder.domains(self.level))
            for domains in self._alternatives(scope, encoder.snapshot):
                costs.append(self._level_out(scope, encoder, domains, among))
        if self.min_domains is not None:
            used = pulp.lpSum(encoder.used(scope, domain)
                              for domain in encoder.domains(self.level))
            short = 0
            if not self.hard:
                # The number of domains by which the plan misses min_domains.
                short = encoder.integer(
                    f'spread {self.level} {scope.path} short',
                    self.min_domains)
                costs.append(short)
            # Enough domains hold members.
            encoder.require(used + short >= self.min_domains)
        if not self.hard:
            encoder.penalise(self, scope, pulp.lpSum(costs))

    def _level_out(self, scope: Scope, encoder: Encoder,
                   domains: list[Domain], among: set[Domain]) -> Expression:
        """Rows for domains that are eligible together; returns the excess.

        If these are not the domains to which the group is confined, all counts
        are 0, and the rows have no effect.
        """
        members, over = len(scope.members), 0
        within = [d for d in domains if d in among]
        if members <= self.max_skew or not within:
            return over
        name = f'spread {self.level} {domains[0]} {scope.path}'
        low = 0
        if len(within) == len(domains):
            low = encoder.integer(f'{name} low', members // len(domains))
        if not self.hard:
            over = encoder.integer(f'{name} over', members - self.max_skew)
        for domain in within:
            above = encoder.count(scope, domain) - low
            if len(within) == len(domains):
                # No domain has fewer members than the smallest number.
                encoder.require(above >= 0)
            # No domain exceeds the smallest number by more than the skew.
            encoder.require((above if self.hard else above - over)
                            <= self.max_skew)
        return over

    def _alternatives(self, scope: Scope,
                      snapshot: Snapshot) -> list[list[Domain]]:
        """The eligible domains of each place to which the group may be
        confined."""
        levels = [level for level in scope.confining_levels
                  if _refines(self.level, level, snapshot)]
        demands = frozenset(_demands(scope.group, _above(scope)))
        return snapshot.once_for_hosts(
            ('spread rows', self.level, tuple(levels), demands),
            lambda: self._places_of(levels, demands, snapshot))

    def _places_of(self, levels: list[str], demands: frozenset[Demand],
                   snapshot: Snapshot) -> list[list[Domain]]:
        places: dict[tuple[Domain, ...], list[Domain]] = defaultdict(list)
        by_place = snapshot.once_for_hosts(
            ('spread hosts', self.level, tuple(levels)),
            lambda: self._hosts_by_place(levels, snapshot))
        for (place, domain), hosts in by_place.items():
            if any(_suitable(wanted, host)
                   and all(policy.admits(host) for policy in policies)
                   for host in hosts for wanted, policies in demands):
                places[place].append(domain)
        return [sorted(found) for found in places.values()]

    def _hosts_by_place(self, levels: list[str], snapshot: Snapshot
                        ) -> Mapping[tuple[tuple[Domain, ...], Domain],
                                     Sequence[Host]]:
        """The enabled hosts of each place and domain."""
        found = defaultdict(list)
        for domain, hosts in snapshot.divided(self.level).items():
            for host in hosts:
                place = tuple([snapshot.domain(host, c) for c in levels])
                if host.enabled and None not in place:
                    found[place, domain].append(host)
        return found


# Methods of the encoding.

def _above(scope: Scope) -> tuple[Policy, ...]:
    return tuple(p for g in scope.ancestors for p in g.policies if p.hard)


def _demands(group: Group, above: tuple[Policy, ...]) -> Iterator[Demand]:
    """The demands of all descriptions in the group and its nested groups."""
    policies = (*above, *(p for p in group.policies if p.hard))
    for description in group.members:
        yield description.requirements, policies
    for nested in group.groups:
        yield from _demands(nested, policies)


def _suitable(wanted: Requirements, host: Host) -> bool:
    location = wanted.location
    return (wanted.required_traits <= traits_for(host, wanted.resources)
            and wanted.forbidden_traits.isdisjoint(host.traits)
            and wanted.aggregates <= host.aggregates
            and wanted.availability_zone in (None, host.availability_zone)
            and location == (host.location + (host.name,))[:len(location)])


def _refines(fine: str, coarse: str, snapshot: Snapshot) -> bool:
    levels = snapshot.levels
    if fine in levels and coarse in levels:
        return levels.index(coarse) < levels.index(fine)
    if fine == coarse:
        return False
    around: dict[Domain, Domain] = {}
    for host in snapshot.hosts:
        inner = snapshot.domain(host, fine)
        outer = snapshot.domain(host, coarse)
        if inner is not None and outer is not None:
            if around.setdefault(inner, outer) != outer:
                return False
    return True
