# SPDX-License-Identifier: Apache-2.0
"""The degree to which a complete placement violates each type of relationship.

Written from the design, for each pair and each link, independently of the code
that it verifies.
"""

from collections import Counter
import itertools


def degree(relationship, view, path):
    """Return the number of violations, in Mbit/s for bandwidth.

    :param view: the placement, from the view of the group that has the
        relationship
    :param path: path of that group; '' at the top level
    """
    sides = [[domain(view, m, relationship.level) for m in side]
             for side in parts(relationship, view.below, path)]
    everyone = [d for side in sides for d in side]
    if relationship.type == 'affinity':
        return everyone.count(None) + max(0, len({*everyone} - {None}) - 1)
    if relationship.type == 'anti-affinity':
        return everyone.count(None) + len({*sides[0]} & {*sides[1]} - {None})
    if relationship.weight is not None:
        return relationship.mbps * sum(map(_apart, _pairs(sides)))
    return everyone.count(None) + _too_much(relationship, view, sides)


def _too_much(relationship, view, sides):
    """Return the excess load in Mbit/s on the uplinks that this relationship
    uses."""
    mine, loads = _loads(relationship, sides), Counter()
    for group, path in _groups(view.line[0], ''):
        for each in group.relationships:
            if (each.type, each.weight, each.level) == (
                    'bandwidth', None, relationship.level):
                loads.update(_loads(each, [
                    [domain(view, m, each.level) for m in side]
                    for side in parts(each, group.all_members(path), path)]))
    return sum(
        max(0, loads[end] - max(0, link.uplink_mbps - link.used_mbps))
        for link in view.snapshot.links
        for end in [_end(view.snapshot, link, relationship.level)]
        if mine[end])


def _end(snapshot, link, level):
    """Return the vertex of the level to which the link leads; '' if the link
    is at another level."""
    if level in snapshot.levels:
        depth = snapshot.levels.index(level) + 1
        return link.domain if (link.level, len(link.domain)) == (
            None, depth) else ''
    return link.domain[0] if link.level == level else ''


def _loads(relationship, sides):
    """Return a mapping from domain to the load of its uplink in Mbit/s."""
    loads = Counter()
    for pair in _pairs(sides):
        if _apart(pair):
            for end in pair:
                loads[end] += relationship.mbps
    return loads


def network(group, snapshot, where, hosts):
    """Return Mbit/s x uplinks, summed over all pairs of servers with traffic.
    """
    total = 0
    for carrier, path in _groups(group, ''):
        for each in carrier.relationships:
            if each.type != 'bandwidth':
                continue
            for pair in _pairs(parts(
                    each, carrier.all_members(path), path)):
                one, other = (hosts[where[m.path]] for m in pair)
                total += 2 * each.mbps * sum(
                    _apart((vertex(snapshot, one, level),
                            vertex(snapshot, other, level)))
                    for level in snapshot.levels)
    return total


def parts(relationship, members, path):
    """Generate the members of each of the two sides."""
    for side in relationship.between:
        full = f'{path}/{side}' if path else side
        yield [m for m in members
               if f'{m.path}/'.startswith(f'{full}/')
               or m.description == full]


def domain(view, member, level):
    return vertex(view.snapshot, view.host(member), level)


def vertex(snapshot, host, level):
    """Return the vertex of the host at the level, as links name it; None if
    the host is in no domain of the level."""
    names = (*host.location, host.name)
    if level == 'host':
        return names
    if level not in snapshot.levels:
        return host.labels.get(level)
    depth = snapshot.levels.index(level) + 1
    return names[:depth] if len(host.location) >= depth else None


def _groups(group, path):
    yield group, path
    for nested in group.groups:
        yield from _groups(
            nested, f'{path}/{nested.name}' if path else nested.name)


def _pairs(sides):
    return itertools.product(*sides)


def _apart(pair):
    return None in pair or pair[0] != pair[1]
