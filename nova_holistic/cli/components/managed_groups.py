# SPDX-License-Identifier: Apache-2.0
"""The placement table and the life cycle of groups, as commands use them."""

from nova_holistic.cli.components.connections import connect
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.holds.client import HoldClient
from nova_holistic.observers import observe
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.store import PlacementTable


def managed_table(conf) -> PlacementTable:
    """The table as a command uses it.

    :raises BadTransport: the transport of notifications does not exist
    """
    table = PlacementTable.from_conf(conf, 'manage')
    observe(conf, table.database, 'manage')
    return table


def lifecycle(conf, table: PlacementTable) -> Lifecycle:
    """:raises NotConfigured: the options of Placement are invalid"""
    return Lifecycle(
        conf, table, HoldClient.from_conf(conf, connect(conf, 'placement')),
        DatabaseClock(table.database))
