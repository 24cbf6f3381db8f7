# SPDX-License-Identifier: Apache-2.0
"""Outcomes of Nova's tests on two managers are compared one by one."""

import json
import pathlib
from xml.etree import ElementTree

import pytest

from tools import test_totals
from tools.nova_compat.comparison import compare, REPEATS
from tools.nova_compat.outcome import NOT_RUN, Outcome
from tools.nova_compat import report, selection


def results(**pairs):
    """Outcomes of stock Nova and of this project, by test."""
    return {
        manager: {f'nova.Test.{test}': Outcome(f'nova.Test.{test}',
                                               pair[index], 1.5, 'log')
                  for test, pair in pairs.items() if pair[index]}
        for index, manager in enumerate(('stock', 'holistic'))}


def compared(repeated=(), **pairs):
    """A comparison in which the repeated tests have these outcomes."""
    answers = iter(repeated)

    def repeat(tests):
        pair = next(answers)
        return results(**{test.rpartition('.')[2]: pair for test in tests})

    return compare([f'nova.Test.{test}' for test in pairs], results(**pairs),
                   repeat)


@pytest.mark.parametrize('outcome', ['passed', 'failed', 'error', 'skipped'])
def test_equal_outcomes_do_not_differ(outcome):
    found = compared([(outcome, outcome)] * REPEATS, a=(outcome, outcome))
    assert not found.differing and not found.unsteady
    assert bool(found.not_passed) == (outcome != 'passed')


@pytest.mark.parametrize('pair', [
    ('passed', 'failed'), ('failed', 'passed'), ('passed', 'skipped'),
    ('failed', 'error'), ('passed', None), (None, 'passed'), (None, None),
    (NOT_RUN, NOT_RUN)])
def test_other_outcomes_differ_if_they_are_repeated(pair):
    found = compared([pair], a=pair, b=('passed', 'passed'))
    assert found.differing == {'nova.Test.a'}


def test_a_test_is_unsteady_only_if_every_repetition_is_equal():
    passed, differs = ('passed', 'passed'), ('passed', 'failed')
    found = compared([passed] * REPEATS, a=differs)
    assert found.unsteady == {'nova.Test.a'} and not found.differing
    for number in range(REPEATS):
        repeated = [passed] * REPEATS
        repeated[number] = differs
        found = compared(repeated, a=differs)
        assert found.differing == {'nova.Test.a'} and not found.unsteady


def test_a_test_that_fails_on_both_is_repeated():
    failed, passed = ('failed', 'failed'), ('passed', 'passed')
    found = compared([passed, failed, passed], a=failed)
    assert found.unsteady == {'nova.Test.a'} and not found.not_passed
    found = compared([passed, ('passed', 'failed')], a=failed)
    assert found.differing == {'nova.Test.a'}


def test_the_text_names_each_exception_and_ends_with_the_numbers():
    lines = report.text(compared(
        [('passed', 'failed')], a=('passed', 'failed'),
        b=('skipped', 'skipped'), c=('passed', 'passed'))).splitlines()
    assert lines == [
        'did not pass on either: nova.Test.b: skipped on stock Nova, '
        'skipped on nova_holistic',
        'DIFFERS: nova.Test.a: passed on stock Nova, failed on '
        'nova_holistic, then passed and failed',
        'nova-compat: 3 tests of Nova, 1 differ, 0 unsteady '
        '(stock Nova: 2 passed, 1 skipped)']


def test_the_reports_contain_every_test(tmp_path):
    found = compared([('passed', 'failed')], a=('passed', 'failed'),
                     b=('skipped', 'skipped'))
    report.write_json(found, tmp_path / 'outcomes.json')
    assert json.loads((tmp_path / 'outcomes.json').read_text()) == {
        'nova.Test.a': {
            'stock': {'outcome': 'passed', 'seconds': 1.5},
            'holistic': {'outcome': 'failed', 'seconds': 1.5}},
        'nova.Test.b': {
            'stock': {'outcome': 'skipped', 'seconds': 1.5},
            'holistic': {'outcome': 'skipped', 'seconds': 1.5}}}
    report.write_details(found, tmp_path / 'failures.log')
    assert '=== nova.Test.a: failed on holistic\nlog\n' in (
        tmp_path / 'failures.log').read_text()
    report.write_junit(found, tmp_path / 'junit.xml')
    assert test_totals.totals(tmp_path / 'junit.xml') == (1, 1, 0)
    case, = ElementTree.parse(tmp_path / 'junit.xml').iterfind(
        './/testcase[failure]')
    assert (case.get('classname'), case.get('name')) == ('nova.Test', 'a')


def test_a_run_without_tests_is_a_failure(tmp_path):
    report.write_junit(compared(), tmp_path / 'junit.xml')
    assert test_totals.totals(tmp_path / 'junit.xml') == (0, 1, 0)


def test_the_short_selection_is_a_part_of_the_full_one():
    for name in selection.SHORT:
        assert name.startswith(selection.FULL)


def test_ci_runs_the_comparison():
    project = pathlib.Path(report.__file__).parents[2]
    assert ' nova-compat ' in (project / '.ci/run').read_text()
    assert ',nova-compat,' in (project / 'tox.ini').read_text()
