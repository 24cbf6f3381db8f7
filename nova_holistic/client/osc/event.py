# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group event ...``"""

import argparse
import itertools
from typing import Any

from osc_lib.command import command

from nova_holistic.client.osc.command import HolisticCommand
from nova_holistic.client.osc import formatted_columns
from nova_holistic.client.osc.group import with_group

MAX_DIGITS = 18
"""Maximum length of a number in a query of the API."""


class ListEvent(HolisticCommand, command.Lister):
    """List the events of a group and its members"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument('--member', metavar='<path>',
                            help='List only events of this member')
        parser.add_argument('--kind', metavar='<kind>',
                            help='List only events of this kind, for example '
                                 'member.state')
        parser.add_argument('--since', metavar='<time>',
                            help='Leave out events before this time, in ISO '
                                 '8601')
        parser.add_argument('--limit', metavar='<number>', type=_number,
                            help='Maximum number of events to list')
        parser.add_argument('--marker', metavar='<id>', type=_number,
                            help='List the events after this event')
        parser.add_argument('--newest-first', action='store_true',
                            help='Begin with the latest event')
        parser.add_argument('--long', action='store_true',
                            help='List more columns')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        args = parsed_args
        events = self.client().groups.events(
            self.group(args.group)['id'], page=args.limit,
            member=args.member, kind=args.kind, since=args.since,
            marker=args.marker,
            sort_dir='desc' if args.newest_first else None)
        return formatted_columns.rows(list(itertools.islice(events,
                                                            args.limit)),
                                      formatted_columns.EVENTS_LONG
                                      if args.long
                                      else formatted_columns.EVENTS)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > MAX_DIGITS:
        raise argparse.ArgumentTypeError(
            f'not a whole number of at most {MAX_DIGITS} digits')
    return int(text)
