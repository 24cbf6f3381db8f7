# SPDX-License-Identifier: Apache-2.0
"""Replacement of Nova's scheduler by ours, in a process that runs Nova's
tests."""

import pathlib

from tools.nova_compat.configuration import Defaults


def install(directory: pathlib.Path) -> Defaults:
    """Replace every scheduler of this process by nova-holistic-scheduler.

    Import ``nova.tests`` first.

    :param directory: folder of the placement table of this process
    :return: the options that nova.conf.excerpt sets
    """
    import nova.conf
    from nova_holistic import conf
    from nova_holistic.scheduler import driver
    from nova_holistic.table import migration

    configuration = nova.conf.CONF
    conf.register_opts(configuration)
    connection = f'sqlite:///{directory / "table.sqlite"}'
    migration.upgrade(connection)
    driver.install()
    _replace_class()
    _open_table_once(connection)
    return {
        ('holistic_database', 'connection'): connection,
        ('topology', 'levels'): ['az', 'rack', 'host'],
        **{('filter_scheduler', name): [
            *configuration.filter_scheduler[name], value]
           for name, value in (
               ('available_filters',
                'nova_holistic.scheduler.filters.all_filters'),
               ('enabled_filters', 'HolisticGroupFilter'),
               ('weight_classes',
                'nova_holistic.scheduler.weights.all_weighers'))}}


def _replace_class() -> None:
    """Replace the class, because Nova's unit tests create the manager by its
    name."""
    from nova.scheduler import manager
    from nova_holistic.scheduler.manager import HolisticSchedulerManager

    manager.SchedulerManager = HolisticSchedulerManager


def _open_table_once(connection: str) -> None:
    """Check and open the placement table now instead of in each test.

    A manager checks the table when it is created, and reads it for each
    server. Nova's unit tests create the manager under a fixture that forbids
    all use of oslo.db, to protect Nova's databases.
    """
    import nova.conf
    from nova_holistic.scheduler import connections
    from nova_holistic.table import startup_check

    configuration = nova.conf.CONF
    configuration.set_override(
        'connection', connection, group='holistic_database')
    startup_check.check_schema_usable(configuration)
    table = connections.PlacementTable.from_conf(configuration, 'scheduler')
    # A connected engine is used without any forbidden call.
    table.database.engine.connect().close()
    configuration.clear_override('connection', group='holistic_database')
    startup_check.check_schema_usable = lambda conf: None
    connections.PlacementTable.from_conf = lambda conf, service: table
