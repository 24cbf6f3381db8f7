# SPDX-License-Identifier: Apache-2.0
"""A soak test reports each kind of row or consumer whose number has
changed."""

import pytest

from benchmarks import leaks

BEFORE = dict.fromkeys(leaks.QUERIES, 3)


def test_nothing_leaks_if_all_numbers_are_as_before():
    assert leaks.differences(BEFORE, dict(BEFORE)) == []


@pytest.mark.parametrize('number', (2, 4))
@pytest.mark.parametrize('name', BEFORE)
def test_each_number_counts(name, number):
    assert leaks.differences(BEFORE, {**BEFORE, name: number}) == [
        f'There are {number} {name}; there were 3.']
