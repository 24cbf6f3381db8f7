# SPDX-License-Identifier: Apache-2.0
"""An update removes alternates that its policies do not allow, and engines
find others."""

import pytest

from tests.functional.engine.test_due_alternates import find
from tests.functional.engine.updates import revised, rows, update
from tests.functional.engine.world import SMALL


def alternates(world, group):
    return {path: [place.host for place in m.alternates]
            for path, m in rows(world, group).items()}


def test_a_changed_policy_replaces_the_alternates(world):
    """Without a policy, both nodes may have the same host as an alternate."""
    group = world.create(revised(policies=[]))
    before = alternates(world, group)
    assert any(before.values())
    update(world, group, revised(policies=[]) | {'name': 'renamed'})
    assert alternates(world, group) == before
    update(world, group, revised(policies=[{'type': 'anti-affinity'}]))
    assert not any(alternates(world, group).values())
    find(world, group)
    after = alternates(world, group)
    assert after['db/node-0'] and after['db/node-1']
    assert not set(after['db/node-0']) & set(after['db/node-1'])


@pytest.mark.parametrize('rule, kept', [
    ({'type': 'anti-affinity', 'max_per_domain': 2}, True),
    ({'type': 'anti-affinity', 'max_per_domain': '50%'}, False),
    ({'type': 'spread', 'level': 'host', 'max_skew': 2}, False)])
def test_alternates_are_cleared_if_a_new_member_changes_a_limit(
        world, rule, kept):
    group = world.create(revised(policies=[], top=[rule]))
    before = alternates(world, group)
    assert before['web']
    update(world, group, revised(policies=[], top=[rule]) | {'members': [
        {'name': 'cache', 'resources': SMALL},
        {'name': 'web', 'resources': SMALL}]})
    after = alternates(world, group)
    assert after['web'] == (before['web'] if kept else [])
    assert after['cache'] == []
    find(world, group)
    found = alternates(world, group)
    # If the old alternates are kept, members and alternates use the limit of
    # two on each host, so no alternate remains for the cache.
    assert bool(found['cache']) != kept
    assert found['web'] == before['web'] if kept else found['web']
