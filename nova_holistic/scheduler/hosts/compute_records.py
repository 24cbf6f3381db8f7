# SPDX-License-Identifier: Apache-2.0
"""Compute nodes and their services, read together by one statement; and the
servers of hosts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
import sqlalchemy as sa

from nova_holistic.scheduler.hosts.node_record import node_of
from nova_holistic.table.batches import batches

_NODE, _SERVICE = models.ComputeNode.__table__, models.Service.__table__
_SERVER = models.Instance.__table__.c


def _nodes_and_services(with_numa: bool) -> sa.Select:
    """Columns of a node, then those of its service."""
    return sa.select(
        *((sa.null() if column.name == 'numa_topology' and not with_numa
           else column).label(f'node_{column.name}')
          for column in _NODE.columns),
        *(column.label(f'service_{column.name}')
          for column in _SERVICE.columns)
    ).join_from(_NODE, _SERVICE, sa.and_(
        _SERVICE.c.host == _NODE.c.host, _SERVICE.c.binary == 'nova-compute',
        _SERVICE.c.deleted == 0)).where(
            _NODE.c.deleted == 0,
            _NODE.c.uuid.in_(sa.bindparam('uuids', expanding=True)))


# Statements that are sent for each server are built once. Nova reads nodes and
# services with separate statements, and creates a mapped object for each row.
_NODES_AND_SERVICES = {with_numa: _nodes_and_services(with_numa)
                       for with_numa in (False, True)}
_NODE_KEYS, _SERVICE_KEYS = _NODE.columns.keys(), _SERVICE.columns.keys()
_SERVERS = sa.select(_SERVER.host, _SERVER.uuid).where(
    _SERVER.deleted == 0,
    _SERVER.host.in_(sa.bindparam('hosts', expanding=True)))


def nodes(context, uuids: Collection[str], with_numa: bool
          ) -> Mapping[str, tuple[Any, Mapping[str, Any]]]:
    """Compute nodes of the context's cell, each with the nova-compute service
    of its host, by the UUID of the node.

    One statement reads up to ``batches.MAX_BATCH_SIZE`` nodes. Deleted nodes,
    and nodes without such a service, are left out.

    :param with_numa: whether to read NUMA topologies, which are most of the
        text of a node
    """
    with _link(context) as link:
        found = [row for batch in batches(uuids) for row in link.execute(
            _NODES_AND_SERVICES[with_numa], {'uuids': batch}).all()]
    return {row.node_uuid: _record(context, row) for row in found}


def servers(context, hosts: Collection[str]
            ) -> 'Mapping[str, dict[str, objects.Instance]]':
    """Servers of each host by their UUIDs, as Nova's HostManager passes them
    to filters."""
    with _link(context) as link:
        rows = [row for batch in batches(hosts)
                for row in link.execute(_SERVERS, {'hosts': batch})]
    found: 'dict[str, dict[str, objects.Instance]]' = {
        host: {} for host in hosts}
    for host, uuid in rows:
        found[host][uuid] = objects.Instance(context, uuid=uuid)
    return found


def _link(context):
    """A connection that reads the database of the context's cell, without a
    session and without a transaction context of enginefacade: each of them
    would add half the time of a statement."""
    return main_database.get_context_manager(
        context).reader.get_engine().connect()


def _record(context, row: sa.Row) -> tuple[Any, Mapping[str, Any]]:
    """The compute node and its service."""
    return (node_of(context, dict(zip(_NODE_KEYS, row))),
            _service(row[len(_NODE_KEYS):]))


def _service(values: Sequence[Any]) -> Mapping[str, Any]:
    """A service as Nova passes it to filters: the items of
    ``nova.objects.Service``. Creating that object and reading its items takes
    as long as the statement.

    :param values: values of ``_SERVICE_KEYS``
    """
    found = {key: value.replace(tzinfo=timezone.utc)
             if isinstance(value, datetime) else value
             for key, value in zip(_SERVICE_KEYS, values)}
    # The column is an integer.
    found['deleted'] = bool(found['deleted'])
    return found
