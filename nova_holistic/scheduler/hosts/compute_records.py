# SPDX-License-Identifier: Apache-2.0
"""Compute nodes and their services, read together by one statement; and the
servers of hosts."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timezone
import functools
from typing import Any

from nova import context as nova_context
from nova.db.main import models
from nova import objects
import sqlalchemy as sa

from nova_holistic.scheduler.hosts.list_statement import ListStatement
from nova_holistic.scheduler.hosts.node_record import node_of

_NODE, _SERVICE = models.ComputeNode.__table__, models.Service.__table__
_SERVER = models.Instance.__table__.c


def _nodes_and_services(with_numa: bool) -> ListStatement:
    """Columns of a node, then those of its service."""
    return ListStatement.of_column(sa.select(
        *((sa.null() if column.name == 'numa_topology' and not with_numa
           else column).label(f'node_{column.name}')
          for column in _NODE.columns),
        *(column.label(f'service_{column.name}')
          for column in _SERVICE.columns)
    ).join_from(_NODE, _SERVICE, sa.and_(
        _SERVICE.c.host == _NODE.c.host, _SERVICE.c.binary == 'nova-compute',
        _SERVICE.c.deleted == 0)).where(_NODE.c.deleted == 0), _NODE.c.uuid)


# Statements that are sent for each server are built once. Nova reads nodes and
# services with separate statements, and creates a mapped object for each row.
_NODES_AND_SERVICES = {with_numa: _nodes_and_services(with_numa)
                       for with_numa in (False, True)}
_NODE_KEYS, _SERVICE_KEYS = _NODE.columns.keys(), _SERVICE.columns.keys()
_SERVERS = ListStatement.of_column(sa.select(_SERVER.host, _SERVER.uuid).where(
    _SERVER.deleted == 0), _SERVER.host)


def nodes(context, cell: 'objects.CellMapping', uuids: Collection[str],
          with_numa: bool) -> Mapping[str, tuple[Any, Mapping[str, Any]]]:
    """Compute nodes of a cell, each with the nova-compute service of its host,
    by the UUID of the node.

    One statement reads up to ``batches.MAX_BATCH_SIZE`` nodes. Deleted nodes,
    and nodes without such a service, are left out.

    :param with_numa: whether to read NUMA topologies, which are most of the
        text of a node
    """
    with connection(context, cell) as link:
        found = _NODES_AND_SERVICES[with_numa].rows(link, uuids)
    target = functools.partial(targeted, context, cell)
    return {row.node_uuid: _record(target, row) for row in found}


def servers(context, cell: 'objects.CellMapping', hosts: Collection[str]
            ) -> 'Mapping[str, dict[str, objects.Instance]]':
    """Servers of each host of a cell by their UUIDs, as Nova's HostManager
    passes them to filters.

    As in Nova, the database decides whether a server is on a host. MariaDB
    ignores the case of the host's name by default. If the names of several
    hosts differ only in case, a server is on the host with exactly its name.
    """
    with connection(context, cell) as link:
        rows = _SERVERS.rows(link, hosts)
    target = targeted(context, cell)
    found: 'dict[str, dict[str, objects.Instance]]' = {
        host: {} for host in hosts}
    ignoring_case = {host.casefold(): host for host in hosts}
    for name, uuid in rows:
        host = name if name in found else ignoring_case.get(name.casefold())
        if host is not None:
            found[host][uuid] = objects.Instance(target, uuid=uuid)
    return found


def connection(context, cell: 'objects.CellMapping'):
    """A connection that reads the database of a cell. It has no session, no
    transaction context of enginefacade, and no context of Nova that targets
    the cell: each of them would add half the time of a statement."""
    known = nova_context.CELL_CACHE.get(cell.uuid)
    database = (known[0] if known is not None
                else targeted(context, cell).db_connection)
    return database.reader.get_engine().connect()


def targeted(context, cell: 'objects.CellMapping'):
    """A copy of the context that targets the cell."""
    target = nova_context.RequestContext.from_dict(context.to_dict())
    nova_context.set_target_cell(target, cell)
    return target


def _record(target: Callable[[], Any], row: sa.Row
            ) -> tuple[Any, Mapping[str, Any]]:
    """The compute node and its service.

    :param target: returns a context that targets the cell
    """
    return (node_of(target, dict(zip(_NODE_KEYS, row))),
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
