# SPDX-License-Identifier: Apache-2.0
"""The installed policy types. The check and the encoding of affinity and
anti-affinity agree on every placement."""

import itertools

import pytest

from nova_holistic.policies import load_policy_types
from tests.unit.builders import cloud, group, host, on, servers
from tests.unit.policies.encoding import cost_of

TYPES = load_policy_types().policies


def test_policy_types_are_loaded_under_their_document_names():
    assert {'affinity', 'anti-affinity', 'soft-affinity',
            'soft-anti-affinity'} <= set(TYPES)
    assert all(cls.type == name for name, cls in TYPES.items())


@pytest.mark.parametrize('level', ['rack', 'host', 'feed'])
@pytest.mark.parametrize('name', ['affinity', 'anti-affinity'])
def test_check_and_encoding_agree_on_every_placement(name, level):
    small = cloud(host('a', 'r1', labels={'feed': 'A'}), host('b', 'r1'),
                  host('c', 'r2', labels={'feed': 'A'}))
    scope = next(group(servers('node', 3)).scopes())
    hard, soft = (
        TYPES[name].from_document({'level': level}, weight=weight, place='')
        for weight in (None, 1.0))
    for names in itertools.product('abc', repeat=3):
        placed = on(small, **{f'node_{n}': h for n, h in enumerate(names)})
        violations = soft.check(scope, placed, small).count
        assert cost_of(soft, scope, small, placed) == violations
        assert (cost_of(hard, scope, small, placed) is None) == (
            violations > 0)
