# SPDX-License-Identifier: Apache-2.0
"""Rules that map the servers of a Heat stack to members."""

import pytest

from nova_holistic.model.stack_rules import below, path_of, StackRule


@pytest.mark.parametrize('resource, member, names, path', [
    ('db', 'db/node-0', ['db'], 'db/node-0'),
    ('db', 'db/node-0', ['web'], None),
    ('db', 'db/node-0', ['db', '0'], None),
    # An AutoScalingGroup gives its resources random names.
    ('asg/*', 'worker', ['asg', 'x4hq7nlnzmkh'], 'worker'),
    ('asg/*', 'worker', ['other', 'x4hq7nlnzmkh'], None),
    ('asg/*', 'worker', ['asg', 'x4hq7nlnzmkh', 'server'], None),
    ('asg/*/server', '', ['asg', 'x4hq7nlnzmkh', 'server'], ''),
    ('web/*', 'web/server-*', ['web', '3'], 'web/server-3'),
    ('*/*', 'shard-*/node-*', ['1', '2'], 'shard-1/node-2'),
    ('*/*', 'shard-*/node', ['1', '2'], 'shard-1/node'),
    # An asterisk in the name of a resource is not a wildcard.
    ('a', 'b', ['*'], None), ('*', 'b-*', ['*'], 'b-*'),
])
def test_a_rule_gives_a_path(resource, member, names, path):
    assert StackRule(resource, member).path(names) == path


def test_the_first_rule_that_matches_counts():
    rules = [StackRule('web/0', 'first'), StackRule('web/*', 'other')]
    assert path_of(rules, ['web', '0']) == 'first'
    assert path_of(rules, ['web', '1']) == 'other'
    assert path_of(rules, ['db']) is None


def test_paths_are_relative_to_the_binding():
    assert below('', 'db/node') == 'db/node'
    assert below('db', 'node') == 'db/node'
    assert below('db/node', '') == 'db/node'
