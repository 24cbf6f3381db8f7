# SPDX-License-Identifier: Apache-2.0
"""YAML and JSON text is read. Text that would use too much memory or time is
refused."""

import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.documents.source import text
from nova_holistic.exceptions import InvalidDocument


def refusal(document):
    with pytest.raises(InvalidDocument) as caught:
        text.load(document)
    assert '\n' not in str(caught.value)
    return str(caught.value)


def test_equal_yaml_and_json_have_the_same_result():
    expected = {'name': 'shop', 'members': [{'count': 3, 'share': 0.5}],
                'on': True, 'none': None}
    assert text.load('''
"on": true
none:
name: shop
members:
  - {count: 3, share: 0.5}
''') == expected
    assert text.load(json.dumps(expected)) == expected
    assert text.load(json.dumps(expected).encode()) == expected


def test_yaml_aliases_are_expanded():
    assert text.load('a: &r {VCPU: 2}\nb: *r\n') == {
        'a': {'VCPU': 2}, 'b': {'VCPU': 2}}


def test_a_name_that_looks_like_a_date_stays_text():
    assert text.load('name: 2026-01-31') == {'name': '2026-01-31'}


@pytest.mark.parametrize('broken, place', [
    ('name: shop\nmembers: [{name: a', 'line 3, column 1'),
    ('name: shop\nmembers:\n\t- a', 'line 3, column 1'),
    ('name: "shop', 'line 2, column 1'),
    ('a: 1\nb: 2\na: 3', 'line 3, column 1'),
    ('{"a": 1,\n "a": 2}', 'line 2, column 2'),
    ('a: !!python/object:os.system x', 'line 1, column 4'),
    ('a: .nan', 'line 1, column 4'),
    ('[{"a": NaN}, .inf]', 'line 1, column 14'),
    ('a: b\n---\nc: d', 'line 2, column 1'),
    ('1: one', 'line 1, column 1'),
    ('? [a]\n: b', 'line 1, column 3'),
    ('a: *b', 'line 1, column 4'),
    ('a: !!int five', 'line 1, column 4'),
    ('a: 1\n# \x07', 'line 2, column 3'),
    ('a: é\r\n\u2028b\x85# \x00', 'line 4, column 3'),
])
def test_invalid_text_is_refused_with_its_line(broken, place):
    # If the text ends too early, the last line may have no line break.
    assert place in refusal(broken + '\n')


@pytest.mark.parametrize('cyclic, place', [
    ('a: &x [*x]', 'line 1, column 8'),
    ('&x\na: {b: [1, *x]}', 'line 2, column 12'),
])
def test_a_cyclic_alias_is_refused(cyclic, place):
    message = refusal(cyclic)
    assert message.startswith('alias *x is inside the value that it repeats')
    assert message.endswith(place)


def test_aliases_that_expand_to_too_many_values_are_refused():
    lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for n in range(1, 12):
        lines.append(f'a{n}: &a{n} [{", ".join([f"*a{n - 1}"] * 9)}]')
    assert f'more than {text.MAX_NODES} values' in refusal('\n'.join(lines))


def test_aliases_that_nest_too_deeply_are_refused():
    lines = ['a0: &a0 [x]']
    lines += [f'a{n}: &a{n} [*a{n - 1}]' for n in range(1, 100)]
    assert f'deeper than {text.MAX_DEPTH}' in refusal('\n'.join(lines))


@pytest.mark.parametrize('document', [
    'x' * 10 * 2**20, b'{"a": "' + b'x' * 10 * 2**20 + b'"}'])
def test_a_document_above_8_mib_is_refused(document):
    assert refusal(document) == 'longer than 8 MiB, the maximum'


@pytest.mark.parametrize('document', [
    '[' * 100_000, '{"a":' * 100_000, '- ' * 100_000,
    '[' * 100 + ']' * 100])
def test_deep_nesting_is_refused(document):
    assert f'deeper than {text.MAX_DEPTH}' in refusal(document)


@pytest.mark.parametrize('number', [
    '9' * 5000, '0x' + 'f' * 100_000, ':'.join(['59'] * 10_000)])
def test_numbers_with_too_many_digits_are_refused(number):
    assert 'longer than 64 characters' in refusal(f'a: {number}')


def test_bytes_must_be_utf_8():
    assert refusal(b'name: \xff') == 'not UTF-8 at byte 6'


def test_a_lone_surrogate_is_refused():
    assert refusal('name: \ud800') == (
        'a character that is not valid Unicode (the lone surrogate U+D800) at '
        'position 6')
    assert 'line 1' in refusal('{"name": "\\ud800"}')


def test_json_with_a_surrogate_pair_may_have_a_trailing_comma():
    assert text.load(r'{"name": "shop \ud83d\uDE80", "x": "\\ud83d\\ude80",}'
                     ) == {'name': 'shop \U0001f680', 'x': r'\ud83d\ude80'}


@pytest.mark.parametrize('document, message', [
    (r'{"name": "\ud83d\ude80", "name": 1}',
     "duplicate key 'name', line 1, column 26"),
    (r'{"\ud83d\ude80": 1, "\ud83d\ude81": 2, "a": [}', 'line 1, column 46'),
    (r'{"name": "\ud83d", "x": "\ude80",}', 'line 1')])
def test_a_mistake_next_to_a_surrogate_pair_has_its_line(document, message):
    assert message in refusal(document)


@pytest.mark.parametrize('document, place', [
    ('{"name": "shop"}\n}', 'line 2, column 1'),
    ('{"name": "shop"}} ', 'line 1, column 17'),
    ('{"name": "shop"}, ', 'line 1, column 17'),
    ('[1]\n\n  {"name": "shop"}\n', 'line 3, column 3'),
    ('{"name": "\\ud83d\\ude80"} x', 'line 1, column 26'),
    ('--- {name: shop} x', 'line 1, column 18')])
def test_text_after_the_document_is_refused_with_its_place(document, place):
    assert refusal(document) == f'text after the end of the document, {place}'


def test_a_directive_needs_the_begin_of_a_document():
    assert 'document start' in refusal('%YAML 1.1\nname: shop')


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-2**63, 2**63)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below, max_size=4)
    | st.dictionaries(st.text(), below, max_size=4), max_leaves=20)


@given(plain)
def test_any_json_document_is_read_unchanged(document):
    assert text.load(json.dumps(document)) == document


@given(st.text() | st.binary() | st.text(alphabet='&*a: -[]{},\n"\'?!|>%#~<='))
def test_arbitrary_text_is_read_or_refused(junk):
    try:
        text.load(junk)
    except InvalidDocument as error:
        assert '\n' not in error.message
