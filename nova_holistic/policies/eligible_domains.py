# SPDX-License-Identifier: Apache-2.0
"""The domains that the check of ``spread`` counts.

The encoding of the policy finds them in another way. Tests compare both.
"""

from collections.abc import Iterator, Sequence
from collections import defaultdict

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.member_traits import traits_for
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.identity_cache import IdentityCache
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.policy import Policy

REMEMBERED_SCOPES = 256
"""Number of scopes whose demands are kept in memory."""

Demand = tuple[Requirements, tuple[Policy, ...]]
"""The requirements of a member for its host, and the policies about it."""


def _all_demands(scope: Scope) -> Iterator[Demand]:
    """The demands of all descriptions, by the path from the top-level
    group."""
    above = [p for group in scope.ancestors for p in group.policies]
    prefix = f'{scope.path}/' if scope.path else ''
    for member in {m.description: m for m in scope.members}.values():
        group, policies = scope.group, [*above, *scope.group.policies]
        for name in member.path.removeprefix(prefix).split('/')[:-1]:
            group = next(g for g in group.groups if g.name == name)
            policies.extend(group.policies)
        yield member.requirements, tuple(p for p in policies if p.hard)


# Searches check the same scope thousands of times.
demands_of = IdentityCache(
    lambda scope: frozenset(_all_demands(scope)), REMEMBERED_SCOPES)


def eligible_domains(level: str, confining: Sequence[str],
                     demands: frozenset[Demand], snapshot: Snapshot
                     ) -> tuple[list[str], dict[tuple, set[Domain]]]:
    """The coarser level, and the eligible domains in each of its domains."""
    coarser = [c for c in confining if _is_coarser(c, level, snapshot)]
    found: dict[tuple, set[Domain]] = defaultdict(set)
    for place, domain, hosts in snapshot.once_for_hosts(
            ('enabled hosts', level, *coarser),
            lambda: _enabled_hosts(level, coarser, snapshot)):
        # One host is sufficient.
        if any(_meets(host, *demand) for host in hosts for demand in demands):
            found[place].add(domain)
    return coarser, found


def _enabled_hosts(level: str, coarser: Sequence[str], snapshot: Snapshot
                   ) -> list[tuple[tuple, Domain, list[Host]]]:
    """The enabled hosts of each domain of the level, divided by their domains
    of the coarser levels."""
    found = []
    for domain, hosts in snapshot.divided(level).items():
        inside: dict[tuple, list[Host]] = {}
        for host in hosts:
            if host.enabled:
                place = tuple(snapshot.domain(host, c) for c in coarser)
                inside.setdefault(place, []).append(host)
        found.extend((place, domain, some) for place, some in inside.items())
    return found


def _meets(host: Host, wanted: Requirements,
           policies: tuple[Policy, ...]) -> bool:
    here = (*host.location, host.name)
    return (not wanted.required_traits - traits_for(host, wanted.resources)
            and not wanted.forbidden_traits & host.traits
            and not wanted.aggregates - host.aggregates
            and wanted.availability_zone in (None, host.availability_zone)
            and here[:len(wanted.location)] == wanted.location
            and not any(not policy.admits(host) for policy in policies))


def _is_coarser(level: str, than: str, snapshot: Snapshot) -> bool:
    """Whether it is above ``than`` in the tree, or contains its domains whole.
    """
    if level in snapshot.levels and than in snapshot.levels:
        return snapshot.levels.index(level) < snapshot.levels.index(than)
    return level != than and all(
        len({d for h in hosts if (d := snapshot.domain(h, level))}) <= 1
        for hosts in snapshot.divided(than).values())
