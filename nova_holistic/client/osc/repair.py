# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group repair``"""

import argparse
from typing import Any

from osc_lib.command import command
from osc_lib import exceptions

from nova_holistic.client.osc import formatted_columns, progress
from nova_holistic.client.osc.group import WaitingCommand, with_group

COLUMNS = ('member', 'instance_uuid', 'source', 'destination')


class RepairGroup(WaitingCommand, command.Lister):
    """Show live migrations that restore a group's hard policies (admin only).

    The servers move one after the other, in the order of the list. Members
    without a source and a destination have no server yet: they are planned
    again. An empty list means that the group satisfies its policies.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument('--apply', action='store_true',
                            help='Carry out the live migrations')
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        groups = self.client().groups
        group = self.group(parsed_args.group)
        repair = groups.repair(group['id'])
        if repair['reasons']:
            raise exceptions.CommandError(
                f'group {group["id"]} cannot be repaired: '
                + '; '.join(formatted_columns.reason_lines(repair['reasons'])))
        if parsed_args.apply and (repair['moves'] or repair['planned_again']):
            self.settled(groups.apply_repair(group['id']), parsed_args)
        return COLUMNS, [
            *(tuple(move[name] for name in COLUMNS)
              for move in repair['moves']),
            *((path, None, None, None) for path in repair['planned_again'])]
