# SPDX-License-Identifier: Apache-2.0
"""The work of ``nova-holistic plan``, apart from its options."""

import argparse
from collections.abc import Callable, Iterator
import contextlib
from dataclasses import replace
import time

from cliff.app import App
from rich.console import Console
from rich.text import Text

from nova_holistic.cli import exits, interrupt
from nova_holistic.cli.files import Files
from nova_holistic.cli.output import answer
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan as Planned
from nova_holistic.model.plan import Unknown, Unplaceable
from nova_holistic.model.storage_pools import snapshot_for
from nova_holistic.picture.text_fitting import printable
from nova_holistic.solver.check import check
from nova_holistic.solver.diagnosis.explain import explain
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

_CODES = {Planned: exits.PLANNED, Unplaceable: exits.UNPLACEABLE,
          Unknown: exits.UNKNOWN}

_EXTRAS = 0.1
"""Minimum share of the time limit for each additional answer, even if the
limit is then exceeded."""


class PlanWork:
    """One run of the command.

    :param app: the application whose streams are written
    """

    def __init__(self, app: App, args: argparse.Namespace):
        self._app = app
        self._args = args

    def run(self, files: Files) -> int:
        """Write the answer; returns the exit code."""
        args, start = self._args, time.monotonic()
        group = written = files.group(
            args.group, args.parameters, args.environments)
        cloud = files.inventory(args.inventory)
        files.must_be_known(args.group, group, cloud)
        snapshot = snapshot_for(group, cloud)
        group = files.bound(args.group, group, snapshot)
        solving = time.monotonic()
        reading = solving - start
        with self._watched(group, snapshot):
            result = solve(
                group, snapshot, objective=args.objective,
                settings=Settings(
                    solver=args.solver, time_limit=args.time_limit))
        if isinstance(result, Planned):
            _check(group, snapshot, result)
        result = replace(result, seconds=FrozenMapping({
            **result.seconds, 'snapshot': reading,
            'total': time.monotonic() - start}))

        def left() -> float:
            return max(args.time_limit - (time.monotonic() - solving),
                       _EXTRAS * args.time_limit)

        with self._watched(group, snapshot):
            extras = _extras(args, written, snapshot, result, left)
        answer.FORMATS[args.format](
            result, group, snapshot, self._app.stdout, extras)
        return _CODES[type(result)]

    @contextlib.contextmanager
    def _watched(self, group: Group, snapshot: Snapshot) -> Iterator[None]:
        """Show progress on a terminal, and let the user interrupt the
        command."""
        console = Console(file=self._app.stderr)
        with contextlib.ExitStack() as stack:
            if console.is_terminal:
                stack.enter_context(console.status(Text(printable(
                    f'Placing {len(group.all_members())} members on '
                    f'{len(snapshot.hosts)} hosts'))))
            stack.enter_context(
                interrupt.handle_promptly(lambda: console.show_cursor(True)))
            yield


def _extras(args: argparse.Namespace, group: Group, snapshot: Snapshot,
            result: Planned | Unplaceable | Unknown,
            left: Callable[[], float]) -> answer.Extras:
    """Answers to the additional questions.

    :param group: the group as its document states it
    :param left: seconds that the next answer may take
    """
    return answer.Extras(
        explain(PlannedGroup(group, snapshot, result), args.objective,
                settings=Settings(time_limit=left()))
        if args.explain and isinstance(result, Planned) else None,
        relax(group, snapshot, reasons=result.reasons,
              settings=Settings(time_limit=left(), solver=args.solver))
        if args.relaxations and isinstance(result, Unplaceable) else None,
        headroom(group, snapshot, result, settings=Settings(
            time_limit=left(), solver=args.solver))
        if args.headroom else None)


class InvalidPlan(Exception):
    """The solver's plan violates a rule that it received."""


def _check(group: Group, snapshot: Snapshot, plan: Planned) -> None:
    """Check the plan independently of the solver."""
    broken = check(group, snapshot, plan.hosts())
    if broken:
        raise InvalidPlan('; '.join(
            f'{reason.at}: {reason.message}' for reason in broken))
