# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of the data about all hosts in Nova's databases.

Each database computes its part in one statement, and returns at most three
rows for any number of hosts. Two equal fingerprints mean the same hosts, in
the same aggregates, with the same hosts available for servers.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import nova.conf
from nova import context as nova_context
from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
from oslo_utils import timeutils
import sqlalchemy as sa

CONF = nova.conf.CONF

PRIME = 2**31 - 1
"""Modulus of the hash of row ids; a product of two remainders fits into 63
bits."""

SETTLED = timedelta(seconds=10)
"""Minimum age of the last change of a settled version. Nova dates changes to
the second, by the clock of the service that makes them. Data that were changed
less than this time ago, or dated in the future, may change again without a new
date."""


@dataclass(frozen=True, slots=True)
class CloudVersion:
    """The fingerprint of all hosts.

    :ivar aggregates: fingerprint of all aggregates, their hosts and metadata
    :ivar cells: UUID of each cell, whether the cell is disabled, and the
        fingerprint of its services and compute nodes
    :ivar is_settled: whether each later change results in a different
        fingerprint
    """

    aggregates: tuple[Any, ...]
    cells: tuple[tuple[Any, ...], ...]
    is_settled: bool


def read(context, cells: 'list[objects.CellMapping]') -> CloudVersion:
    """The current version of the cloud. One statement is sent to Nova's API
    database and one to each cell's.

    :param context: context of an administrator
    """
    aggregates, changed_at = _aggregates(context)
    now = timeutils.utcnow()
    found = []
    for cell in cells:
        with nova_context.target_cell(context, cell) as target:
            found.append((cell.uuid, bool(cell.disabled),
                          *_services_and_nodes(target, now)))
    # With another driver, the databases do not show which services are up.
    is_settled = CONF.servicegroup_driver == 'db' and (
        changed_at is None or changed_at < now - SETTLED)
    return CloudVersion(aggregates, tuple(found), is_settled)


@api_database.context_manager.reader
def _aggregates(context) -> tuple[tuple[Any, ...], datetime | None]:
    """The fingerprint, and the time of the last update; None if none is
    known."""
    known = api_models.Aggregate
    metadata = api_models.AggregateMetadata
    members = api_models.AggregateHost
    rows = context.session.execute(sa.union_all(*(
        sa.select(sa.literal(number).label('number'), *_ids(table.id),
                  sa.func.max(table.created_at), sa.func.max(table.updated_at))
        for number, table in enumerate((known, metadata, members))))).all()
    rows = sorted(tuple(row) for row in rows)
    return tuple(rows), max(
        (row[-1] for row in rows if row[-1] is not None), default=None)


@main_database.pick_context_manager_reader
def _services_and_nodes(context, now: datetime) -> tuple[Any, ...]:
    """The fingerprint of the services, of those that take servers, and of the
    compute nodes."""
    service, node = models.Service, models.ComputeNode
    down = timedelta(seconds=CONF.service_down_time)
    # By the same condition as nova.servicegroup's database driver.
    up = sa.and_(
        sa.func.coalesce(service.disabled, sa.false()) == sa.false(),
        sa.func.coalesce(service.forced_down, sa.false()) == sa.false(),
        sa.func.coalesce(service.last_seen_up, service.created_at).between(
            now - down, now + down))
    services = sa.select(
        sa.literal(0).label('number'), *_ids(service.id),
        *_ids(sa.case((up, service.id)))).where(
            service.deleted == 0, service.binary == 'nova-compute')
    nothing = (sa.literal(0) for _ in range(3))
    nodes = sa.select(sa.literal(1), *_ids(node.id), *nothing).where(
        node.deleted == 0)
    return tuple(sorted(tuple(row) for row in context.session.execute(
        sa.union_all(services, nodes))))


def _ids(number) -> tuple[Any, ...]:
    """Values that distinguish sets of row ids: their number, their sum, and
    the sum of their hashes."""
    value = sa.cast(number, sa.BigInteger)
    small = value % PRIME
    cube = small * small % PRIME * small % PRIME
    return (sa.func.count(number), sa.func.sum(value), sa.func.sum(cube))
