# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic plan``: compute a plan, or the reasons why none exists."""

import argparse
import contextlib
import math

from nova_holistic.cli.command import DocumentCommand
from nova_holistic.cli import parameters

FORMATS = ('json', 'table', 'yaml')


class Plan(DocumentCommand):
    """Place all members of a group on an inventory in one decision.

    Exit code: 0 if the group is planned, 1 if it is unplaceable, 2 for bad
    input or usage, 3 if the time limit was reached with neither a plan nor a
    proof that none exists.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('group', metavar='GROUP',
                            help='group document or Heat template')
        parameters.add_option(parser)
        parser.add_argument(
            '--objective', default='spread', metavar='NAME',
            help='spread (the default), stack, fewest-hosts or network')
        parser.add_argument(
            '--solver', default='highs', metavar='NAME',
            help='highs (the default) or cbc')
        parser.add_argument(
            '--time-limit', default=10.0, type=_seconds, metavar='SECONDS',
            help='stop after this time with the best known plan (default: '
                 '%(default)g); if no plan is known by then, the first plan '
                 'is constructed even if this takes longer, until 5 seconds '
                 'after the start')
        parser.add_argument(
            '--format', default='table', choices=FORMATS,
            help='format of the answer (default: %(default)s)')
        parser.add_argument(
            '--explain', action='store_true',
            help='also show, for each member, which hosts were possible and '
                 'what the next best host costs')
        parser.add_argument(
            '--relaxations', action='store_true',
            help='also show, for an unplaceable group, which changes make it '
                 'fit: a policy as a preference, a lower count, more hosts')
        parser.add_argument(
            '--headroom', action='store_true',
            help='also show how many copies of the group fit')
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        # The solver is imported here, so that --help starts without it.
        from nova_holistic.cli.plan_work import PlanWork
        return PlanWork(self.app, args).run(self.files())


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        value = float(text)
        if value > 0 and math.isfinite(value):
            return value
    raise argparse.ArgumentTypeError(f'{text!r} is not a finite number above '
                                     'zero')
