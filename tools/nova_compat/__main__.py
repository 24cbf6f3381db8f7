# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.nova_compat``: see the package."""

import argparse
from collections.abc import Sequence
import pathlib
import sys
import time

from tools.nova_compat.comparison import compare
from tools.nova_compat.pool import Pool
from tools.nova_compat.process import WorkerFailed
from tools.nova_compat import report
from tools.nova_compat.selection import SELECTIONS


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='python -m tools.nova_compat',
        description='Run tests of the installed nova on stock Nova and on '
                    'the scheduler of nova_holistic, and compare the outcome '
                    'of each test.',
        epilog='Exit code: 0, all outcomes are equal; 1, some differ; 2, the '
               'usage is wrong or a module cannot be imported.')
    parser.add_argument(
        'names', nargs='*', metavar='NAME',
        help='package, module, class or test of Nova; the default is a '
             'selection (--effort)')
    parser.add_argument(
        '--effort', choices=SELECTIONS, default='short',
        help='the tests that CI runs, or all (default: %(default)s)')
    parser.add_argument(
        '--jobs', type=int, default=2, metavar='N',
        help='number of processes that run tests (default: %(default)s)')
    parser.add_argument(
        '--timeout', type=float, default=600, metavar='SECONDS',
        help='most time of one test (default: %(default)s)')
    parser.add_argument(
        '--directory', type=pathlib.Path, metavar='PATH',
        default=pathlib.Path('.tox/nova-compat/results'),
        help='folder for the log and for the outcomes as JSON '
             '(default: %(default)s)')
    parser.add_argument('--junitxml', type=pathlib.Path, metavar='PATH',
                        help='write a JUnit report to this file')
    args = parser.parse_args(argv)
    if args.jobs < 1 or args.timeout <= 0:
        parser.error('--jobs and --timeout must be greater than 0')
    return args


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments(argv)
    args.directory.mkdir(parents=True, exist_ok=True)
    log = args.directory / 'tests.log'
    log.unlink(missing_ok=True)
    pool = Pool(args.jobs, log, args.timeout,
                lambda line: print(line, file=sys.stderr, flush=True))
    start = time.monotonic()
    try:
        tests = pool.listing(args.names or SELECTIONS[args.effort])
        comparison = compare(tests, pool.run(tests), pool.run)
    except WorkerFailed as error:
        print(f'tools.nova_compat: {error}', file=sys.stderr)
        return 2
    finally:
        pool.close()
    report.write_json(comparison, args.directory / 'outcomes.json')
    report.write_details(comparison, args.directory / 'failures.log')
    if args.junitxml:
        report.write_junit(comparison, args.junitxml)
    print(report.text(comparison))
    print(f'{time.monotonic() - start:.0f} s with {args.jobs} processes; '
          f'outcomes and log are in {args.directory}')
    return 1 if comparison.differing or not tests else 0


if __name__ == '__main__':
    sys.exit(main())
