# SPDX-License-Identifier: Apache-2.0
"""The parts in which the functional tests with an embedded cloud run."""

from hypothesis import given, strategies
import pytest

from tests.functional.parts import modules_of_part, read_part

modules = strategies.dictionaries(
    strategies.text('abc', min_size=1), strategies.integers(1, 50))


@given(modules, strategies.integers(1, 4))
def test_each_module_is_in_one_part(numbers, parts):
    chosen = [modules_of_part(numbers, part + 1, parts)
              for part in range(parts)]
    assert sorted(name for part in chosen for name in part) == sorted(numbers)


@given(modules)
def test_two_parts_differ_by_one_module_at_most(numbers):
    sizes = [sum(numbers[name] for name in modules_of_part(numbers, part, 2))
             for part in (1, 2)]
    assert abs(sizes[0] - sizes[1]) <= max(numbers.values(), default=0)


@pytest.mark.parametrize('text', ['', '1', '0/2', '3/2', 'a/b', '1/2/3'])
def test_an_invalid_part_is_refused(text):
    with pytest.raises(pytest.UsageError, match='such as 1/2'):
        read_part(text)


def test_a_part_is_read():
    assert read_part('2/3') == (2, 3)
