# SPDX-License-Identifier: Apache-2.0
"""Every assignment of a few members to a few hosts, judged one by one.

Written from the design's sentences, apart from all that it is to judge:
capacity, requirements, policies, preferences and objectives.
"""

from collections import Counter
from fractions import Fraction
import itertools


def best(group, snapshot, placed, objective):
    """(weighted violations, objective value) of the best plan, or None."""
    members = group.all_members()
    hosts = {h.name: h for h in snapshot.hosts}
    free = [m for m in members if m.path not in placed]
    found = None
    for names in itertools.product(hosts, repeat=len(free)):
        where = {**placed, **{m.path: n for m, n in zip(free, names)}}
        if not _fits(free, where, hosts):
            continue
        cost = _violations(group, '', where, hosts, snapshot)
        if cost is None:
            continue
        value = OBJECTIVES[objective](members, free, where, hosts)
        if found is None or cost < found[0] - 1e-9 or (
                abs(cost - found[0]) <= 1e-9 and value < found[1]):
            found = (cost, value)
    return found


def _fits(free, where, hosts):
    taken = Counter()
    for member in free:
        host, wanted = hosts[where[member.path]], member.requirements
        path = (*host.location, host.name)
        if not host.enabled or not wanted.required_traits <= host.traits:
            return False
        if wanted.forbidden_traits & host.traits:
            return False
        if not wanted.aggregates <= host.aggregates:
            return False
        if wanted.availability_zone not in (None, host.availability_zone):
            return False
        if path[:len(wanted.location)] != wanted.location:
            return False
        for name, amount in wanted.resources.items():
            has = host.inventories.get(name)
            if has is None or not has.min_unit <= amount <= has.max_unit:
                return False
            if amount % has.step_size:
                return False
            taken[host.name, name] += amount
    return all(
        hosts[host].inventories[name].used + amount
        <= (hosts[host].inventories[name].total
            - hosts[host].inventories[name].reserved)
        * hosts[host].inventories[name].allocation_ratio
        for (host, name), amount in taken.items())


def _violations(group, prefix, where, hosts, snapshot):
    """Weighted violations; None where a hard policy is broken."""
    below = [m.path for m in group.all_members(prefix)]
    total = 0.0
    for policy in group.policies:
        domains = [_domain(hosts[where[p]], policy.level, snapshot)
                   for p in below]
        outside = domains.count(None)
        counts = Counter(d for d in domains if d is not None)
        if policy.type.endswith('anti-affinity'):
            most = policy.max_per_domain
            if isinstance(most, Fraction):
                most = max(1, int(most * len(below)))
            degree = sum(max(0, n - most) for n in counts.values()) + outside
        else:
            degree = max(0, len(counts) - 1) + outside
        if policy.weight is None and degree:
            return None
        total += (policy.weight or 0) * degree
    for nested in group.groups:
        path = f'{prefix}/{nested.name}' if prefix else nested.name
        cost = _violations(nested, path, where, hosts, snapshot)
        if cost is None:
            return None
        total += cost
    return total


def _domain(host, level, snapshot):
    if level == 'host':
        return host.name
    if level in snapshot.levels:
        depth = snapshot.levels.index(level) + 1
        return host.location[:depth] if len(host.location) >= depth else None
    return host.labels.get(level)


def _fewest_hosts(members, free, where, hosts):
    return len({where[m.path] for m in members})


def _full(members, host, extra):
    names = {n for m in members for n in m.requirements.resources}
    shares = []
    for name in names:
        has = host.inventories.get(name)
        capacity = has and int(
            (has.total - has.reserved) * has.allocation_ratio)
        shares.append(min(1, (has.used + extra.get(name, 0)) / capacity)
                      if capacity else 1)
    return sum(shares) / len(shares)


def _stack(members, free, where, hosts):
    return sum(1 - _full(members, hosts[name], {})
               for name in {where[m.path] for m in members})


def _spread(members, free, where, hosts):
    def height(u):
        # The chords of u squared: each tenth below u gives its rise.
        return sum((2 * k + 1) / 10 * min(max(u - k / 10, 0), 1 / 10)
                   for k in range(10))

    total = 0.0
    for name, host in hosts.items():
        extra = Counter()
        for member in free:
            if where[member.path] == name:
                extra.update(member.requirements.resources)
        total += (height(_full(members, host, extra))
                  - height(_full(members, host, {})))
    return total


OBJECTIVES = {'fewest-hosts': _fewest_hosts, 'stack': _stack,
              'spread': _spread}
