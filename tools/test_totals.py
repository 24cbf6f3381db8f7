# SPDX-License-Identifier: Apache-2.0
"""Add up JUnit reports. A missing report, a report without tests, or a skipped
test is a failure."""

import sys
from xml.etree import ElementTree

LENGTH = 500
"""Maximum number of characters of the message of a failed test."""


def totals(path):
    """Return (passed, failed, skipped) of one report, or (0, 1, 0) if it is
    missing.

    A part that did not run counts as a failure.
    """
    try:
        suites = list(ElementTree.parse(path).getroot().iter('testsuite'))
    except (OSError, ElementTree.ParseError) as error:
        print(f'{path}: no report: {error}', file=sys.stderr)
        return 0, 1, 0
    run = sum(int(suite.get('tests', 0)) for suite in suites)
    failed = sum(int(suite.get(kind, 0)) for suite in suites
                 for kind in ('failures', 'errors'))
    skipped = sum(int(suite.get('skipped', 0)) for suite in suites)
    if not run:
        print(f'{path}: no test ran', file=sys.stderr)
        return 0, 1, 0
    return run - failed - skipped, failed, skipped


def failures(path):
    """Return (name, message) of the failed tests, with names similar to
    pytest's."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter('testcase'))
    except (OSError, ElementTree.ParseError):
        return []
    failed = []
    for case in cases:
        for kind in ('failure', 'error'):
            problem = case.find(kind)
            if problem is not None:
                failed.append((
                    f'{case.get("classname")}::{case.get("name")}',
                    ' '.join(problem.get('message', '').split())[:LENGTH]))
                break
    return failed


def main(paths):
    for path in paths:
        for name, message in failures(path):
            print(f'failed: {name}: {message}')
    counts = [totals(path) for path in paths]
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or skipped else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
