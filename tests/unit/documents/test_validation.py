# SPDX-License-Identifier: Apache-2.0
"""A message quotes a wrong value in one short line, regardless of its
length."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.validation import brief, join, validator
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.policies import load_policy_types

TYPES = load_policy_types()


@pytest.mark.parametrize('value, shown', [
    pytest.param('rack', "'rack'", id='short'),
    # The maximum: 60 characters with the quotation marks.
    pytest.param('x' * 58, "'" + 'x' * 58 + "'", id='longest'),
    pytest.param('x' * 59, "'" + 'x' * 56 + '...', id='too long'),
    pytest.param('x' * 100_000, "'" + 'x' * 56 + '...', id='very long'),
    pytest.param('two\nlines', r"'two\nlines'", id='two lines'),
    pytest.param('ß' * 20, "'" + r'\xdf' * 14 + '...', id='not ASCII'),
    pytest.param(10**20 - 1, '9' * 20, id='20 digits'),
    pytest.param(10**20, 'a number of more than 20 digits',
                 id='21 digits'),
    pytest.param(None, 'null', id='null'),
    pytest.param(True, 'true', id='true'),
    pytest.param({'a': 1}, 'a mapping', id='mapping'),
    pytest.param(['x'] * 1000, 'a list', id='list')])
def test_a_value_is_quoted_in_at_most_sixty_characters(value, shown):
    assert brief(value) == shown


@pytest.mark.parametrize('value, message', [
    (5, 'must be a mapping, not 5'), ([], 'must be a mapping, not a list'),
    ({5: 1}, 'must be a mapping with text as keys, not a mapping')])
def test_only_a_mapping_is_described_by_its_keys(value, message):
    with pytest.raises(InvalidDocument) as caught:
        validator({'type': 'object'})(value)
    assert str(caught.value) == message


def test_a_long_key_is_shortened_in_the_position():
    assert join('members[0]', 'two words' + 'x' * 1000) == (
        "members[0]['two words" + 'x' * 47 + '...]')


def test_a_long_value_in_a_document_is_shortened_in_the_refusal():
    member = {'name': 'web', 'flavor': 'm1.small', 'count': 'x' * 10_000}
    with pytest.raises(InvalidDocument) as caught:
        parse_group({'name': 'shop', 'members': [member]}, TYPES)
    assert caught.value.place == 'members[0].count'
    assert caught.value.message == (
        "must be a whole number, not '" + 'x' * 56 + '...')


@pytest.mark.parametrize('schema, value, message', [
    ({'minimum': 1}, 0, 'at least 1, not 0'),
    ({'maximum': 1}, 2, 'at most 1, not 2'),
    ({'exclusiveMinimum': 1}, 1, 'more than 1, not 1'),
    ({'minLength': 1}, '', "text of at least one character, not ''"),
    ({'minLength': 2}, 'a', "text of at least 2 characters, not 'a'"),
    ({'maxLength': 2}, 'abc', "text of at most 2 characters, not 'abc'"),
    ({'minItems': 1}, [], 'a list of at least one value'),
    ({'maxItems': 2}, [1, 2, 3], 'a list of at most 2 values'),
    ({'maxItems': 1}, [1, 2], 'a list of at most one value'),
    ({'minProperties': 1}, {}, 'a mapping of at least one key'),
    ({'maxProperties': 1}, {'a': 1, 'b': 2}, 'a mapping of at most one key'),
    ({'uniqueItems': True}, [1, 1], 'a list without duplicates'),
    ({'enum': ['b', 'a']}, 'c', "one of a, b, not 'c'"),
    ({'const': 'a'}, 'b', "'a', not 'b'"),
    ({'pattern': '^a$', 'description': 'an a'}, 'b', "an a, not 'b'"),
])
def test_each_keyword_of_a_schema_has_its_own_message(schema, value, message):
    with pytest.raises(InvalidDocument) as caught:
        validator(schema)(value)
    assert str(caught.value) == f'must be {message}'


@pytest.mark.parametrize('value', [0.5, -1.5, 10.5])
def test_a_fraction_is_one_mistake(value):
    with pytest.raises(InvalidDocument) as caught:
        validator({'type': 'integer', 'minimum': 1, 'maximum': 9})(value)
    assert [each.message for each in caught.value.mistakes] == [
        f'must be a whole number, not {value}']


def test_a_key_and_its_value_are_two_mistakes():
    with pytest.raises(InvalidDocument) as caught:
        validator({'propertyNames': {'enum': ['a']},
                   'additionalProperties': {'type': 'integer', 'minimum': 1},
                   'type': 'object'})({'b': 0.5})
    assert [str(each) for each in caught.value.mistakes] == [
        "b: must be one of a, not 'b'", 'b: must be a whole number, not 0.5']


MEMBER = {'name': 'web', 'resources': {'VCPU': 1}}


@pytest.mark.parametrize('group, mistake', [
    ({'policies': [{'type': 'affinity', 'level': ''}]},
     "policies[0].level: must be text of at least one character, not ''"),
    ({'policies': [{'type': 'affinity', 'level': 'x' * 256}]},
     'policies[0].level: must be text of at most 255 characters, not '
     "'" + 'x' * 56 + '...'),
    ({'members': [{**MEMBER, 'request_groups': {
        f'_{n}': {'resources': {'VCPU': 1}} for n in range(65)}}]},
     'members[0].request_groups: must be a mapping of at most 64 keys'),
    ({'members': [{**MEMBER, 'same_subtree': []}]},
     'members[0].same_subtree: must be a list of at least one value'),
])
def test_a_length_out_of_range_has_a_message(group, mistake):
    with pytest.raises(InvalidDocument) as caught:
        parse_group({'name': 'shop', 'members': [MEMBER], **group}, TYPES)
    assert str(caught.value) == mistake


@pytest.mark.parametrize('group, mistake', [
    ({'members': [{**MEMBER, 'skip': [1]}]},
     'members[0].skip[0]: is only possible with a count'),
    ({'members': [{**MEMBER, '<<': {'count': 2}}]},
     "members[0]['<<']: merge keys of YAML are not supported"),
    ({'<<': {'name': 'a'}}, "['<<']: merge keys of YAML are not supported"),
    ({'policies': [{'type': 'anti-affinity', 'max_per_domain': 2**31}]},
     'policies[0].max_per_domain: must be a whole number from 1 to '
     "2147483647, or a share from '1%' to '100%', not 2147483648"),
])
def test_the_message_names_the_accepted_values(group, mistake):
    with pytest.raises(InvalidDocument) as caught:
        parse_group({'name': 'shop', 'members': [MEMBER], **group}, TYPES)
    assert str(caught.value) == mistake


@pytest.mark.parametrize('group, place', [
    ({'members': [{'name': 'web', 'resources': {
        '<<': {'VCPU': 1}, 'DISK_GB': 1}}]}, "members[0].resources['<<']"),
    ({'members': [{**MEMBER, 'image': {'<<': {'min_disk': 1}}}]},
     "members[0].image['<<']"),
])
def test_a_merge_key_is_one_mistake_in_each_mapping(group, place):
    with pytest.raises(InvalidDocument) as caught:
        parse_group({'name': 'shop', **group}, TYPES)
    assert [str(each) for each in caught.value.mistakes] == [
        f'{place}: merge keys of YAML are not supported']


def test_a_name_of_a_nested_group_is_one_mistake():
    with pytest.raises(InvalidDocument) as caught:
        parse_group({'name': 'shop', 'groups': [
            {'name': '', 'members': [MEMBER]}]}, TYPES)
    assert [str(each) for each in caught.value.mistakes] == [
        'groups[0].name: must be 1 to 255 letters, digits, "_", "." or "-", '
        "not ''"]


def test_mistakes_are_reported_in_the_order_of_the_document():
    check = validator({'additionalProperties': {'type': 'integer'}})
    names = [f'CUSTOM_{number}' for number in range(1000)]
    with pytest.raises(InvalidDocument) as caught:
        check({name: 'x' for name in names})
    places = [mistake.place for mistake in caught.value.mistakes]
    assert places == names[:len(places)]
    assert len(places) > 1
