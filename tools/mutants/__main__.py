# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.mutants``: see the package for the format of the lists."""

import argparse
from collections.abc import Sequence
import pathlib
import sys
import tempfile

from tools.mutants import lists, report
from tools.mutants.mutant import Mutant
from tools.mutants.project_copy import ProjectCopy
from tools.mutants.trial import Status, Trial

PROJECT = pathlib.Path(__file__).parents[2]
LISTS = 'tests/mutants'


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='python -m tools.mutants',
        description='Apply each mutant of tests/mutants/*.yaml to a copy of '
                    'the project, run its tests, and report the mutants that '
                    'no test notices.',
        epilog='Exit code: 0, all were killed; 1, some were not; 2, a list '
               'or the usage is wrong.')
    parser.add_argument(
        'words', nargs='*', metavar='WORD',
        help='only mutants of this list, or whose name or file contains it; '
             'of several words one is enough')
    parser.add_argument('--list', action='store_true',
                        help='print the mutants and run nothing')
    parser.add_argument('--timeout', type=float, default=600,
                        metavar='SECONDS',
                        help='most time of one run of pytest (%(default)s)')
    parser.add_argument('--jobs', type=int, default=1, metavar='N',
                        help='runs of pytest at a time (%(default)s)')
    parser.add_argument('--project', type=pathlib.Path, default=PROJECT,
                        help='work tree of another project')
    args = parser.parse_args(argv)
    if args.jobs < 1 or args.timeout <= 0:
        parser.error('--jobs and --timeout must be greater than 0')
    return args


def chosen(args: argparse.Namespace) -> Sequence[Mutant]:
    """Return the mutants that match the words of the command.

    :raises BadList: a list is wrong, or no mutant matches the words
    """
    mutants = lists.read(args.project / LISTS)
    selected = [mutant for mutant in mutants if not args.words
                or any(mutant.matches(word) for word in args.words)]
    if not selected:
        raise lists.BadList(f'no mutant matches {" or ".join(args.words)}')
    return selected


def try_out(args: argparse.Namespace, mutants: Sequence[Mutant]) -> bool:
    """Run the mutants and print the results; return whether all were killed.
    """
    with tempfile.TemporaryDirectory(prefix='mutants-') as directory:
        copies = [ProjectCopy(args.project, pathlib.Path(directory, str(n)))
                  for n in range(min(args.jobs, len(mutants)))]
        results = Trial(
            copies, args.timeout,
            lambda line: print(line, file=sys.stderr, flush=True)
        ).run(mutants)
    print('\n'.join(report.table(results)))
    return all(result.status == Status.KILLED for result in results)


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments(argv)
    try:
        mutants = chosen(args)
    except lists.BadList as error:
        print(f'tools.mutants: {error}', file=sys.stderr)
        return 2
    if args.list:
        print('\n'.join(report.listing(mutants)))
        return 0
    return 0 if try_out(args, mutants) else 1


if __name__ == '__main__':
    sys.exit(main())
