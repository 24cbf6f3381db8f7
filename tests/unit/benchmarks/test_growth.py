# SPDX-License-Identifier: Apache-2.0
"""A soak test compares the first quarter after the warm-up with the last."""

import pytest

from benchmarks import growth


def points(value_at, number=101):
    """A point for each second, with the value at that second."""
    return [(second, value_at(second)) for second in range(number)]


def grows(value_at, tolerance=0.0):
    return growth.grows(growth.growth(points(value_at)), tolerance)


def test_a_constant_value_does_not_grow():
    found = growth.growth(points(lambda second: 7))
    assert found == {
        'first': {'median': 7, 'min': 7, 'max': 7},
        'last': {'median': 7, 'min': 7, 'max': 7}, 'hourly': 0}


def test_the_first_tenth_of_the_time_is_left_out():
    assert not grows(lambda second: 100 if second >= 10 else second)


def test_steady_growth_is_reported_with_its_slope():
    assert grows(lambda second: second)
    assert growth.growth(points(lambda second: second))[
        'hourly'] == pytest.approx(3600)


def test_values_that_vary_between_the_same_limits_do_not_grow():
    assert not grows(lambda second: second % 5)


def test_one_more_thread_at_the_end_is_growth():
    assert grows(lambda second: 8 if second < 60 else 9)


@pytest.mark.parametrize('last, found', ((105, False), (106, True)))
def test_growth_within_the_tolerance_is_ignored(last, found):
    assert grows(lambda second: 100 if second < 60 else last, 0.05) is found


def test_the_sentence_names_process_kind_and_values():
    found = growth.growth(points(lambda second: 8 if second < 60 else 9))
    assert growth.sentence('engine-1', 'threads', found) == (
        'threads of engine-1 has grown from 8 (at most 8) to 9.')


def test_quarters_without_points_are_an_error():
    with pytest.raises(ValueError, match='too few points'):
        growth.growth([(0, 1)] * 2 + [(100, 1)])


def test_a_life_has_the_cost_of_its_quarter():
    # From second 50 on, each second costs double. Five life cycles end in the
    # first quarter, and four in the last one.
    used = points(lambda second: second + max(0, second - 50))
    found = growth.cost(used, ends=range(2, 100, 5))
    assert found == {'first': pytest.approx(22 / 5),
                     'last': pytest.approx(2 * 22 / 4)}


def test_a_quarter_without_an_end_has_the_whole_cost():
    assert growth.cost(points(lambda second: second), [])['first'] == 22
