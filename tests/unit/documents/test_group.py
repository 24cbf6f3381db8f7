# SPDX-License-Identifier: Apache-2.0
import copy

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.source import text
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies import load_policy_types
from tests.effort import examples

TYPES = load_policy_types()

SHOP = '''
name: shop
policies: [{type: affinity, level: az}]
groups:
  - name: db
    members:
      - name: node
        count: 3
        resources: {VCPU: 8, CUSTOM_LICENCE: 1}
        traits: {required: [CUSTOM_NVME], forbidden: [CUSTOM_SLOW]}
        availability_zone: az1
        aggregates: [ssd, fast]
        location: az1/room2
    policies:
      - {type: anti-affinity, level: rack, max_per_domain: 2, weight: 5}
members:
  - {name: gateway, flavor: m1.small}
'''


def parse(document):
    return parse_group(text.load(document), TYPES)


def refusal(document):
    with pytest.raises(InvalidDocument) as caught:
        parse_group(document, TYPES)
    assert '\n' not in str(caught.value)
    return caught.value


def changed(place, value):
    """The shop with one value changed: ``changed(('members', 0), …)``."""
    document = text.load(SHOP)
    *way, last = place
    found = document
    for step in way:
        found = found[step]
    found[last] = value
    return document


def test_a_complete_group_is_read():
    shop = parse(SHOP)
    assert (shop.name, shop.place) == ('shop', '')
    assert shop.policies == (Affinity(level='az'),)
    db = shop.groups[0]
    assert (db.name, db.place) == ('db', 'groups[0]')
    assert db.policies == (
        AntiAffinity(level='rack', max_per_domain=2, weight=5.0),)
    assert db.policies[0].place == 'groups[0].policies[0]'
    assert db.members[0].place == 'groups[0].members[0]'
    assert db.members[0].requirements == Requirements(
        resources=FrozenMapping({'VCPU': 8, 'CUSTOM_LICENCE': 1}),
        required_traits=frozenset({'CUSTOM_NVME'}),
        forbidden_traits=frozenset({'CUSTOM_SLOW'}),
        availability_zone='az1', aggregates=frozenset({'ssd', 'fast'}),
        location=('az1', 'room2'))
    assert shop.members[0].requirements == Requirements(flavor='m1.small')
    assert [m.path for m in shop.all_members()] == [
        'gateway', 'db/node-0', 'db/node-1', 'db/node-2']


def test_the_outer_key_is_optional():
    assert parse_group({'group': text.load(SHOP)}, TYPES) == parse(SHOP)


def test_a_soft_policy_has_weight_1():
    shop = parse_group(changed(
        ('policies', 0), {'type': 'soft-anti-affinity'}), TYPES)
    assert (shop.policies[0].weight, shop.policies[0].level) == (1, 'host')


def test_an_unknown_policy_type_is_refused_with_the_known_ones():
    error = refusal(changed(
        ('groups', 0, 'policies', 0), {'type': 'together', 'level': 'rack'}))
    assert error.place == 'groups[0].policies[0].type'
    assert error.message.startswith(
        "policy type 'together' is not supported; known are affinity, ")


def test_an_empty_list_of_relationships_is_accepted():
    assert parse_group(changed(('relationships',), []), TYPES) == parse(SHOP)


MEMBER = ('groups', 0, 'members', 0)
RULE = ('groups', 0, 'policies', 0)


@pytest.mark.parametrize('at, value, place', [
    (('membres',), [], 'membres'),
    (('name',), '', 'name'),
    (('name',), 'x' * 256, 'name'),
    (('name',), 'two\nlines', 'name'),
    (('name',), None, 'name'),
    (('policies',), {}, 'policies'),
    (('groups', 0, 'name'), 'a/b', 'groups[0].name'),
    (('groups', 0, 'level'), 'rack', 'groups[0].level'),
    (('groups', 0), {'name': 'db'}, 'groups[0]'),
    (('groups', 0), 3, 'groups[0]'),
    (MEMBER, {'name': 'node'}, 'groups[0].members[0]'),
    (MEMBER, {'flavor': 'm1.small'}, 'groups[0].members[0]'),
    ((*MEMBER, 'flavor'), 'm1.small', 'groups[0].members[0]'),
    ((*MEMBER, 'name'), 'a/b', 'groups[0].members[0].name'),
    ((*MEMBER, 'name'), 'node\n', 'groups[0].members[0].name'),
    ((*MEMBER, 'two words'), 1, "groups[0].members[0]['two words']"),
    ((*MEMBER, 'count'), 0, 'groups[0].members[0].count'),
    ((*MEMBER, 'count'), -1, 'groups[0].members[0].count'),
    ((*MEMBER, 'count'), True, 'groups[0].members[0].count'),
    ((*MEMBER, 'count'), 1.0, 'groups[0].members[0].count'),
    ((*MEMBER, 'count'), '3', 'groups[0].members[0].count'),
    ((*MEMBER, 'count'), 10**6, 'groups[0].members[0].count'),
    ((*MEMBER, 'resources'), {}, 'groups[0].members[0].resources'),
    ((*MEMBER, 'resources'), {'VCPU': -1},
     'groups[0].members[0].resources.VCPU'),
    ((*MEMBER, 'resources'), {'VCPU': 0},
     'groups[0].members[0].resources.VCPU'),
    ((*MEMBER, 'resources'), {'VCPU': 10**40},
     'groups[0].members[0].resources.VCPU'),
    ((*MEMBER, 'resources'), {'CPU': 1},
     'groups[0].members[0].resources.CPU'),
    ((*MEMBER, 'resources'), {'CUSTOM_small': 1},
     'groups[0].members[0].resources.CUSTOM_small'),
    ((*MEMBER, 'traits'), ['CUSTOM_X'], 'groups[0].members[0].traits'),
    ((*MEMBER, 'traits'), {'require': []},
     'groups[0].members[0].traits.require'),
    ((*MEMBER, 'traits'), {'required': ['nvme']},
     'groups[0].members[0].traits.required[0]'),
    ((*MEMBER, 'traits'), {'required': ['A'], 'forbidden': ['B', 'A']},
     'groups[0].members[0].traits.forbidden[1]'),
    ((*MEMBER, 'aggregates'), ['a', 'a'], 'groups[0].members[0].aggregates'),
    ((*MEMBER, 'location'), 'az1//rack1', 'groups[0].members[0].location'),
    ((*MEMBER, 'location'), '/az1', 'groups[0].members[0].location'),
    ((*MEMBER, 'location'), '', 'groups[0].members[0].location'),
    (RULE, {'level': 'rack'}, 'groups[0].policies[0]'),
    ((*RULE, 'levle'), 'rack', 'groups[0].policies[0].levle'),
    ((*RULE, 'level'), 7, 'groups[0].policies[0].level'),
    ((*RULE, 'level'), '', 'groups[0].policies[0].level'),
    ((*RULE, 'weight'), 0, 'groups[0].policies[0].weight'),
    ((*RULE, 'weight'), -1, 'groups[0].policies[0].weight'),
    ((*RULE, 'weight'), float('nan'), 'groups[0].policies[0].weight'),
    ((*RULE, 'weight'), float('inf'), 'groups[0].policies[0].weight'),
    ((*RULE, 'weight'), 10**400, 'groups[0].policies[0].weight'),
    ((*RULE, 'weight'), True, 'groups[0].policies[0].weight'),
    ((*RULE, 'max_per_domain'), 0, 'groups[0].policies[0].max_per_domain'),
    ((*RULE, 'max_per_domain'), '0%', 'groups[0].policies[0].max_per_domain'),
    ((*RULE, 'max_per_domain'), '101%',
     'groups[0].policies[0].max_per_domain'),
    ((*RULE, 'max_per_domain'), True,
     'groups[0].policies[0].max_per_domain'),
    (('relationships',), [{'type': 'affinity', 'between': ['db']}],
     'relationships[0].between'),
    (('members', 0, 'name'), 'db', 'groups[0].name'),
])
def test_an_error_names_its_position(at, value, place):
    assert refusal(changed(at, value)).place == place


def test_a_message_names_the_rule_and_the_given_value():
    assert str(refusal(changed((*MEMBER, 'count'), 0))) == (
        'groups[0].members[0].count: must be at least 1, not 0')
    assert str(refusal(changed((*MEMBER, 'flavor'), 'x'))) == (
        'groups[0].members[0]: must have only one of flavor and resources')
    assert str(refusal(changed((*RULE, 'levle'), 'rack'))) == (
        'groups[0].policies[0].levle: unknown key (did you mean '
        "'level'?); known are level, max_per_domain, type, weight")


@pytest.mark.parametrize('names, place', [
    ([('node', 3), ('node-0', None)], 'members[1].name'),
    ([('node-2', None), ('node', 3)], 'members[1].name'),
    ([('node', 3), ('node', None)], 'members[1].name'),
    ([('node', None), ('node', None)], 'members[1].name'),
    ([('a', 1), ('b', 1), ('a', 2)], 'members[2].name')])
def test_ambiguous_member_names_are_refused(names, place):
    members = [{'name': name, 'flavor': 'm1.small', 'count': count}
               for name, count in names]
    for member in members:
        if member['count'] is None:
            del member['count']
    error = refusal({'name': 'shop', 'members': members})
    assert error.place == place
    assert 'already a name in' in error.message


def test_a_name_beyond_the_count_is_accepted():
    group = parse('''
name: shop
members:
  - {name: node, count: 3, flavor: m1.small}
  - {name: node-3, flavor: m1.small}
''')
    assert len(group.all_members()) == 4


@pytest.mark.parametrize('document, place', [
    ({'name': 'shop'}, ''),
    ({'name': 'shop', 'members': [], 'groups': []}, ''),
    (changed(('groups', 0, 'members'), []), 'groups[0]'),
    ({'name': 'shop', 'groups': [{'name': 'a', 'groups': [{'name': 'b'}]}]},
     'groups[0].groups[0]')])
def test_a_group_without_members_is_refused(document, place):
    error = refusal(document)
    assert (error.place, error.message) == (place, 'the group has no members')


@pytest.mark.parametrize('group, others', [
    ({'name': 'b', 'policies': [{'type': 'affinity', 'level': 7}]},
     ['groups[1].policies[0].level: must be text, not 7']),
    ({'name': 'a', 'members': []}, ["'a' is already a name in groups[0]"]),
    ({'groups': []}, ['groups[1]: name is missing'])])
def test_a_group_without_members_is_reported_with_other_mistakes(
        group, others):
    found = [str(each) for each in refusal({'name': 'shop', 'groups': [
        {'name': 'a', 'members': [{'name': 'c', 'flavor': 'm1.small'}]},
        group]}).mistakes]
    assert 'groups[1]: the group has no members' in found
    assert [each for each in others if not any(
        each in text for text in found)] == []
    assert len(found) == len(others) + 1


@pytest.mark.parametrize('keys, mistake', [
    ({'members': 'a'}, "groups[0].members: must be a list, not 'a'"),
    ({'members': [7]}, 'groups[0].members[0]: must be a mapping'),
    ({'groups': {}}, 'groups[0].groups: must be a list, not a mapping'),
    ({'groups': [7]}, 'groups[0].groups[0]: must be a mapping'),
    ({'member': []}, 'groups[0].member: unknown key')])
def test_a_group_whose_members_cannot_be_read_is_reported_once(keys, mistake):
    (found,) = refusal({'name': 'shop', 'groups': [
        {'name': 'a', **keys}]}).mistakes
    assert str(found).startswith(mistake)


def test_too_many_policies_are_reported_with_an_invalid_one():
    rules = [*[{'type': 'affinity'}] * 1000, 7]
    found = [str(each) for each in refusal({
        'name': 'shop', 'policies': rules,
        'members': [{'name': 'a', 'flavor': 'm1.small'}]}).mistakes]
    assert len(found) == 2
    assert any(each.startswith('policies: ') for each in found)
    assert any(each.startswith('policies[1000]: ') for each in found)


def test_a_second_key_beside_the_outer_key_is_refused():
    assert refusal({'group': text.load(SHOP), 'x': 1}).place == 'x'


def nested(depth):
    group = {'name': 'inner',
             'members': [{'name': 'node', 'flavor': 'm1.small'}]}
    for _ in range(depth - 1):
        group = {'name': 'outer', 'groups': [group]}
    return group


def test_groups_nest_at_most_sixteen_deep():
    assert len(parse_group(nested(16), TYPES).all_members()) == 1
    assert refusal(nested(17)).message == (
        'groups are nested more than 16 deep')
    assert refusal(nested(5000)).message == (
        'groups are nested more than 16 deep')


def test_a_group_has_at_most_ten_thousand_members():
    full = {'name': 'big', 'members': [
        {'name': 'a', 'count': 9_999, 'flavor': 'm1.small'},
        {'name': 'b', 'flavor': 'm1.small'}]}
    assert len(parse_group(full, TYPES).all_members()) == 10_000
    over = copy.deepcopy(full)
    over['members'][1]['count'] = 2
    assert refusal(over).message == (
        '10001 members; at most 10000 are accepted')


def test_too_many_descriptions_are_refused_before_they_are_read():
    groups = [{'name': f'g{n}', 'members': [None] * 6_000} for n in (1, 2)]
    assert refusal({'name': 'big', 'groups': groups}).message == (
        'more than 10000 members and groups')


def test_a_path_longer_than_its_table_column_is_refused():
    name = 'x' * 250
    group = {'name': name, 'members': [{'name': name, 'flavor': 'a'}]}
    for _ in range(2):
        group = {'name': name, 'groups': [group]}
    # Two groups and the member have 752 characters with the slashes.
    assert refusal(group).place == 'groups[0].groups[0].members[0].name'


@pytest.mark.parametrize('at', [
    ('name',), (*MEMBER, 'count'), (*RULE, 'weight'), (*RULE, 'type')])
def test_a_huge_number_is_refused_with_a_short_message(at):
    assert len(refusal(changed(at, 10**5000)).message) < 100


words = st.sampled_from([
    'group', 'name', 'members', 'groups', 'policies', 'relationships', 'type',
    'count', 'flavor', 'resources', 'traits', 'level', 'weight', 'affinity',
    'anti-affinity', 'max_per_domain', 'required', 'VCPU', 'between', 'a/b'])
junk = st.recursive(
    words | st.none() | st.booleans() | st.integers() | st.floats()
    | st.text(max_size=5),
    lambda below: st.lists(below, max_size=4)
    | st.dictionaries(words | st.integers(0, 3), below, max_size=5),
    max_leaves=25)


@examples(300)
@given(junk)
def test_arbitrary_content_is_refused_in_one_line(document):
    try:
        parse_group(document, TYPES)
    except InvalidDocument as error:
        assert '\n' not in str(error)


@examples(300)
@given(st.sampled_from([
    ('name',), ('members',), ('members', 0), ('groups', 0), MEMBER, RULE,
    (*MEMBER, 'count'), (*MEMBER, 'resources'), (*MEMBER, 'traits'),
    (*RULE, 'weight'), (*RULE, 'max_per_domain'), (*RULE, 'type'),
    ('relationships',)]), junk)
def test_an_arbitrary_value_in_a_group_is_refused_in_one_line(at, value):
    try:
        parse_group(changed(at, value), TYPES)
    except InvalidDocument as error:
        assert '\n' not in str(error)
