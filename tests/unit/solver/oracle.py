# SPDX-License-Identifier: Apache-2.0
"""Exhaustive search: every assignment of a few members to a few hosts.

The oracle is written from the design and shares no code with the solver that
it verifies. It evaluates capacity, requirements, policies, preferences and
objectives.
"""

from collections import Counter
from fractions import Fraction
import functools

from tests.unit.solver import oracle_relationships
from tests.unit.solver.oracle_policies import KNOWN, View, degree


def best(group, snapshot, placed, objective):
    """Return (weighted violations, objective value) of the best plan, or None
    if no plan exists."""
    found = None
    for where in placements(group, snapshot, placed):
        cost = violations(group, snapshot, placed, where)
        if cost is None or found and cost > found[0]:
            continue
        plan_cost = value(objective, group, snapshot, placed, where)
        if found is None or cost < found[0] or plan_cost < found[1]:
            found = (cost, plan_cost)
    return found


def evaluate(group, snapshot, placed, where):
    """Return the weighted violations of a placement, or None if the placement
    is not a valid plan."""
    hosts = {h.name: h for h in snapshot.hosts}
    taken = Counter()
    for member in group.all_members():
        if member.path not in placed:
            host = hosts[where[member.path]]
            if not _suits(member, host) or not _fits(member, host, taken):
                return None
            _take(member, host, taken)
    return violations(group, snapshot, placed, where)


def placements(group, snapshot, placed):
    """Generate all placements that satisfy requirements and capacity, as
    mappings from member path to host name."""
    free = [m for m in group.all_members() if m.path not in placed]
    places = [[h for h in snapshot.hosts if _suits(m, h)] for m in free]

    def further(number, where, taken):
        if number == len(free):
            yield dict(where)
            return
        member = free[number]
        for host in places[number]:
            if _fits(member, host, taken):
                _take(member, host, taken)
                yield from further(
                    number + 1, {**where, member.path: host.name}, taken)
                _take(member, host, taken, -1)

    return further(0, dict(placed), Counter())


def violations(group, snapshot, placed, where):
    """Return the weighted violations of a placement that satisfies the
    capacity, or None if it violates a hard rule."""
    hosts = {h.name: h for h in snapshot.hosts}
    # The server count of a host in the snapshot includes placed members.
    other_servers = {
        name: max(0, host.servers - list(placed.values()).count(name))
        for name, host in hosts.items()}
    return _violations([group], '', where, hosts, snapshot, other_servers)


def knows(group, objective):
    """Return whether the oracle supports the objective and all rules of the
    group."""
    return objective in (*OBJECTIVES, 'network') and all(
        rule.type.removeprefix('soft-') in KNOWN
        for scope in group.scopes() for rule in scope.group.rules)


def value(objective, group, snapshot, placed, where):
    """Return the objective value of a placement."""
    hosts = {h.name: h for h in snapshot.hosts}
    if objective == 'network':
        return oracle_relationships.network(group, snapshot, where, hosts)
    members = group.all_members()
    free = [m for m in members if m.path not in placed]
    return OBJECTIVES[objective](members, free, where, hosts)


def _suits(member, host):
    wanted = member.requirements
    if not host.enabled or not wanted.required_traits <= host.traits:
        return False
    if wanted.forbidden_traits & host.traits:
        return False
    if not wanted.aggregates <= host.aggregates:
        return False
    if wanted.availability_zone not in (None, host.availability_zone):
        return False
    vertex = (*host.location, host.name)
    if vertex[:len(wanted.location)] != wanted.location:
        return False
    for name, amount in wanted.resources.items():
        has = host.inventories.get(name)
        if has is None or not has.min_unit <= amount <= has.max_unit:
            return False
        if amount % has.step_size:
            return False
    return True


def _fits(member, host, taken):
    """Return whether the host has capacity left for the member.

    :param taken: (host name, resource class) to the amount that earlier
        members use
    """
    for name, amount in member.requirements.resources.items():
        has = host.inventories[name]
        if has.used + taken[host.name, name] + amount > (
                has.total - has.reserved) * has.allocation_ratio:
            return False
    return True


def _take(member, host, taken, times=1):
    for name, amount in member.requirements.resources.items():
        taken[host.name, name] += times * amount


def _violations(line, prefix, where, hosts, snapshot, other_servers):
    """Return the weighted violations, or None if a hard rule is violated.

    :param line: the groups from the top-level group down to the evaluated
        group
    """
    group = line[-1]
    view = View(line, group.all_members(prefix), where, hosts,
                snapshot, other_servers)
    total = Fraction(0)
    for policy in group.policies:
        found = degree(policy, view)
        if policy.weight is None and found:
            return None
        if found:
            total += _exact(policy.weight) * found
    for each in group.relationships:
        found = oracle_relationships.degree(each, view, prefix)
        if each.weight is None and found:
            return None
        if found:
            total += _exact(each.weight) * found
    for nested in group.groups:
        path = f'{prefix}/{nested.name}' if prefix else nested.name
        cost = _violations([*line, nested], path, where, hosts, snapshot,
                           other_servers)
        if cost is None:
            return None
        if cost:
            total += cost
    return total


@functools.cache
def _exact(weight):
    """Return a weight as the exact decimal number of the document."""
    return Fraction(str(weight or 0))


def _fewest_hosts(members, free, where, hosts):
    return len({where[m.path] for m in members})


def _names(members):
    """Return the resource classes of the members."""
    return {n for m in members for n in m.requirements.resources}


def _full(names, host, extra):
    shares = []
    for name in names:
        has = host.inventories.get(name)
        capacity = has and int(
            (has.total - has.reserved) * has.allocation_ratio)
        # More can be reserved than there is.
        shares.append(min(1, (has.used + extra.get(name, 0)) / capacity)
                      if capacity and capacity > 0 else 1)
    return sum(shares) / len(shares) if shares else 0


def _stack(members, free, where, hosts):
    names = _names(members)
    return sum(1 - _full(names, hosts[name], {})
               for name in {where[m.path] for m in members})


@functools.cache
def _height(u):
    # A piecewise linear approximation of u squared: each tenth below u adds
    # the rise of its chord.
    return sum((2 * k + 1) / 10 * min(max(u - k / 10, 0), 1 / 10)
               for k in range(10))


def _spread(members, free, where, hosts):
    names = _names(members)
    extra = {}
    for member in free:
        sums = extra.setdefault(where[member.path], Counter())
        for name, amount in member.requirements.resources.items():
            sums[name] += amount
    total = 0.0
    for name, host in hosts.items():
        if name in extra:
            total += (_height(_full(names, host, extra[name]))
                      - _height(_full(names, host, {})))
    return total


OBJECTIVES = {'fewest-hosts': _fewest_hosts, 'stack': _stack,
              'spread': _spread}
