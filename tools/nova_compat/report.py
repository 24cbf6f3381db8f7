# SPDX-License-Identifier: Apache-2.0
"""A comparison as text, as JSON and as a JUnit report."""

from collections import Counter
import json
import pathlib
from xml.etree import ElementTree

from tools.nova_compat.comparison import Comparison
from tools.nova_compat.pool import MANAGERS


def text(comparison: Comparison) -> str:
    """Return the report for a person: each exception, and a closing line."""
    lines = []
    for title, tests in (
            ('did not pass on either', comparison.not_passed),
            ('unsteady', sorted(comparison.unsteady)),
            ('DIFFERS', sorted(comparison.differing))):
        for test in tests:
            stock, holistic = comparison.of(test)
            again = ''.join(
                f', then {first} and {second}'
                for first, second in comparison.repeated.get(test, ()))
            lines.append(f'{title}: {test}: {stock.outcome} on stock Nova, '
                         f'{holistic.outcome} on nova_holistic{again}')
    lines.append(closing(comparison))
    return '\n'.join(lines)


def closing(comparison: Comparison) -> str:
    """Return the numbers of tests in one line."""
    counts = Counter(
        comparison.of(test)[0].outcome for test in comparison.tests)
    outcomes = ', '.join(
        f'{count} {outcome}' for outcome, count in counts.most_common())
    return (f'nova-compat: {len(comparison.tests)} tests of Nova, '
            f'{len(comparison.differing)} differ, '
            f'{len(comparison.unsteady)} unsteady '
            f'(stock Nova: {outcomes or "none"})')


def write_json(comparison: Comparison, path: pathlib.Path) -> None:
    """Write both outcomes and their seconds by the ID of the test."""
    document = {
        test: {manager: {'outcome': each.outcome, 'seconds': each.seconds}
               for manager, each in zip(MANAGERS, comparison.of(test))}
        for test in comparison.tests}
    path.write_text(json.dumps(document, indent=1) + '\n')


def write_details(comparison: Comparison, path: pathlib.Path) -> None:
    """Write the log and the traceback of each test that did not pass."""
    path.write_text('\n'.join(
        f'=== {each.test}: {each.outcome} on {manager}\n{each.details}\n'
        for test in comparison.tests
        for manager, each in zip(MANAGERS, comparison.of(test))
        if each.outcome != 'passed'))


def write_junit(comparison: Comparison, path: pathlib.Path) -> None:
    """Write one test case for each test, which fails if the outcomes differ.
    """
    suite = ElementTree.Element(
        'testsuite', name='nova-compat', tests=str(len(comparison.tests)),
        failures=str(len(comparison.differing)), errors='0', skipped='0')
    for test in comparison.tests:
        stock, holistic = comparison.of(test)
        name, _, method = test.rpartition('.')
        case = ElementTree.SubElement(
            suite, 'testcase', classname=name, name=method,
            time=f'{stock.seconds + holistic.seconds:.3f}')
        if test in comparison.differing:
            failure = ElementTree.SubElement(
                case, 'failure',
                message=f'{stock.outcome} on stock Nova, '
                        f'{holistic.outcome} on nova_holistic')
            failure.text = _printable(holistic.details or stock.details)
    root = ElementTree.Element('testsuites')
    root.append(suite)
    ElementTree.ElementTree(root).write(path, encoding='utf-8')


def _printable(text: str) -> str:
    """Remove control characters, which XML does not allow."""
    return ''.join(each for each in text if each in '\t\n' or each >= ' ')
