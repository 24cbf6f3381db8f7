# SPDX-License-Identifier: Apache-2.0
"""A soak test reports each difference between what is left and what exists.
"""

import pytest

from benchmarks import leaks

CLEAN = {'groups': 2, 'members': 6, 'holds': 6, 'rows of planned members': 6,
         'other consumers': 0, 'events of deleted groups': 0}
HOLDS = frozenset('abcdef')


def test_nothing_leaks_if_only_what_exists_is_left():
    assert leaks.differences(CLEAN, HOLDS, HOLDS, 2, 6) == []


@pytest.mark.parametrize('name', CLEAN)
def test_each_number_counts(name):
    found = {**CLEAN, name: CLEAN[name] + 1}
    assert leaks.differences(found, HOLDS, HOLDS, 2, 6) == [
        f'{name}: {CLEAN[name] + 1} instead of {CLEAN[name]}']


def test_as_many_holds_as_rows_are_a_leak_if_they_are_others():
    assert leaks.differences(CLEAN, HOLDS, HOLDS - {'a'} | {'x'}, 2, 6) == [
        '1 holds without a row, 1 rows without a hold']
