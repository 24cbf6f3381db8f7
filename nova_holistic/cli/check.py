# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic check``: check a plan against its group, one line per
violation."""

import argparse

from nova_holistic.cli.command import DocumentCommand
from nova_holistic.cli import exits, parameters


class Check(DocumentCommand):
    """Check a plan, from any planner, against its group.

    Exit code: 0 if the plan is valid, 1 if it violates a policy or exceeds the
    capacity of a host, 2 for bad input or usage.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('group', metavar='GROUP',
                            help='group document or Heat template')
        parameters.add_option(parser)
        parser.add_argument('--plan', required=True, metavar='PLAN',
                            help='plan document, as written by plan --format '
                                 'json')
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        # Imported here so that --help starts without the policies.
        from nova_holistic.cli import violations
        from nova_holistic.model.storage_pools import snapshot_for
        from nova_holistic.picture import amounts
        files = self.files()
        group = files.group(
            args.group, args.parameters, args.environments)
        snapshot = snapshot_for(group, files.inventory(args.inventory))
        plan = files.plan(args.plan)
        group = files.bound(args.group, group, snapshot)
        violated = violations.find(group, snapshot, plan)
        violations.write(violated, self.app.stdout)
        if violated:
            return exits.BROKEN
        placed = amounts.counted(len(plan.placements), 'member')
        self.app.stdout.write(
            f'valid: {placed} placed, no policy is violated\n')
        return exits.GOOD
