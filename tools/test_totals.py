# SPDX-License-Identifier: Apache-2.0
"""Add up JUnit reports; a missing report, no test or a skipped one fails."""

import sys
from xml.etree import ElementTree


def totals(path):
    """(passed, failed, skipped) of one report; (0, 1, 0) where it is missing.

    A part that did not run is counted as a failure, never as nothing.
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
    """Names of the tests that failed, as pytest takes them nearly."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter('testcase'))
    except (OSError, ElementTree.ParseError):
        return []
    return [f'{case.get("classname")}::{case.get("name")}' for case in cases
            if case.find('failure') is not None
            or case.find('error') is not None]


def main(paths):
    for path in paths:
        for name in failures(path):
            print(f'failed: {name}')
    counts = [totals(path) for path in paths]
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or skipped else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
