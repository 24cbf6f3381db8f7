# SPDX-License-Identifier: Apache-2.0
"""Members come and go singly, and the rest of the document stays."""

import copy

from hypothesis import given, strategies as st
import pytest

from nova_holistic.documents.group import parse_group
from nova_holistic.documents.revision import (
    changed_rules, with_members, without_member)
from nova_holistic.exceptions import InvalidDocument

SMALL = {'VCPU': 1}
LARGE = {'VCPU': 8}


def shop(outer=True, **node):
    document = {
        'name': 'shop',
        'members': [{'name': 'web', 'resources': SMALL}],
        'policies': [{'type': 'anti-affinity'}],
        'groups': [{'name': 'db', 'members': [
            {'name': 'node', 'count': 3, 'resources': SMALL, **node}]}]}
    return {'group': document} if outer else document


def paths(document):
    return [m.path for m in parse_group(document, {
        'anti-affinity': AntiAffinity}).all_members()]


class AntiAffinity:
    """Any policy will do."""

    type = 'anti-affinity'
    keys = {}
    required = ()

    @classmethod
    def from_document(cls, keys, *, weight, place):
        return cls()


@pytest.mark.parametrize('outer', [True, False])
def test_a_new_member_comes_last_in_the_group_it_names(outer):
    before = shop(outer)
    after = with_members(before, [
        {'name': 'cache', 'resources': LARGE},
        {'name': 'spare', 'resources': SMALL, 'group': 'db'}])
    assert paths(after) == ['web', 'cache', 'db/node-0', 'db/node-1',
                            'db/node-2', 'db/spare']
    assert before == shop(outer)


@pytest.mark.parametrize('more', [
    {'name': 'node', 'count': 2},
    {'name': 'node', 'count': 2, 'resources': SMALL}])
def test_a_counted_member_that_is_there_has_more_servers_then(more):
    after = with_members(shop(), [{**more, 'group': 'db'}])
    assert paths(after)[1:] == [f'db/node-{n}' for n in range(5)]


def test_one_server_more_where_no_count_is_said():
    after = with_members(shop(), [{'name': 'node', 'group': 'db'}])
    assert paths(after)[-1] == 'db/node-3'


@pytest.mark.parametrize('description, place', [
    ({'name': 'web', 'resources': SMALL}, 'members[1].name'),
    ({'name': 'node', 'resources': LARGE, 'group': 'db'}, 'members[1].name'),
    ({'name': 'node', 'count': 0, 'group': 'db'}, 'members[1].count'),
    ({'name': 'node', 'count': '2', 'group': 'db'}, 'members[1].count'),
    ({'name': 'node', 'skip': [3], 'group': 'db'}, 'members[1].skip'),
    ({'name': 'x', 'resources': SMALL, 'group': 'bd'}, 'members[1].group'),
    ({'name': 'x', 'resources': SMALL, 'group': 'db/x'}, 'members[1].group'),
    ({'name': 'x', 'resources': SMALL, 'group': 7}, 'members[1].group'),
    ('web', 'members[1]')])
def test_what_cannot_be_added_says_where(description, place):
    with pytest.raises(InvalidDocument) as caught:
        with_members(shop(), [{'name': 'a', 'resources': SMALL}, description])
    assert caught.value.place == place


@pytest.mark.parametrize('descriptions, place', [
    ([{'name': 'x', 'count': 'many'}, {'name': 'x'}], 'members[1].count'),
    ([{'resources': SMALL}, {'resources': SMALL}], None)])
def test_what_is_wrong_twice_is_told_once(descriptions, place):
    """And not by whatever comes of adding it to itself."""
    with pytest.raises(InvalidDocument) as refused:
        paths(with_members(shop(), descriptions))
    assert place is None or refused.value.place == place


class Counted(dict):
    """A description that tells how often somebody looked at its name."""

    looks = 0

    def __getitem__(self, key):
        Counted.looks += key == 'name'
        return super().__getitem__(key)


def test_adding_many_looks_at_each_of_those_that_are_there_once():
    before = {'name': 'big', 'members': [
        Counted(name=f'm{i}', resources=SMALL) for i in range(50)]}
    Counted.looks = 0
    after = with_members(before, [
        {'name': f'n{i}', 'resources': SMALL} for i in range(50)])
    assert Counted.looks == 50
    assert [m['name'] for m in after['members']] == [
        *(f'm{i}' for i in range(50)), *(f'n{i}' for i in range(50))]


def test_the_last_server_goes_by_a_lower_count():
    assert without_member(shop(), 'db/node-2') == shop(count=2)


def test_another_server_goes_and_the_rest_keep_their_names():
    after = without_member(shop(), 'db/node-1')
    assert paths(after) == ['web', 'db/node-0', 'db/node-2']
    again = without_member(after, 'db/node-0')
    assert paths(again) == ['web', 'db/node-2']


def test_numbers_of_removed_servers_are_not_given_again():
    after = with_members(without_member(shop(), 'db/node-0'),
                         [{'name': 'node', 'group': 'db'}])
    assert paths(after)[1:] == ['db/node-1', 'db/node-2', 'db/node-3']


def test_a_counted_member_goes_whole_or_with_its_last_server():
    spare = with_members(shop(), [
        {'name': 'spare', 'resources': SMALL, 'group': 'db'}])
    whole = without_member(spare, 'db/node')
    assert paths(whole) == ['web', 'db/spare']
    for number in (0, 2, 1):
        spare = without_member(spare, f'db/node-{number}')
    assert spare == whole


def test_a_group_whose_members_all_went_keeps_those_nested_in_it():
    after = without_member(shop(), 'web')
    assert paths(after) == ['db/node-0', 'db/node-1', 'db/node-2']
    assert 'members' not in after['group']


@pytest.mark.parametrize('path', [
    'db', 'bd/node-0', 'node-0', 'db/node-3', 'db/node-01', 'db/node-',
    'db/node--1', 'db/node-' + 5000 * '9', 'web-0', 'web/x', '', 'db/node'])
def test_what_is_not_there_or_the_last_cannot_be_removed(path):
    with pytest.raises(InvalidDocument):
        without_member(shop(), path)


ADDED = st.lists(st.fixed_dictionaries(
    {'name': st.sampled_from(['new', 'other', 'db']),
     'resources': st.just(SMALL), 'group': st.sampled_from(['', 'db'])},
    optional={'count': st.integers(1, 4)}),
    unique_by=lambda d: (d['name'], d['group']), max_size=4)


@given(ADDED)
def test_what_is_added_and_removed_again_leaves_what_was_there(added):
    before = shop()
    after = with_members(before, added)
    for description in added:
        group = description['group']
        after = without_member(after, '/'.join(filter(
            None, [group, description['name']])))
    assert after == before and str(after) == str(before)


@given(st.integers(1, 6), st.sets(st.integers(0, 2), max_size=2))
def test_servers_added_to_a_counted_member_and_removed_last_first(
        more, skipped):
    before = shop(**({'skip': sorted(skipped)} if skipped else {}))
    kept = copy.deepcopy(before)
    after = with_members(
        before, [{'name': 'node', 'count': more, 'group': 'db'}])
    assert len(paths(after)) == len(paths(before)) + more
    for number in reversed(range(3, 3 + more)):
        after = without_member(after, f'db/node-{number}')
    assert after == before == kept


def test_groups_whose_rules_changed():
    before, after = shop(), shop(outer=False)
    assert changed_rules(before, after) == set()
    after['groups'][0]['policies'] = [{'type': 'affinity'}]
    assert changed_rules(before, after) == {'db'}
    del after['policies']
    after['groups'].append({'name': 'new', 'members': []})
    assert changed_rules(before, after) == {'', 'db'}
    after['groups'][-1]['relationships'] = [{'type': 'affinity'}]
    assert changed_rules(before, after) == {'', 'db', 'new'}


@pytest.mark.parametrize('node, place', [
    ({'skip': [3]}, 'groups[0].members[0].skip[0]'),
    ({'skip': [0, 1, 2]}, 'groups[0].members[0].skip'),
    ({'skip': [-1]}, 'groups[0].members[0].skip[0]'),
    ({'skip': [1, 1]}, 'groups[0].members[0].skip')])
def test_servers_that_cannot_be_skipped(node, place):
    with pytest.raises(InvalidDocument) as caught:
        paths(shop(**node))
    assert caught.value.place == place


def test_a_server_is_not_skipped_where_none_are_counted():
    document = {'name': 'shop', 'members': [
        {'name': 'web', 'resources': SMALL, 'skip': [0]}]}
    with pytest.raises(InvalidDocument) as caught:
        paths(document)
    assert caught.value.place == 'members[0].skip[0]'
