# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group update``"""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from osc_lib.command import command

from nova_holistic.client.osc.definition_file import DefinitionFile
from nova_holistic.client.osc import formatted_columns, progress
from nova_holistic.client.osc.group import (
    change_failed, WaitingCommand, with_group)


class UpdateGroup(WaitingCommand, command.ShowOne, DefinitionFile):
    """Update a group, including members that have servers.

    The field actions shows what each of these servers requires: resize,
    migrate, rebuild or nothing, in an order that satisfies the policies of the
    group at each step. With --apply, an engine carries out these actions, one
    after the other, and stops at the first failure. The same command continues
    them.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            '--apply', action='store_true',
            help='Carry out the actions that the servers require (admin '
                 'only); without a file, for the current definition')
        parser.add_argument(
            '--objective', metavar='<name>',
            help='Objective that plans optimise from now on')
        parser.add_argument(
            '--revision', metavar='<number>', type=int,
            help='Revision on which the change is based (default: the newest)')
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        document = None
        if parsed_args.file is not None or not (
                parsed_args.apply or parsed_args.objective):
            document = self.definition(parsed_args)
        groups = self.client().groups
        before = self.group(parsed_args.group)
        revision = parsed_args.revision
        group = groups.change(
            before['id'], document or before['definition'],
            before['revision'] if revision is None else revision,
            objective=parsed_args.objective, apply=parsed_args.apply)
        group = self.settled(group, parsed_args, before['revision'])
        actions = groups.actions(group['id'])
        if parsed_args.wait and group['reasons'] and _has_unfinished(
                group, actions, parsed_args.apply):
            raise change_failed(group)
        return formatted_columns.fields(
            {**group, 'actions': actions},
            (*formatted_columns.GROUP, 'actions'))


def _has_unfinished(group: Mapping[str, Any],
                    actions: Sequence[Mapping[str, Any]],
                    apply: bool) -> bool:
    """Whether the reasons of a group may be about actions, and not only about
    servers that are missing.

    :param apply: whether the actions had to be carried out
    """
    if not actions:
        # The actions of the servers are not known.
        return 'built' in group['members']
    unfinished = {'blocked', 'failed', *(
        ('required', 'started') if apply else ())}
    return any(action['state'] in unfinished for action in actions)
