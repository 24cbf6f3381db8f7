# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group create --boot``, ``group boot`` and ``group
rollback``."""

import argparse
from collections.abc import Callable, Mapping, Sequence
import hashlib
import json
from typing import Any
import uuid

from keystoneauth1.session import Session
from osc_lib.command import command
from osc_lib import exceptions

from nova_holistic.client.boot.cloud_parts import (
    boot_parts, CloudPart, CloudServers, parts_of)
from nova_holistic.client.boot.compute import Compute
from nova_holistic.client.boot.group_boot import GroupBoot
from nova_holistic.client.boot.member_boot import Report
from nova_holistic.client.boot.outcome import (
    failure_table, Outcome, Settings)
from nova_holistic.client.boot.rollback import Rollback
from nova_holistic.client.client import Client
from nova_holistic.client.clouds import has_children, placements_with_clouds
from nova_holistic.client import errors
from nova_holistic.client.osc import boot_progress, formatted_columns, progress
from nova_holistic.client.osc.cloud_sessions import compute_of
from nova_holistic.client.osc.command import (
    BadInput, HolisticCommand, UNPLACED)
from nova_holistic.documents.servers.positions import (
    positions_without_server)
from nova_holistic.exceptions import HolisticError

_DEFAULT = Settings()
_MOST = 100
_CONNECTIONS = 10
"""requests' own default."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of commands that create servers."""
    parser.add_argument(
        '--parallel', metavar='<number>', type=_number(1, _MOST),
        default=_DEFAULT.parallel,
        help='Number of servers that are created or deleted at the same '
             f'time (default: {_DEFAULT.parallel})')
    parser.add_argument(
        '--retries', metavar='<number>', type=_number(0, _MOST),
        default=_DEFAULT.retries,
        help='Number of further attempts for a server that fails. The failed '
             'server is deleted first, and its place is held again '
             f'(default: {_DEFAULT.retries})')


def add_create_options(parser: argparse.ArgumentParser) -> None:
    """The options of a command that creates a group with its servers."""
    parser.add_argument(
        '--boot', action='store_true',
        help='Also create the servers of all members, and wait until they are '
             'active. Repeat the command to continue after an interruption')
    parser.add_argument(
        '--rollback', action='store_true',
        help='With --boot, delete the group and its servers if a server '
             'cannot be created, or if the command is interrupted by Ctrl-C; '
             'not if the group had servers before the command')
    add_options(parser)


def idempotency_key(args: argparse.Namespace, document: Mapping[str, Any],
                    request: Mapping[str, Any]) -> str:
    """The key of a create, unless the user chose one.

    With --boot, the same request has the same key, so that a repeated command
    continues with the same group.

    :raises BadInput: the options or the document do not fit
    """
    if not args.boot:
        if args.rollback:
            raise BadInput('--rollback needs --boot')
        return (str(uuid.uuid4()) if args.idempotency_key is None
                else args.idempotency_key)
    group = document.get('group', document)
    missing = [] if 'adopt' in group else [*positions_without_server(group)]
    if missing:
        raise BadInput(
            f'{missing[0]}: --boot needs the key server in the descriptions '
            'of all members')
    text = json.dumps([group, request], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return (f'boot-{digest}' if args.idempotency_key is None
            else args.idempotency_key)


class Booting:
    """Creates and deletes the servers of groups for one command.

    :param manager: osc_lib.clientmanager.ClientManager
    :param args: with the options of ``add_options``, and the timeout
    """

    def __init__(self, client: Client, manager: Any,
                 args: argparse.Namespace):
        _allow_connections(manager.session, args.parallel)
        self._client = client
        self._groups = client.groups
        self._manager = manager
        self._compute = Compute(manager.session, interface=manager.interface,
                                region_name=manager.region_name)
        self._settings = Settings(args.parallel, args.retries, args.timeout)
        self._rollback = getattr(args, 'rollback', False)

    def boot(self, group: Mapping[str, Any]) -> dict[str, Any]:
        """The group, when all its servers are active.

        :raises CommandError: a server has failed, the group has no plan, or
            the command is interrupted
        """
        try:
            return self._boot(group)
        except KeyboardInterrupt as error:
            raise exceptions.CommandError(
                f'interrupted; to continue: openstack holistic group boot '
                f'{group["id"]}; {_to_delete(group)}') from error

    def boot_created(self, group: Mapping[str, Any]) -> dict[str, Any]:
        """Boot a group that the same command created or found.

        :raises CommandError: as in ``boot``; with --rollback, the group and
            its servers are deleted, unless servers existed before
        """
        if not self._rollback:
            return self.boot(group)
        earlier = None
        try:
            earlier = self._number_of_servers(group)
            return self._boot(group)
        except (exceptions.CommandError, HolisticError,
                KeyboardInterrupt) as error:
            raise exceptions.CommandError(
                f'{str(error) or "interrupted"}\n'
                f'{self._rolled_back(group, earlier)}') from error

    def roll_back(self, group: Mapping[str, Any]) -> int:
        """Delete the group and the servers that were created for it.

        :raises CommandError: the timeout is over, and servers still exist; or
            the command is interrupted
        """
        try:
            return Rollback(
                self._groups, self._servers(group), self._settings.parallel,
                self._settings.timeout).roll_back(group['id'])
        except (errors.TimedOut, KeyboardInterrupt) as error:
            raise exceptions.CommandError(
                f'group {group["id"]} is not rolled back: '
                f'{str(error) or "interrupted"}; repeat: openstack holistic '
                f'group rollback {group["id"]}') from error

    def _boot(self, group: Mapping[str, Any]) -> dict[str, Any]:
        with (progress.timeout_as_error(f'group {group["id"]}'),
              progress.bar(group['name']) as report):
            group = self._groups.wait(group['id'], self._settings.timeout,
                                      report)
        if group['status'] in UNPLACED:
            raise exceptions.CommandError(
                f'group {group["id"]} is {group["status"]}: ' + '; '.join(
                    formatted_columns.reason_lines(group['reasons'])))
        parts = self._parts(group)
        with boot_progress.shown(group['name']) as boot_report:
            outcomes = self._outcomes(group, parts, boot_report.begin)
        failed = [outcome for outcome in outcomes if outcome.error]
        if failed:
            raise exceptions.CommandError(
                f'{len(failed)} of {len(outcomes)} servers of group '
                f'{group["id"]} are not active:\n{failure_table(failed)}')
        return self._groups.get(group['id'])

    def _rolled_back(self, group: Mapping[str, Any],
                     earlier: int | None) -> str:
        """Roll back, and return a sentence about the result.

        :param earlier: number of servers that existed before this command;
            None if it has created none, and the number is not known
        """
        try:
            if earlier is None:
                earlier = self._number_of_servers(group)
            if not earlier:
                return (f'rolled back: {self.roll_back(group)} servers and '
                        f'group {group["id"]} are deleted')
            cause = f'{earlier} servers existed before this command'
        except exceptions.CommandError as error:
            return str(error)
        except HolisticError as error:
            cause = str(error)
        return f'not rolled back: {cause}; {_to_delete(group)}'

    def _number_of_servers(self, group: Mapping[str, Any]) -> int:
        return len(self._servers(group).of_group(group['id']))

    def _outcomes(self, group: Mapping[str, Any],
                  parts: Mapping[CloudPart, Compute],
                  begin: Callable[[int], Report]) -> Sequence[Outcome]:
        if parts:
            return boot_parts(self._client, group, parts, self._settings,
                              begin)
        return GroupBoot(self._groups, self._compute, self._settings).boot(
            group, begin)

    def _parts(self, group: Mapping[str, Any]) -> Mapping[CloudPart, Compute]:
        """The parts in the clouds of a federation; none if the API is not a
        parent.

        :raises CommandError: the user's configuration does not have a cloud
        """
        return {part: compute_of(self._manager, part.cloud)
                for part in parts_of(placements_with_clouds(
                    self._client, group['id']))}

    def _servers(self, group: Mapping[str, Any]) -> Compute | CloudServers:
        """The servers of the group, wherever they are."""
        parts = self._parts(group)
        if parts or has_children(self._client):
            return CloudServers(parts)
        return self._compute


class BootGroup(HolisticCommand, command.ShowOne):
    """Create the servers of a group's planned members

    The key ``server`` of a member description contains the request. Servers
    that exist already are recognised: repeat the command to continue after an
    interruption.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('group', metavar='<group>',
                            help='Name or ID of the group')
        add_options(parser)
        progress.add_timeout(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        group = self.group(parsed_args.group)
        booted = Booting(self.client(), self.app.client_manager,
                         parsed_args).boot(group)
        return formatted_columns.fields(booted, formatted_columns.GROUP)


class RollBackGroup(HolisticCommand, command.Command):
    """Delete a group and the servers that were created for it

    All servers that ``group create --boot`` and ``group boot`` created for the
    group are deleted. Other servers of the group are not affected.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('group', metavar='<group>',
                            help='Name or ID of the group')
        parser.add_argument(
            '--parallel', metavar='<number>', type=_number(1, _MOST),
            default=_DEFAULT.parallel,
            help='Number of servers that are deleted at the same time '
                 f'(default: {_DEFAULT.parallel})')
        parser.set_defaults(retries=0)
        progress.add_timeout(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        group = self.group(parsed_args.group)
        Booting(self.client(), self.app.client_manager,
                parsed_args).roll_back(group)


def _to_delete(group: Mapping[str, Any]) -> str:
    return ('to delete the group and its servers: openstack holistic group '
            f'rollback {group["id"]}')


def _allow_connections(session: Session, number: int) -> None:
    """Let as many threads keep their connections. Otherwise urllib3 closes
    connections above ten, with a warning for each."""
    # The adapters remain, with the user's settings of TLS.
    for scheme in ('http://', 'https://'):
        session.session.get_adapter(scheme).init_poolmanager(
            _CONNECTIONS, max(_CONNECTIONS, number))


def _number(least: int, most: int):
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f'{text!r} is not a number from {least} to {most}')
        return int(text)
    return read
