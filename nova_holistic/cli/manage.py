# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-manage``: what an operator does by hand, or from cron."""

import argparse
from collections.abc import Sequence
import importlib.metadata
import sys

from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from nova_holistic.cli.connect import connect
from nova_holistic import conf as options
from nova_holistic.conf import services
from nova_holistic.engine.instances import NovaInstances
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.reconciler import Reconciler
from nova_holistic import exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory import load_inventory
from nova_holistic.table import migration
from nova_holistic.table.store import PlacementTable

FAILED = 1
BAD_USAGE = 2


def db_upgrade(conf) -> str:
    """bring the placement table's schema up to date"""
    migration.upgrade(conf.holistic_database.connection)
    return db_version(conf)


def db_version(conf) -> str:
    """show the schema's version, and the one this code expects"""
    found = migration.version(conf.holistic_database.connection)
    return f'{found or "empty"} (expected {migration.head()})'


def lease_expire(conf) -> str:
    """free what is planned in groups whose lease has passed"""
    lifecycle = Lifecycle(
        conf, PlacementTable.from_conf(conf),
        HoldClient.from_conf(conf, connect(conf, 'placement')),
        timeutils.utcnow)
    return '\n'.join(lifecycle.expire())


def reconcile(conf) -> str:
    """mend what crashes left, once; prints how often each case was met"""
    placement, nova = connect(conf, 'placement'), connect(conf, 'nova')
    reconciler = Reconciler(
        conf, load_inventory(conf, placement=placement, compute=nova),
        PlacementTable.from_conf(conf), HoldClient.from_conf(conf, placement),
        NovaInstances(nova), timeutils.utcnow)
    return '\n'.join(f'{case}: {count}' for case, count
                     in sorted(reconciler.reconcile().items()))


COMMANDS = {
    ('db', 'upgrade'): db_upgrade,
    ('db', 'version'): db_version,
    ('lease', 'expire'): lease_expire,
    ('reconcile',): reconcile,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    conf = cfg.ConfigOpts()
    logging.register_options(conf)
    options.register_opts(conf)
    services.register_opts(conf)
    conf.register_cli_opt(cfg.SubCommandOpt(
        'command', title='commands', handler=_add_commands))
    try:
        conf(sys.argv[1:] if argv is None else list(argv),
             project='nova-holistic', prog='nova-holistic-manage',
             version=importlib.metadata.version('nova_holistic'))
        _log_to_stderr(conf)
        told = conf.command.run(conf)
    except (cfg.Error, exceptions.HolisticError) as error:
        print(f'nova-holistic-manage: {error}', file=sys.stderr)
        return BAD_USAGE if isinstance(error, cfg.Error) else FAILED
    if told:
        print(told)
    return 0


def _log_to_stderr(conf) -> None:
    """Standard output is for answers."""
    conf.set_default('use_stderr', True)
    conf.set_default('default_log_levels', [
        *logging.get_default_log_levels(), 'alembic=WARN'])
    logging.setup(conf, 'nova-holistic')


def _add_commands(commands: argparse._SubParsersAction) -> None:
    commands.required = True
    nouns: dict[str, argparse._SubParsersAction] = {}
    for words, run in COMMANDS.items():
        noun, *verb = words
        if not verb:
            _add_command(commands, noun, run)
            continue
        if noun not in nouns:
            nouns[noun] = commands.add_parser(noun).add_subparsers(
                title='commands', required=True, metavar='COMMAND')
        _add_command(nouns[noun], verb[0], run)


def _add_command(commands, name, run) -> None:
    commands.add_parser(name, help=run.__doc__).set_defaults(run=run)
