# SPDX-License-Identifier: Apache-2.0
"""Members are added and removed one by one, and the rest of the document
remains."""

import copy

from hypothesis import given, strategies as st
import pytest

from nova_holistic.documents.groups.added_members import with_members
from nova_holistic.documents.groups.adoption import (
    adoptions, with_adoptions)
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.groups.revision import (
    changed_rules, without_member)
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
    """Any policy is suitable."""

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
def test_adding_to_a_counted_member_raises_its_count(more):
    after = with_members(shop(), [{**more, 'group': 'db'}])
    assert paths(after)[1:] == [f'db/node-{n}' for n in range(5)]


def test_adding_without_a_count_adds_one_server():
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
def test_an_invalid_new_member_names_its_position(description, place):
    with pytest.raises(InvalidDocument) as caught:
        with_members(shop(), [{'name': 'a', 'resources': SMALL}, description])
    assert caught.value.place == place


@pytest.mark.parametrize('descriptions, place', [
    ([{'name': 'x', 'count': 'many'}, {'name': 'x'}], 'members[1].count'),
    ([{'name': 'x', 'count': {'min': 1}}, {'name': 'x'}],
     'members[1].count'),
    ([{'name': 'x', 'count': {'desired': 'many'}}, {'name': 'x', 'count': 2}],
     'members[1].count'),
    ([{'name': 'x', 'count': {}}, {'name': 'x', 'count': {'desired': 2}}],
     'members[1].count'),
    ([{'name': 'x', 'count': 'many'},
      {'name': 'x', 'count': {'desired': 2}}], 'members[1].count'),
    ([{'resources': SMALL}, {'resources': SMALL}], None)])
def test_a_member_added_twice_is_reported_once(descriptions, place):
    """Adding the member to itself causes no second mistake."""
    with pytest.raises(InvalidDocument) as refused:
        paths(with_members(shop(), descriptions))
    assert place is None or refused.value.place == place


class Counted(dict):
    """A description that counts the accesses to its name."""

    looks = 0

    def __getitem__(self, key):
        Counted.looks += key == 'name'
        return super().__getitem__(key)


def test_adding_many_members_reads_each_existing_one_once():
    before = {'name': 'big', 'members': [
        Counted(name=f'm{i}', resources=SMALL) for i in range(50)]}
    Counted.looks = 0
    after = with_members(before, [
        {'name': f'n{i}', 'resources': SMALL} for i in range(50)])
    assert Counted.looks == 50
    assert [m['name'] for m in after['members']] == [
        *(f'm{i}' for i in range(50)), *(f'n{i}' for i in range(50))]


def test_removing_the_last_server_lowers_the_count():
    assert without_member(shop(), 'db/node-2') == shop(count=2)


def test_removing_a_middle_server_keeps_the_other_names():
    after = without_member(shop(), 'db/node-1')
    assert paths(after) == ['web', 'db/node-0', 'db/node-2']
    again = without_member(after, 'db/node-0')
    assert paths(again) == ['web', 'db/node-2']


def replicas(count):
    """A shop with several databases inside a nested group."""
    return {'name': 'shop', 'groups': [{'name': 'eu', 'groups': [{
        'name': 'db', 'count': count, 'members': [
            {'name': 'node', 'count': 2, 'resources': SMALL},
            {'name': 'proxy', 'resources': SMALL}]}]}]}


@pytest.mark.parametrize('count', [2, {'min': 1, 'desired': 2, 'max': 3}])
@pytest.mark.parametrize('change', [
    lambda document: without_member(document, 'eu/db-1/proxy'),
    lambda document: without_member(document, 'eu/db-1/node-0'),
    lambda document: with_members(document, [
        {'name': 'spare', 'resources': SMALL, 'group': 'eu/db-1'}])])
def test_the_members_of_one_replica_do_not_change_alone(count, change):
    with pytest.raises(InvalidDocument) as caught:
        change(replicas(count))
    assert caught.value.message == (
        "the count of group 'eu/db' creates 'eu/db-1': all groups of a count "
        'have the same members')


@pytest.mark.parametrize('path', ['us', 'eu/us', 'eu/db-x', 'eu/db/us'])
def test_a_group_that_does_not_exist_is_named(path):
    with pytest.raises(InvalidDocument) as caught:
        without_member(replicas(2), f'{path}/node')
    assert caught.value.message == f"there is no group '{path}'"


def test_the_numbers_of_removed_servers_are_not_reused():
    after = with_members(without_member(shop(), 'db/node-0'),
                         [{'name': 'node', 'group': 'db'}])
    assert paths(after)[1:] == ['db/node-1', 'db/node-2', 'db/node-3']


def test_a_counted_member_is_removed_whole_or_by_its_last_server():
    spare = with_members(shop(), [
        {'name': 'spare', 'resources': SMALL, 'group': 'db'}])
    whole = without_member(spare, 'db/node')
    assert paths(whole) == ['web', 'db/spare']
    for number in (0, 2, 1):
        spare = without_member(spare, f'db/node-{number}')
    assert spare == whole


UUIDS = [f'11111111-2222-3333-4444-{i:012}' for i in range(3)]


@pytest.mark.parametrize('removed, kept', [
    ('web', ['db/node-0', 'db/node-2']), ('db/node-0', ['web', 'db/node-2']),
    ('db/node-2', ['web', 'db/node-0']), ('db/node-1', None),
    ('db/node', ['web'])])
@pytest.mark.parametrize('outer', [True, False])
def test_a_removed_member_is_not_adopted(removed, kept, outer):
    adopt = dict(zip(['web', 'db/node-0', 'db/node-2'], UUIDS))
    before = with_adoptions(with_members(shop(outer), [
        {'name': 'spare', 'resources': SMALL, 'group': 'db'}]), adopt)
    after = without_member(before, removed)
    paths(after)
    assert [*adoptions(after)] == (kept or [*adopt])
    assert [*adoptions(before)] == [*adopt]


def test_the_last_adopted_member_leaves_nothing_to_adopt():
    before = with_adoptions(shop(), {'web': UUIDS[0]})
    assert 'adopt' not in without_member(before, 'web')['group']


def test_a_member_with_a_similar_name_is_still_adopted():
    before = with_adoptions(with_members(shop(), [
        {'name': 'web-0', 'resources': SMALL}]), {'web-0': UUIDS[0]})
    assert adoptions(without_member(before, 'web')) == {'web-0': UUIDS[0]}


def test_a_group_without_members_keeps_its_nested_groups():
    after = without_member(shop(), 'web')
    assert paths(after) == ['db/node-0', 'db/node-1', 'db/node-2']
    assert 'members' not in after['group']


@pytest.mark.parametrize('path', [
    'db', 'bd/node-0', 'node-0', 'db/node-3', 'db/node-01', 'db/node-',
    'db/node--1', 'db/node-' + 5000 * '9', 'web-0', 'web/x', '', 'db/node'])
def test_an_unknown_or_last_member_cannot_be_removed(path):
    with pytest.raises(InvalidDocument):
        without_member(shop(), path)


ADDED = st.lists(st.fixed_dictionaries(
    {'name': st.sampled_from(['new', 'other', 'db']),
     'resources': st.just(SMALL), 'group': st.sampled_from(['', 'db'])},
    optional={'count': st.integers(1, 4)}),
    unique_by=lambda d: (d['name'], d['group']), max_size=4)


@given(ADDED)
def test_adding_and_removing_members_restores_the_document(added):
    before = shop()
    after = with_members(before, added)
    for description in added:
        group = description['group']
        after = without_member(after, '/'.join(filter(
            None, [group, description['name']])))
    assert after == before and str(after) == str(before)


@given(st.integers(1, 6), st.sets(st.integers(0, 2), max_size=2))
def test_adding_and_removing_servers_restores_the_count(
        more, skipped):
    before = shop(**({'skip': sorted(skipped)} if skipped else {}))
    kept = copy.deepcopy(before)
    after = with_members(
        before, [{'name': 'node', 'count': more, 'group': 'db'}])
    assert len(paths(after)) == len(paths(before)) + more
    for number in reversed(range(3, 3 + more)):
        after = without_member(after, f'db/node-{number}')
    assert after == before == kept


def test_groups_with_changed_policies_are_found():
    before, after = shop(), shop(outer=False)
    assert changed_rules(before, after) == set()
    after['groups'][0]['policies'] = [{'type': 'affinity'}]
    assert changed_rules(before, after) == {'db'}
    del after['policies']
    after['groups'].append({'name': 'new', 'members': []})
    assert changed_rules(before, after) == {'', 'db'}
    after['groups'][-1]['relationships'] = [{'type': 'affinity'}]
    assert changed_rules(before, after) == {'', 'db', 'new'}


@pytest.mark.parametrize('node, mistake', [
    ({'skip': [3]}, 'groups[0].members[0].skip[0]: server 3 does not exist: '
     'the servers are numbered 0 to 2'),
    ({'skip': [0, 1, 2]}, 'groups[0].members[0].skip: all servers are '
     'skipped; at least one must remain'),
    ({'skip': [-1]}, 'groups[0].members[0].skip[0]: must be at least 0, not '
     '-1'),
    ({'skip': [1, 1]}, 'groups[0].members[0].skip: must be a list without '
     'duplicates')])
def test_invalid_skip_lists_are_refused(node, mistake):
    with pytest.raises(InvalidDocument) as caught:
        paths(shop(**node))
    assert str(caught.value) == mistake


def test_skip_without_a_count_is_refused():
    document = {'name': 'shop', 'members': [
        {'name': 'web', 'resources': SMALL, 'skip': [0]}]}
    with pytest.raises(InvalidDocument) as caught:
        paths(document)
    assert caught.value.place == 'members[0].skip[0]'
