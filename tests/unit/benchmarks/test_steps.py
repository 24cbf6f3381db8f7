# SPDX-License-Identifier: Apache-2.0
"""The steps of a create, computed from recorded spans."""

import json

import pytest

from benchmarks import steps

PREFIX = 'nova_holistic_'


def span(name, begin, end, thread=1, **labels):
    return {'name': name, 'labels': labels, 'begin': begin, 'end': end,
            'thread': thread}


def create():
    """A create that is requested at 10, planned in the table at 19, and
    reported at 20."""
    return [
        span('table', 11, 11.5, kind='write'),
        span(PREFIX + 'snapshot_seconds', 12, 14),
        span(steps.HTTP, 12.5, 13, thread=2, service='placement'),
        span(steps.HTTP, 12.5, 13.5, thread=3, service='placement'),
        span(PREFIX + 'solve_seconds', 14, 15, outcome='planned'),
        span('table', 15, 16, kind='write'),
        span(PREFIX + 'hold_seconds', 16, 18, operation='put'),
        span('table', 18, 19, kind='write'),
        span('table', 19, 19.5, kind='read'),
        span('table', 12, 19, thread=9, kind='read')]


def lengths(intervals):
    found = {}
    for begin, end, step in intervals:
        found[step] = found.get(step, 0.0) + end - begin
    return found


def test_every_moment_of_a_create_belongs_to_one_step():
    found = lengths(steps.of_create(create(), 10, 20))
    assert found == {
        'request': 1.0, 'table': 2.5, 'engine': 0.5, 'snapshot': 2.0,
        'plan': 1.0, 'holds': 2.0, 'answer': 1.0}
    assert sum(found.values()) == 20 - 10


def test_a_nested_span_takes_its_time_from_the_outer_one():
    outer = span(PREFIX + 'snapshot_seconds', 0, 10)
    inner = span('table', 4, 5, kind='read')
    assert steps.innermost([outer, inner], 0, 10) == [
        (0, 4, 'snapshot'), (4, 5, 'table'), (5, 10, 'snapshot')]


def test_alternates_after_the_answer_are_a_separate_step():
    later = span(PREFIX + 'alternates_seconds', 21, 25, thread=5)
    found = steps.of_create([*create(), later], 10, 20)
    assert found[-1] == (21, 25, 'alternates')


def test_a_create_without_a_plan_is_an_error():
    with pytest.raises(ValueError):
        steps.of_create(create()[:2], 10, 20)


def test_parallel_requests_are_waited_for_once():
    intervals = steps.of_create(create(), 10, 20)
    cost = steps.summary(intervals, steps.Samples(), create())
    assert cost['snapshot']['requests'] == {'placement': 2}
    assert cost['snapshot']['waited'] == {'placement': 1.0}
    assert cost['holds']['requests'] == {}


def test_processor_time_is_interpolated_between_samples():
    samples = steps.Samples()
    samples.add(0, {'nova': 5.0})
    samples.add(10, {'nova': 15.0})
    samples.add(20, {'nova': 15.0, 'engine': 3.0})
    assert samples.between(2, 4) == {'nova': pytest.approx(2.0)}
    assert samples.between(5, 30) == {'nova': 5.0, 'engine': 3.0}
    assert steps.Samples().between(0, 1) == {}


@pytest.mark.parametrize('share, value', [
    (0.5, 3), (0.6, 3), (0.61, 4), (0.95, 5), (1.0, 5), (0.01, 1)])
def test_percentiles_are_values_that_were_measured(share, value):
    assert steps.percentile([5, 3, 1, 4, 2], share) == value


def test_an_empty_list_has_no_percentile():
    with pytest.raises(ValueError):
        steps.percentile([], 0.5)


def test_an_unfinished_line_of_the_trace_is_left_out():
    whole = json.dumps(span('table', 1, 2, kind='read'))
    assert len(steps.read_spans(f'{whole}\n{whole}\n{{"name": "ta')) == 2


def test_the_slope_of_memory_is_that_of_the_line_through_it():
    assert steps.slope([(0, 10), (10, 30), (20, 50)]) == pytest.approx(2.0)
    assert steps.slope([(0, 10)]) == 0.0
