# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic check``: a plan keeps its group; each breach is a line."""

import argparse
from collections.abc import Iterator

from nova_holistic.cli.command import DocumentCommand
from nova_holistic.cli import exits, parameters
from nova_holistic.cli.files import blaming
from nova_holistic.model.binding import bind
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Reason
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.picture.lettering import printable
from nova_holistic.solver import check as judge


class Check(DocumentCommand):
    """Judge a plan, whoever made it.

    Exits with 0 where it is good, 1 where it breaks anything, 2 on bad input
    or usage.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('group', metavar='GROUP',
                            help='group document or Heat template')
        parameters.add_option(parser)
        parser.add_argument('--plan', required=True, metavar='PLAN',
                            help='plan document, as plan --format json writes')
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        files = self.files()
        group = files.group(args.group, args.parameters)
        snapshot = files.inventory(args.inventory)
        plan = files.plan(args.plan)
        with blaming(args.group):
            group = bind(group, snapshot)
        broken = (*_mismatches(group, snapshot, plan),
                  *judge.check(group, snapshot, plan.hosts()))
        for reason in broken:
            line = f'{reason.at}: {reason.message}' if reason.at else \
                reason.message
            self.app.stdout.write(printable(line) + '\n')
        if not broken:
            self.app.stdout.write(
                f'good: {len(plan.placements)} members placed, nothing '
                'broken\n')
        return exits.BROKEN if broken else exits.GOOD


def _mismatches(group: Group, snapshot: Snapshot,
                plan: Plan) -> Iterator[Reason]:
    """Where the plan is not about this group, or not about these hosts."""
    if plan.group != group.name:
        yield Reason('', f'the plan is of group {plan.group!r}, not '
                         f'{group.name!r}')
    hosts = {host.name: host for host in snapshot.hosts}
    for placement in plan.placements:
        host = hosts.get(placement.host)
        if host is None or not placement.location:
            continue
        if host.location != placement.location:
            yield Reason(
                placement.member,
                f'host {host.name} is at {"/".join(host.location)}, not at '
                f'{"/".join(placement.location)}')
