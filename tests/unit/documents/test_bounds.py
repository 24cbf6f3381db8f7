# SPDX-License-Identifier: Apache-2.0
"""The count of a member: one number, or its minimum, desired number and
maximum."""

from hypothesis import given, strategies
import pytest

from nova_holistic.documents.groups import checks
from nova_holistic.documents.groups.bounds import has_bounds, with_numbers
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.members.bounds import Bounds, numbered

COUNTS = strategies.one_of(
    strategies.integers(1, 9),
    strategies.tuples(*[strategies.integers(0, 9)] * 3).map(sorted).map(
        lambda found: dict(zip(('min', 'desired', 'max'), (
            *found[:2], max(1, found[2]))))))


def document(count, /, **nested):
    return {'name': 'shop', 'members': [
        {'name': 'web', 'resources': {'VCPU': 1}},
        {'name': 'node', 'count': count, 'resources': {'VCPU': 1}}],
        **({'groups': [{'name': 'shard', 'members': [
            {'name': 'db', 'resources': {'VCPU': 1}}], **nested}]}
           if nested else {})}


def bounds(count):
    return parse_group(document(count), {}).members[1].bounds


@pytest.mark.parametrize('count,expected', [
    (3, None),
    ({'desired': 3}, Bounds(3, 3, 3)),
    ({'desired': 0}, Bounds(0, 0, 1)),
    ({'min': 1, 'desired': 3}, Bounds(1, 3, 3)),
    ({'desired': 3, 'max': 7}, Bounds(3, 3, 7)),
    ({'min': 0, 'desired': 0, 'max': 2}, Bounds(0, 0, 2))])
def test_numbers_that_are_missing_follow_the_desired_number(count, expected):
    assert bounds(count) == expected


@pytest.mark.parametrize('count,place', [
    ({'min': 4, 'desired': 3}, 'members[1].count.min'),
    ({'desired': 3, 'max': 2}, 'members[1].count.max'),
    ({'min': 1, 'max': 2}, 'members[1].count'),
    ({'desired': -1}, 'members[1].count.desired'),
    ({'desired': 1.5}, 'members[1].count.desired'),
    ({'desired': 1, 'most': 3}, 'members[1].count'),
    ({'desired': 1, 'max': 0}, 'members[1].count.max'),
    ({'desired': 1, 'max': 10**9}, 'members[1].count.max'),
    ('3', 'members[1].count'), (True, 'members[1].count')])
def test_an_impossible_count_is_refused_at_its_position(count, place):
    with pytest.raises(InvalidDocument) as refusal:
        bounds(count)
    assert place in str(refusal.value)


def test_a_number_of_replicas_is_limited_with_all_their_members():
    with pytest.raises(InvalidDocument, match='at most'):
        parse_group(document(1, count={'desired': 1, 'max': 10**6}), {})


@given(COUNTS, strategies.dictionaries(
    strategies.sampled_from(['min', 'desired', 'max']),
    strategies.integers(0, 9)))
def test_changed_numbers(before, changes):
    """Each stated number has its value. The others keep theirs, unless the
    desired number exceeds them."""
    after = with_numbers(before, changes)
    assert after.keys() == {'min', 'desired', 'max'}
    assert changes.items() <= after.items()
    was = before if isinstance(before, dict) else dict.fromkeys(
        ('min', 'desired', 'max'), before)
    for name in was.keys() - changes.keys():
        assert after[name] in (was[name], after['desired'])
    if changes.keys() <= {'desired'} and after['desired'] > 0:
        assert after['min'] <= after['desired'] <= after['max']


@pytest.mark.parametrize('wanted,expected', [
    (document(3), False), (document({'desired': 1}), True),
    (document(1, count=2), False), (document(1, count={'desired': 2}), True)])
def test_a_count_with_bounds_may_change(wanted, expected):
    assert has_bounds(wanted) == expected
    assert parse_group(wanted, {}).is_elastic == expected


@pytest.mark.parametrize('other, why', [
    *((name, 'may become a name in members[1], whose number may change')
      for name in ('node-7', 'node-0')),
    ('node', 'is already a name in members[1]')])
def test_a_name_that_a_counted_member_may_get_is_refused(other, why):
    group = document({'desired': 1, 'max': 9})
    group['members'].append({'name': other, 'resources': {'VCPU': 1}})
    with pytest.raises(InvalidDocument) as caught:
        parse_group(group, {})
    assert str(caught.value) == f'members[2].name: {other!r} {why}'


def test_thousands_of_members_whose_number_may_change_are_read(monkeypatch):
    compared = []
    monkeypatch.setattr(checks, 'numbered', lambda stem, name: (
        compared.append(name), numbered(stem, name))[1])
    group = parse_group({'name': 'shop', 'members': [
        {'name': f'node{n}', 'count': {'desired': 2, 'max': 3},
         'resources': {'VCPU': 1}} for n in range(1000)]}, {})
    assert len(group.all_members()) == 2000
    # A name is compared with one member only, the one of its stem.
    assert len(compared) <= 2000
