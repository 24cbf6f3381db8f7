# SPDX-License-Identifier: Apache-2.0
"""A message quotes a wrong value in one short line, regardless of its
length."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.validation import brief, join
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
    pytest.param(None, 'nothing', id='null'),
    pytest.param(True, 'true', id='true'),
    pytest.param({'a': 1}, 'a mapping', id='mapping'),
    pytest.param(['x'] * 1000, 'a list', id='list')])
def test_a_value_is_quoted_in_at_most_sixty_characters(value, shown):
    assert brief(value) == shown


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
