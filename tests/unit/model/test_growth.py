# SPDX-License-Identifier: Apache-2.0
"""Members whose number may change: the path of an additional server, and the
places that are held again. These decisions need no cloud."""

from hypothesis import given, strategies
import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.elastic.counts import counts
from nova_holistic.model.elastic.fitted_group import fitted
from nova_holistic.model.elastic.growth import (
    AtMaximum, Existing, is_surplus, next_server, NotGrown)
from nova_holistic.model.elastic.missing import still_missing
from nova_holistic.model.elastic.optional_members import optional_units

NUMBERS = strategies.tuples(*[strategies.integers(0, 4)] * 3).map(sorted)


def shop(count, /, **replicas):
    """A member ``node`` with this count, a member ``web`` with one server and,
    if there are replicas, a nested group ``shard`` with two members."""
    nested = [{'name': 'shard', **replicas, 'members': [
        {'name': 'first', 'resources': {'VCPU': 1}},
        {'name': 'next', 'count': {'desired': 1, 'max': 2},
         'resources': {'VCPU': 1}}]}] if replicas else []
    return parse_group({'name': 'shop', 'groups': nested, 'members': [
        {'name': 'web', 'resources': {'VCPU': 1}},
        {'name': 'node', 'count': count, 'resources': {'VCPU': 1}}]}, {})


def elastic(least, desired, most):
    return shop({'min': least, 'desired': desired, 'max': max(1, most)})


def paths(group):
    return {member.path for member in group.all_members()}


@given(NUMBERS)
def test_the_desired_number_is_planned(numbers):
    least, desired, most = numbers
    group = elastic(*numbers)
    assert paths(group) == {'web', *(f'node-{n}' for n in range(desired))}
    units = list(optional_units(group))
    assert [unit.path for unit in units] == [
        f'node-{n}' for n in range(least, desired)]
    assert all(unit.members == {unit.path} for unit in units)


@given(NUMBERS, strategies.sets(strategies.integers(0, 9)))
def test_creates_add_servers_until_the_maximum(numbers, existing):
    """Each additional server gets the lowest free number."""
    group = elastic(*numbers)
    most = max(1, numbers[-1])
    live = {'web', *(f'node-{n}' for n in existing)}
    for _ in range(most - len(existing)):
        member = next_server(group, 'node', Existing(live))
        number = min(set(range(20)) - existing)
        assert (member.path, member.description) == (f'node-{number}', 'node')
        existing = existing | {number}
        live.add(member.path)
    with pytest.raises(AtMaximum) as refusal:
        next_server(group, 'node', Existing(live))
    assert str(refusal.value) == (
        f"member 'node' has {len(existing)} servers, and its maximum is "
        f"{most}")


@given(NUMBERS, strategies.sets(strategies.integers(0, 9), min_size=1))
def test_a_place_is_surplus_if_as_many_others_are_desired(numbers, existing):
    group = elastic(*numbers)
    live = {'web', *(f'node-{n}' for n in existing)}
    for number in existing:
        assert is_surplus(group, f'node-{number}', live) == (
            len(existing) - 1 >= numbers[1])
    assert not is_surplus(group, 'web', live)


@given(NUMBERS, strategies.sets(strategies.integers(0, 9)),
       strategies.sets(strategies.integers(0, 9)))
def test_a_revised_group_keeps_servers_and_then_planned_places(
        numbers, used, planned):
    """The result has every existing server and at least the desired number.
    Planned places are used before new ones."""
    group, planned = elastic(*numbers), planned - used
    kept = {int(path.removeprefix('node-')) for path in paths(fitted(
        group, {f'node-{n}' for n in used},
        {f'node-{n}' for n in planned})) - {'web'}}
    assert used <= kept
    assert len(kept) == max(len(used), numbers[1])
    new = kept - used - planned
    if new:
        # A place that is already held is preferred to a new one.
        assert planned <= kept
        assert max(new) < len(kept)


def test_a_named_server_gets_its_own_path():
    group = elastic(0, 2, 5)
    live = {'web', 'node-0', 'node-1'}
    assert next_server(group, 'node-4', Existing(live)).path == 'node-4'
    with pytest.raises(NotGrown, match="'node-1' is taken by another server"):
        next_server(group, 'node-1', Existing(live))


def test_no_server_gets_the_path_of_a_server_that_its_user_has_released():
    group = elastic(0, 2, 5)
    existing = Existing({'web', 'node-1'}, withdrawn={'node-0', 'node-2'})
    assert next_server(group, 'node', existing).path == 'node-3'
    with pytest.raises(NotGrown, match="'node-0' has been released"):
        next_server(group, 'node-0', existing)


def test_a_fixed_count_grows_only_into_returned_paths():
    group = shop(2)
    live = {'web', 'node-0'}
    with pytest.raises(NotGrown, match="all servers of member 'node'"):
        next_server(group, 'node', Existing(live | {'node-1'}))
    with pytest.raises(NotGrown):
        # The place was released and never used by a server.
        next_server(group, 'node', Existing(live))
    assert next_server(
        group, 'node', Existing(live, {'node-1'})).path == 'node-1'


@pytest.mark.parametrize('path', ['disk', 'shop/node', 'node-x', 'node-01'])
def test_a_path_without_a_member_gets_no_server(path):
    with pytest.raises(NotGrown, match='there is no'):
        next_server(elastic(0, 1, 3), path, Existing({'web'}))


def test_replicas_are_added_server_by_server():
    group = shop(1, count={'min': 1, 'desired': 1, 'max': 2})
    live = {'web', 'node-0', 'shard-0/first', 'shard-0/next-0'}
    assert paths(group) == live
    for path, expected in (('shard-1/first', 'shard-1/first'),
                           ('shard-1/next', 'shard-1/next-0'),
                           ('shard-0/next', 'shard-0/next-1')):
        member = next_server(group, path, Existing(live))
        assert member.path == expected
        live.add(member.path)
    with pytest.raises(AtMaximum, match="'shard' has 2 replicas, and its "
                                        "maximum is 2"):
        next_server(group, 'shard-2/first', Existing(live))
    with pytest.raises(AtMaximum, match="'shard-0/next' has 2 servers"):
        next_server(group, 'shard-0/next', Existing(live))
    # Only the second replica exceeds the desired number.
    assert is_surplus(group, 'shard-1/first', live)
    assert not is_surplus(
        group, 'shard-0/first', live - {'shard-1/first', 'shard-1/next-0'})


def test_counts_state_the_number_of_missing_places():
    group = shop({'min': 1, 'desired': 3, 'max': 5},
                 count={'min': 0, 'desired': 2, 'max': 4})
    found = {count.path: (count.number, count.missing) for count in counts(
        group, {'web', 'node-0', 'node-7', 'shard-0/first', 'shard-5/first',
                'shard-5/next-0', 'shard-5/next-1'})}
    assert found == {'node': (2, 1), 'shard': (2, 0), 'shard-0/next': (0, 1),
                     'shard-5/next': (2, 0)}


def test_a_fixed_count_has_no_bounds():
    group = shop(3)
    assert not group.is_elastic
    assert list(counts(group, paths(group))) == []
    assert list(optional_units(group)) == []


def test_a_replica_may_have_fewer_members_than_desired():
    """The additional members of a replica need its minimum."""
    group = parse_group({'name': 'g', 'groups': [
        {'name': 'shard', 'count': {'min': 1, 'desired': 2}, 'members': [
            {'name': 'first', 'resources': {'VCPU': 1}},
            {'name': 'next', 'count': {'min': 1, 'desired': 3},
             'resources': {'VCPU': 1}}]}]}, {})
    assert [(unit.path, unit.members, unit.needs)
            for unit in optional_units(group)] == [
        ('shard-0/next-1', {'shard-0/next-1'}, ''),
        ('shard-0/next-2', {'shard-0/next-2'}, ''),
        ('shard-1', {'shard-1/first', 'shard-1/next-0'}, ''),
        ('shard-1/next-1', {'shard-1/next-1'}, 'shard-1'),
        ('shard-1/next-2', {'shard-1/next-2'}, 'shard-1')]


def test_members_that_have_a_place_count_towards_the_minimum():
    group = shop({'min': 2, 'desired': 3, 'max': 9},
                 count={'min': 1, 'desired': 2, 'max': 3})
    placed = {'node-5', 'node-6', 'shard-1/first'}
    group = fitted(group, placed, ())
    assert {'node-0', 'shard-0/first', 'shard-1/next-0'} < paths(group)
    assert [unit.path for unit in optional_units(group, placed)] == [
        'node-0', 'shard-0']


@pytest.mark.parametrize('live, after', [
    (['node-0'], ['node-1', 'node-2']),
    (['node-0', 'node-2'], ['node-1']),
    (['node-0', 'node-7'], ['node-1']),
    (['node-0', 'node-7', 'node-8'], [])])
def test_servers_are_missing_until_as_many_exist_as_desired(live, after):
    group = elastic(1, 3, 5)
    assert still_missing(group, {'web', *live}, ['node-1', 'node-2']) == after


def test_a_replica_is_missing_until_it_has_a_server():
    group = shop(1, count={'min': 0, 'desired': 2})
    missing = ['shard-0', 'shard-1/next-0', 'shard-1']
    assert still_missing(group, {'shard-0/first'}, missing) == [
        'shard-1/next-0', 'shard-1']
    assert still_missing(
        group, {'shard-1/first', 'shard-1/next-5', 'shard-9/first'},
        missing) == []
