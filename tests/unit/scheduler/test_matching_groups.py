# SPDX-License-Identifier: Apache-2.0
"""Groups of a request and of a description that are the same."""

import pytest

from nova_holistic.scheduler.claim.matching_groups import matching_suffixes


def sets(*texts):
    return [frozenset(each) for each in texts]


@pytest.mark.parametrize('described, described_sets, asked, asked_sets', [
    ('xy', [], 'xyy', []),
    ('xy', [], 'xx', []),
    ('xy', sets('01'), 'xy', []),
    ('xy', [], 'xy', sets('01')),
    # Two ports with both groups each, and one with everything.
    ('xyxy', sets('01', '23'), 'xyxy', sets('0123')),
    ('xyxy', sets('01', '23'), 'xxyy', sets('01', '23'))])
def test_different_groups_do_not_match(described, described_sets, asked,
                                       asked_sets):
    assert matching_suffixes(
        by_suffix(described), described_sets,
        by_suffix(asked, 'p'), names(asked_sets, 'p')) is None


@pytest.mark.parametrize('described, described_sets, asked, asked_sets', [
    ('', [], '', []),
    ('xy', [], 'yx', []),
    ('xyxy', sets('01', '23'), 'yxxy', sets('02', '13')),
    ('xyxyz', sets('01', '23'), 'xxyyz', sets('03', '12')),
    ('xxx', sets('01'), 'xxx', sets('12')),
    ('xyz', sets('01', '12'), 'zyx', sets('01', '12'))])
def test_the_same_groups_match_with_their_sets(described, described_sets,
                                               asked, asked_sets):
    found = matching_suffixes(by_suffix(described), described_sets,
                              by_suffix(asked, 'p'), names(asked_sets, 'p'))
    assert sorted(found) == sorted(by_suffix(described))
    assert sorted(found.values()) == sorted(by_suffix(asked, 'p'))
    for own, other in found.items():
        assert described[int(own)] == asked[int(other.removeprefix('p'))]
    assert {frozenset(found[each] for each in some)
            for some in described_sets} == set(names(asked_sets, 'p'))


def test_groups_with_the_same_suffix_come_first():
    assert matching_suffixes({'1': 'x', '2': 'x'}, [], {
        '2': 'x', '1': 'x'}, []) == {'1': '1', '2': '2'}


def test_many_alike_groups_with_another_structure_end_soon():
    alike = by_suffix('x' * 12)
    assert matching_suffixes(
        alike, [frozenset([str(i), str(i + 1)]) for i in range(11)],
        alike, [frozenset(['0', str(i)]) for i in range(1, 12)]) is None


def by_suffix(contents, prefix=''):
    return {f'{prefix}{number}': each
            for number, each in enumerate(contents)}


def names(some, prefix):
    return [frozenset(f'{prefix}{each}' for each in suffixes)
            for suffixes in some]
