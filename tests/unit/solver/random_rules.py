# SPDX-License-Identifier: Apache-2.0
"""Generators of random policies and relationships of every type, as documents.
"""

WEIGHTS = (None, None, 1, 2.5, 10)


def policy(chance, levels):
    """Return a random policy of any type, hard or weighted."""
    name = chance.choice(sorted(POLICIES))
    document = {'type': name, **POLICIES[name](chance, levels)}
    return _weighed(chance, document)


def relationship(chance, levels, sides):
    """Return a random relationship of any type between two parts that share no
    member."""
    document = {
        'type': chance.choice(('affinity', 'anti-affinity', 'bandwidth')),
        'between': list(chance.choice(sides)),
        'level': chance.choice(levels)}
    if document['type'] == 'bandwidth':
        document['mbps'] = chance.choice((50, 70, 100))
    return _weighed(chance, document)


def sides(group):
    """Return all ordered pairs of paths below the group that share no member.
    """
    parts = sorted(_parts(group, ()))
    return [('/'.join(one), '/'.join(other))
            for one, mine in parts for other, yours in parts
            if not {*mine} & {*yours}]


def _parts(group, above):
    """Generate (path, members) of everything that a side may name."""
    for nested in group.get('groups', ()):
        path = (*above, nested['name'])
        below = list(_parts(nested, path))
        yield path, sorted({m for _, members in below for m in members})
        yield from below
    for each in group.get('members', ()):
        path, count = (*above, each['name']), each.get('count')
        servers = [path] if count is None else [
            (*above, f'{each["name"]}-{n}') for n in range(count)]
        yield path, servers
        if count is not None:
            yield from ((server, [server]) for server in servers)


def _weighed(chance, document):
    weight = chance.choice(WEIGHTS)
    return document if weight is None else {**document, 'weight': weight}


def _level(chance, levels):
    return {'level': chance.choice(levels)}


def _limit(chance, levels):
    return {**_level(chance, levels),
            'max_per_domain': chance.choice((2, 1, 3, '50%', '34%'))}


def _spread(chance, levels):
    which = chance.choice(('skew', 'domains', 'both'))
    document = _level(chance, levels)
    if which != 'domains':
        document['max_skew'] = chance.choice((2, 1, 1, 0))
    if which != 'skew':
        document['min_domains'] = chance.choice((1, 2, 3))
    return document


POLICIES = {
    'affinity': _level,
    'soft-affinity': _level,
    'anti-affinity': _limit,
    'soft-anti-affinity': _limit,
    'spread': _spread,
    'exclusive': _level,
    'location': lambda chance, levels: {'path': chance.choice(
        ('az1', 'az1', 'az2', 'az1/r1', 'az1/r1/h0'))},
    'traits': lambda chance, levels: chance.choice((
        {'required': ['T']}, {'forbidden': ['U']},
        {'required': ['T'], 'forbidden': ['U']})),
    'aggregates': lambda chance, levels: {'aggregates': chance.choice(
        (['ssd'], ['ssd', 'fast']))},
    'availability_zone': lambda chance, levels: {
        'availability_zone': chance.choice(('az1', 'az2'))},
}
