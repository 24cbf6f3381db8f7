# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.chaos --seeds 20``, or ``--seed N`` to repeat one."""

import argparse
import sys

from tests.chaos.clouds import chaos_cloud
from tests.chaos.operations import (
    LENGTH, Sequence, sequence, short_sequences)
from tests.chaos.run import Report, run
from tests.chaos.tables import seeds, summary


def main() -> int:
    parser = argparse.ArgumentParser(
        prog='python -m tests.chaos',
        description='Operations of users while processes are killed.')
    which = parser.add_mutually_exclusive_group()
    which.add_argument('--seeds', type=int, default=20,
                       help='run the seeds from 1 to this (%(default)s)')
    which.add_argument('--seed', type=int, help='run this seed only')
    which.add_argument('--short', action='store_true',
                       help='make the three short runs that CI makes')
    parser.add_argument('--operations', type=int, default=LENGTH,
                        help='operations of each seed (%(default)s)')
    args = parser.parse_args()
    planned = _planned(args)
    reports: list[Report] = []
    try:
        while len(reports) < len(planned):
            _run_on_one_cloud(planned, reports)
    finally:
        # An interrupted command also prints the runs that have ended.
        print(summary(reports), flush=True)
    return int(_is_violated(reports))


def _planned(args: argparse.Namespace) -> list[Sequence]:
    if args.short:
        return short_sequences()
    chosen = (range(1, args.seeds + 1) if args.seed is None else [args.seed])
    return [sequence(seed, args.operations) for seed in chosen]


def _run_on_one_cloud(planned: list[Sequence],
                      reports: list[Report]) -> None:
    """Run sequences that have no report yet, until one violates an invariant.
    The directory of that cloud is kept."""
    with chaos_cloud(is_kept=lambda: _is_violated(reports[-1:])) as cloud:
        for each in planned[len(reports):]:
            reports.append(run(cloud, each))
            print(lines_of(reports[-1]), flush=True)
            if reports[-1].violations:
                return


def _is_violated(reports: list[Report]) -> bool:
    return any(report.violations for report in reports)


def lines_of(report: Report) -> str:
    """The row of a seed, and a line for each violation and for each of the
    five most frequent errors."""
    lines = [seeds([report])]
    lines += [f'  {violation}' for violation in report.violations]
    lines += [f'  {count} × {answer}' for answer, count
              in report.answers.most_common(5)]
    return '\n'.join(lines)


if __name__ == '__main__':
    sys.exit(main())
