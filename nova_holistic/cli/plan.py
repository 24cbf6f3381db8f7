# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic plan``: a group and an inventory give a plan or reasons."""

import argparse
from collections.abc import Callable, Iterator
import contextlib
from dataclasses import replace
import math
import time

from rich.console import Console
from rich.text import Text

from nova_holistic.cli import answer, exits, interrupt, parameters
from nova_holistic.cli.command import DocumentCommand
from nova_holistic.cli.files import blaming
from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan as Planned
from nova_holistic.model.plan import Unknown, Unplaceable
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.picture.lettering import printable
from nova_holistic.solver.check import check
from nova_holistic.solver.diagnosis.explain import explain
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.solve import solve

_CODES = {Planned: exits.PLANNED, Unplaceable: exits.UNPLACEABLE,
          Unknown: exits.UNKNOWN}

_EXTRAS = 0.1
"""Share of the time limit that each answer to a further question may take at
least, beyond the limit if need be."""


class Plan(DocumentCommand):
    """Place a group on an inventory, all its members at once.

    Exits with 0 planned, 1 unplaceable, 2 bad input or usage, 3 unknown:
    time ran out with neither a plan nor a proof that there is none.
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
            help='stop after this time with the best plan known (default: '
                 '%(default)g)')
        parser.add_argument(
            '--format', default='table', choices=sorted(answer.FORMATS),
            help='of the answer (default: %(default)s)')
        parser.add_argument(
            '--explain', action='store_true',
            help='tell also, for each member, which hosts were open to it '
                 'and what the next best costs')
        parser.add_argument(
            '--relaxations', action='store_true',
            help='tell also, for an unplaceable group, which changes make it '
                 'fit: a policy as a preference, a lower count, more hosts')
        parser.add_argument(
            '--headroom', action='store_true',
            help='tell also how many copies of the group fit')
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        files, start = self.files(), time.monotonic()
        group = written = files.group(args.group, args.parameters)
        snapshot = files.inventory(args.inventory)
        with blaming(args.group):
            group = bind(group, snapshot)
        solving = time.monotonic()
        reading = solving - start
        with self._watched(group, snapshot):
            result = solve(group, snapshot, objective=args.objective,
                           solver=args.solver, time_limit=args.time_limit)
        if isinstance(result, Planned):
            _judge(group, snapshot, result)
        result = replace(result, seconds=FrozenMapping({
            **result.seconds, 'snapshot': reading,
            'total': time.monotonic() - start}))

        def left() -> float:
            return max(args.time_limit - (time.monotonic() - solving),
                       _EXTRAS * args.time_limit)

        with self._watched(group, snapshot):
            extras = _extras(args, written, snapshot, result, left)
        answer.FORMATS[args.format](
            result, group, snapshot, self.app.stdout, extras)
        return _CODES[type(result)]

    @contextlib.contextmanager
    def _watched(self, group: Group, snapshot: Snapshot) -> Iterator[None]:
        """Something to look at, for those who look; and a way out."""
        console = Console(file=self.app.stderr)
        with contextlib.ExitStack() as stack:
            if console.is_terminal:
                stack.enter_context(console.status(Text(printable(
                    f'Placing {len(group.all_members())} members on '
                    f'{len(snapshot.hosts)} hosts'))))
            stack.enter_context(
                interrupt.prompt(lambda: console.show_cursor(True)))
            yield


def _extras(args: argparse.Namespace, group: Group, snapshot: Snapshot,
            result: Planned | Unplaceable | Unknown,
            left: Callable[[], float]) -> answer.Extras:
    """Answers to what else was asked.

    :param group: as its document has it
    :param left: seconds that the next answer may take
    """
    return answer.Extras(
        explain(group, snapshot, result, args.objective, time_limit=left())
        if args.explain and isinstance(result, Planned) else None,
        relax(group, snapshot, reasons=result.reasons, time_limit=left(),
              solver=args.solver)
        if args.relaxations and isinstance(result, Unplaceable) else None,
        headroom(group, snapshot, result, time_limit=left(),
                 solver=args.solver) if args.headroom else None)


class BrokenPlan(Exception):
    """The solver's plan breaks a rule that it was given."""


def _judge(group: Group, snapshot: Snapshot, plan: Planned) -> None:
    """The solver's word is never trusted."""
    broken = check(group, snapshot, plan.hosts())
    if broken:
        raise BrokenPlan('; '.join(
            f'{reason.at}: {reason.message}' for reason in broken))


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        value = float(text)
        if value > 0 and math.isfinite(value):
            return value
    raise argparse.ArgumentTypeError(f'{text!r} is not a number above zero')
