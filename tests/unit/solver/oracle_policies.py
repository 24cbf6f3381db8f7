# SPDX-License-Identifier: Apache-2.0
"""The degree to which a complete placement violates each type of policy.

Written from the design, independently of the code that it verifies.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

REQUIREMENTS = {
    'location': lambda p, host: _within(host, p.path),
    'traits': lambda p, host: (set(host.traits) >= set(p.has)
                               and not set(host.traits) & set(p.lacks)),
    'aggregates': lambda p, host: set(host.aggregates) >= set(p.names),
    'availability_zone': lambda p, host: host.availability_zone == p.zone,
}


@dataclass
class View:
    """A placement of a whole group, from the view of one group in it.

    :ivar line: the groups from the top-level group down to this group
    :ivar below: the members of this group, including nested groups
    :ivar where: path to host name, of all members
    :ivar hosts: host name to host
    :ivar other_servers: host name to number of servers outside the top-level
        group
    """

    line: list[Any]
    below: list[Any]
    where: dict[str, str]
    hosts: dict[str, Any]
    snapshot: Any
    other_servers: dict[str, int]

    def host(self, member):
        return self.hosts[self.where[member.path]]

    def domain(self, host, level):
        if level == 'host':
            return host.name
        if level in self.snapshot.levels:
            depth = self.snapshot.levels.index(level) + 1
            return (host.location[:depth] if len(host.location) >= depth
                    else None)
        return host.labels.get(level)


def degree(policy, view):
    """Return the number of violations of the policy."""
    if policy.type in REQUIREMENTS:
        return sum(not REQUIREMENTS[policy.type](policy, view.host(m))
                   for m in view.below)
    domains = [view.domain(view.host(m), policy.level) for m in view.below]
    outside = domains.count(None)
    counts = Counter(d for d in domains if d is not None)
    return outside + COUNTS[policy.type.removeprefix('soft-')](
        policy, view, counts)


def _affinity(policy, view, counts):
    return max(0, len(counts) - 1)


def _anti_affinity(policy, view, counts):
    most = policy.max_per_domain
    if isinstance(most, Fraction):
        most = max(1, int(most * len(view.below)))
    return sum(max(0, n - most) for n in counts.values())


def _exclusive(policy, view, counts):
    mine = {m.path for m in view.below}
    mixed = {view.domain(view.hosts[name], policy.level)
             for name, number in view.other_servers.items() if number > 0}
    mixed |= {view.domain(view.hosts[name], policy.level)
              for path, name in view.where.items() if path not in mine}
    return len(set(counts) & mixed)


def _spread(policy, view, counts):
    found = 0
    if policy.min_domains is not None:
        found += max(0, policy.min_domains - len(counts))
    if policy.max_skew is not None:
        eligible = _eligible(policy, view)
        if eligible:
            numbers = [counts[d] for d in eligible]
            found += max(0, max(numbers) - min(numbers) - policy.max_skew)
    return found


def _eligible(policy, view):
    coarser = [p.level for group in view.line for p in group.policies
               if p.type == 'affinity' and p.weight is None
               and _stands_above(p.level, policy.level, view)]
    here = {tuple(view.domain(view.host(m), level) for level in coarser)
            for m in view.below}
    found = set()
    for host in view.hosts.values():
        place = tuple(view.domain(host, level) for level in coarser)
        if host.enabled and place in here and any(
                _may_be_on(member, host, view) for member in view.below):
            found.add(view.domain(host, policy.level))
    return found - {None}


def _may_be_on(member, host, view):
    wanted = member.requirements
    if not (wanted.required_traits <= host.traits
            and not wanted.forbidden_traits & host.traits
            and wanted.aggregates <= host.aggregates
            and wanted.availability_zone in (None, host.availability_zone)
            and _within(host, wanted.location)):
        return False
    groups = [view.line[0]]
    for name in member.path.split('/')[:-1]:
        groups += [g for g in groups[-1].groups if g.name == name]
    return all(REQUIREMENTS[p.type](p, host) for group in groups
               for p in group.policies
               if p.weight is None and p.type in REQUIREMENTS)


def _stands_above(level, other, view):
    tree = list(view.snapshot.levels)
    if level in tree and other in tree:
        return tree.index(level) < tree.index(other)
    if level == other:
        return False
    pairs = {(view.domain(host, other), view.domain(host, level))
             for host in view.hosts.values()}
    whole = [low for low, high in pairs if None not in (low, high)]
    return len(whole) == len(set(whole))


def _within(host, path):
    return (*host.location, host.name)[:len(path)] == tuple(path)


COUNTS = {'affinity': _affinity, 'anti-affinity': _anti_affinity,
          'spread': _spread, 'exclusive': _exclusive}
KNOWN = {*REQUIREMENTS, *COUNTS, 'bandwidth'}
"""Types of policies and relationships that the oracle checks."""
