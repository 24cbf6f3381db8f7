# SPDX-License-Identifier: Apache-2.0
"""An operator lists and clears learnt refusals."""

import json

import pytest

from nova_holistic.cli import exits
from nova_holistic.table.coordination.refusals import Refusal

NOBODY = '5f0c8a52-8a1f-4f0e-9d55-1f6f6bb2f6a1'
REASON = {'at': 'node-0', 'message': 'refused'}


@pytest.fixture
def refusal(run, world):
    """Run the command; returns its exit code, hosts and error output."""
    def refusal(*words):
        code, out, err = run('refusal', *words, '--format', 'json')
        return code, [each['host'] for each in json.loads(out or '[]')], (
            err.splitlines() or [''])[-1]

    return refusal


@pytest.fixture
def groups(world):
    """UUIDs of two groups. Nova has refused hosts for a member of each
    group."""
    found = [world.create().uuid, world.create().uuid]
    for group, hosts in zip(found, (('h1', 'h2'), ('h2',))):
        world.table.refusals.add(
            world.table.members(group)[0],
            [Refusal(host, 'TypeAffinityFilter') for host in hosts], REASON,
            world.clock())
    return found


def test_refusals_are_listed(refusal, groups):
    first, second = groups
    assert refusal('list') == (0, ['h1', 'h2', 'h2'], '')
    assert refusal('list', '--group', first) == (0, ['h1', 'h2'], '')
    assert refusal('list', '--host', 'h1') == (0, ['h1'], '')
    assert refusal('list', '--host', 'h1', '--group', second) == (0, [], '')


def test_cleared_refusals_do_not_count_any_more(refusal, groups, world):
    first, second = groups
    assert refusal('clear', '--group', first, '--host', 'h2') == (
        0, ['h2'], '')
    assert refusal('list') == (0, ['h1', 'h2'], '')
    assert refusal('clear', '--group', first) == (0, ['h1'], '')
    long_ago = world.clock().replace(year=2000)
    assert not world.table.refusals.of_group(first, long_ago)
    assert world.table.refusals.of_group(second, long_ago)
    assert refusal('clear') == (0, ['h2'], '')
    assert refusal('clear') == (0, [], '')


def test_a_table_names_all_that_is_known(run, groups):
    """The table has the group, member, host, filter and time of each
    refusal."""
    code, out, _ = run('refusal', 'list', '--host', 'h1')
    assert code == 0
    heading, line = out.splitlines()
    assert heading.split() == [
        'GROUP', 'MEMBER', 'HOST', 'REFUSED', 'BY', 'AT']
    assert line.split()[0] == groups[0]
    assert line.split()[2:4] == ['h1', 'TypeAffinityFilter']


@pytest.mark.parametrize('verb', ['list', 'clear'])
def test_an_unknown_group_is_an_error(refusal, groups, verb):
    code, hosts, complaint = refusal(verb, '--group', NOBODY)
    assert (code, hosts) == (exits.BAD_INPUT, [])
    assert NOBODY in complaint
