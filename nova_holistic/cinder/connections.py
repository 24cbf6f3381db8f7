# SPDX-License-Identifier: Apache-2.0
"""The connection of one cinder-scheduler process to the placement table."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
import threading

from oslo_config import cfg

from nova_holistic.cinder.planned_capacity import PlannedCapacity
from nova_holistic.conf import cinder_scheduler, database
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.store import PlacementTable

CONF = cfg.CONF

_lock = threading.Lock()
_connections: 'Connections | None' = None


@dataclass(frozen=True, slots=True)
class Connections:
    """The objects outside Cinder that the driver, the filter and the weigher
    share.

    :ivar clock: returns the time of the table's database in naive UTC
    :ivar planned: capacity of planned volumes
    """

    table: PlacementTable
    clock: Callable[[], datetime]
    planned: PlannedCapacity


def get() -> Connections:
    """The connections of this process, which the first call creates."""
    global _connections
    with _lock:
        if _connections is None:
            _connections = _make()
        return _connections


def reset() -> None:
    """Discard the connections."""
    global _connections
    with _lock:
        if _connections is not None:
            _connections.table.database.close()
        _connections = None


def register_opts() -> None:
    """Register the options that this package reads from cinder.conf."""
    database.register_opts(CONF)
    cinder_scheduler.register_opts(CONF)


def _make() -> Connections:
    register_opts()
    table = PlacementTable.from_conf(CONF, 'cinder')
    return Connections(
        table, DatabaseClock(table.database), PlannedCapacity(
            table, CONF.holistic_cinder.planned_lifetime,
            CONF.holistic_cinder.outage_lifetime))
