# SPDX-License-Identifier: Apache-2.0
"""Random group documents and clouds."""

from hypothesis import strategies as st

from tests.unit.builders import cloud, host

CLOUDS = ('ams', 'bru', 'cph')
LEVELS = ('cloud', 'rack', 'host')

weights = st.sampled_from([None, None, 1, 5])


def _rule(draw, **keys):
    weight = draw(weights)
    return keys if weight is None else {**keys, 'weight': weight}


@st.composite
def policies(draw):
    kind = draw(st.sampled_from(
        ['affinity', 'anti-affinity', 'anti-affinity', 'spread', 'location',
         'exclusive']))
    if kind == 'location':
        return _rule(draw, type=kind, path=draw(st.sampled_from(
            [*CLOUDS, 'ams/a', 'bru/b'])))
    if kind == 'exclusive':
        return {'type': kind, 'level': draw(st.sampled_from(LEVELS[1:]))}
    keys = {'type': kind, 'level': draw(st.sampled_from(LEVELS))}
    if kind == 'anti-affinity':
        keys['max_per_domain'] = draw(st.sampled_from([1, 2, '50%']))
    if kind == 'spread':
        key = draw(st.sampled_from(['max_skew', 'min_domains']))
        keys[key] = draw(st.integers(1, 2))
    return _rule(draw, **keys)


@st.composite
def members(draw, name):
    found = {'name': name, 'resources': {'VCPU': draw(st.integers(1, 4))}}
    count = draw(st.sampled_from([None, None, 2, 3]))
    if count:
        found['count'] = count
        if draw(st.booleans()):
            found['skip'] = [0]
    if draw(st.integers(0, 5)) == 0:
        found['location'] = draw(st.sampled_from(['ams', 'bru/b', 'cph']))
    return found


@st.composite
def relationships(draw, names):
    first, second = draw(st.permutations(names))[:2]
    return _rule(draw, between=[first, second],
                 type=draw(st.sampled_from(['affinity', 'anti-affinity'])),
                 level=draw(st.sampled_from(LEVELS)))


@st.composite
def groups(draw, name='top', depth=2):
    own = draw(st.lists(st.sampled_from('mn'), unique=True, max_size=2))
    nested = draw(st.lists(
        st.sampled_from('gh'), unique=True, max_size=2)) if depth else []
    if not own and not nested:
        own = ['m']
    found = {'name': name, 'members': [draw(members(each)) for each in own],
             'groups': [draw(groups(each, depth - 1)) for each in nested],
             'policies': draw(st.lists(policies(), max_size=2))}
    for each in found['groups']:
        if draw(st.integers(0, 3)) == 0:
            each['count'] = 2
    names = own + nested
    if len(names) > 1 and draw(st.booleans()):
        found['relationships'] = [draw(relationships(names))]
    return found


@st.composite
def snapshots(draw):
    """Two or three clouds of one or two racks."""
    found = {}
    for name in CLOUDS:
        hosts = [host(f'{rack}{number}', rack,
                      vcpus=draw(st.integers(1, 6)))
                 for rack in 'ab' for number in range(draw(
                     st.integers(1, 2)))]
        found[name] = cloud(*hosts)
    return found
