# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-manage``: commands that an operator runs by hand or from
cron.

Each command imports the parts of the engine that it uses when it runs: all of
them take longer to import than most commands take to run.
"""

import argparse
from collections.abc import Sequence
import importlib.metadata
import sys

from oslo_config import cfg
from oslo_log import log as logging

from nova_holistic.cli.components.errors import NotConfigured
from nova_holistic.cli import exits, interrupt
from nova_holistic.cli.files import BadFile
from nova_holistic.cli.manage_commands.command import Command, CommandResult
from nova_holistic.cli.manage_commands import (
    federation, group, hold, inventory, purge, refusal)
from nova_holistic import conf as options
from nova_holistic.conf import log_setup, services, unreadable_files
from nova_holistic import exceptions
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.picture.text_fitting import printable
from nova_holistic.table.database import make_directory
from nova_holistic.table import errors as table_errors
from nova_holistic.table import migration
from nova_holistic.table import startup_check
from nova_holistic.topology.option_file import UnreadableFile

FAILED = 1

_BAD_INPUT = (
    cfg.Error, NotConfigured, BadFile, exceptions.InvalidDocument,
    exceptions.UnknownPlugin, UnreadableFile, table_errors.GroupUnknown,
    table_errors.InvalidConnection, table_errors.InvalidUrl,
    table_errors.MemberUnknown)
"""An error that the operator must correct, independent of the state of the
cloud."""


def db_upgrade(conf) -> CommandResult:
    """bring the placement table's schema up to date"""
    startup_check.check_url(conf)
    make_directory(conf.holistic_database.connection)
    migration.upgrade(startup_check.connected(conf))
    return db_version(conf)


def db_version(conf) -> CommandResult:
    """show the schema's version, and the one this code expects"""
    version = migration.version(startup_check.connected(conf))
    return CommandResult(f'{version or "empty"} (expected {migration.head()})')


def lease_expire(conf) -> CommandResult:
    """free the planned capacity of groups whose lease has expired"""
    from nova_holistic.cli.components import managed_groups
    lifecycle = managed_groups.lifecycle(
        conf, managed_groups.managed_table(conf))
    return CommandResult('\n'.join(lifecycle.expire()))


def reconcile(conf) -> CommandResult:
    """run one pass of the reconciler, which repairs the results of crashes;
    prints how often each case occurred"""
    from nova_holistic.cli.components import (
        engine_components, managed_groups)
    reconciler = engine_components.reconciler(
        conf, managed_groups.managed_table(conf))
    # A pass only logs that Placement does not answer, because an engine
    # repeats it. The command fails instead.
    engine_components.must_reach_placement(conf)
    text = '\n'.join(f'{case}: {count}' for case, count
                     in sorted(reconciler.reconcile().items()))
    try:
        engine_components.must_reach_nova(conf)
    except ServiceFailed as error:
        # Without Nova, a pass restores holds, but checks no servers.
        return CommandResult(text, FAILED, str(error))
    return CommandResult(text)


COMMANDS = {
    ('db', 'upgrade'): Command(db_upgrade, any_schema=True),
    ('db', 'version'): Command(db_version, any_schema=True),
    ('lease', 'expire'): Command(lease_expire),
    ('reconcile',): Command(reconcile),
    **federation.COMMANDS,
    **group.COMMANDS,
    **purge.COMMANDS,
    **hold.COMMANDS,
    **refusal.COMMANDS,
    **inventory.COMMANDS,
}

_NOUNS = {
    'db': "create or upgrade the schema of the project's database",
    'lease': 'expire leases of groups',
    'federation': 'repair the database of a parent of a federation',
    'group': 'manage groups of any project on the live cloud',
    'hold': 'inspect the allocations in Placement that reserve capacity for '
            'planned members',
    'refusal': "manage the stored refusals of hosts by Nova's filters",
    'inventory': 'export the live cloud for offline plans',
}
"""The help of each command that has sub-commands."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    try:
        return _run(argv)
    except KeyboardInterrupt:
        return interrupt.SIGINT


def _run(argv: Sequence[str] | None) -> int:
    try:
        conf = _configured(argv)
        options.check_values(conf)
        if not conf.command.any_schema:
            startup_check.check_schema_usable(conf)
    except (cfg.Error, exceptions.HolisticError) as error:
        _print_error(error)
        return exits.BAD_INPUT
    try:
        result = conf.command.run(conf)
    except (cfg.Error, exceptions.HolisticError) as error:
        _print_error(error)
        return exits.BAD_INPUT if isinstance(error, _BAD_INPUT) else FAILED
    if result.text:
        print(result.text)
    if result.error:
        _print_error(exceptions.HolisticError(result.error))
    return result.code


def _configured(argv: Sequence[str] | None) -> cfg.ConfigOpts:
    """The configuration, with the command and its arguments."""
    conf = cfg.ConfigOpts()
    logging.register_options(conf)
    options.register_opts(conf)
    services.register_opts(conf)
    conf.register_cli_opt(cfg.SubCommandOpt(
        'command', title='commands', handler=_add_commands))
    with unreadable_files.as_configuration_errors():
        conf(sys.argv[1:] if argv is None else list(argv),
             project='nova-holistic', prog='nova-holistic-manage',
             version=importlib.metadata.version('nova_holistic'))
    _log_to_stderr(conf)
    return conf


def _print_error(error: Exception) -> None:
    """One line per mistake of a document."""
    mistakes = (error.mistakes if isinstance(
        error, exceptions.InvalidDocument) else (error,))
    for mistake in mistakes:
        for line in str(mistake).split('\n'):
            result = printable(' '.join(line.split()))
            if result:
                print(f'nova-holistic-manage: {result}', file=sys.stderr)


def _log_to_stderr(conf) -> None:
    """Standard output contains only answers, so logs go to standard error."""
    conf.set_default('use_stderr', True)
    conf.set_default('default_log_levels', [
        *logging.get_default_log_levels(), 'alembic=WARN',
        'oslo_service=WARN'])
    log_setup.set_up(conf)


def _add_commands(commands: argparse._SubParsersAction) -> None:
    commands.required = True
    nouns: dict[str, argparse._SubParsersAction] = {}
    for words, command in COMMANDS.items():
        noun, *verb = words
        if not verb:
            _add_command(commands, noun, command)
            continue
        if noun not in nouns:
            nouns[noun] = _add_parser(
                commands, noun, _NOUNS[noun]).add_subparsers(
                    title='commands', required=True, metavar='COMMAND')
        _add_command(nouns[noun], verb[0], command)


def _add_command(commands, name: str, command: Command) -> None:
    parser = _add_parser(commands, name, command.run.__doc__)
    command.arguments(parser)
    parser.set_defaults(run=command.run, any_schema=command.any_schema)


def _add_parser(commands, name: str, text: str) -> argparse.ArgumentParser:
    """A parser whose own help and whose entry in the list of commands have
    the same text."""
    return commands.add_parser(
        name, help=text, description=f'{text[0].upper()}{text[1:]}.')
