# SPDX-License-Identifier: Apache-2.0
"""Compute nodes and their services, read together by one statement."""

from collections.abc import Collection, Mapping
from typing import Any

from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
import sqlalchemy as sa

from nova_holistic.table.batches import batches

_NODE, _SERVICE = models.ComputeNode.__table__, models.Service.__table__
_SERVER = models.Instance.__table__.c
_FIRST_OF_SERVICE = len(_NODE.columns)
# Statements that are sent for each server are built once. Nova's own read
# nodes and services one after the other, and make a mapped object of each.
_NODES_AND_SERVICES = sa.select(
    *(column.label(f'node_{column.name}') for column in _NODE.columns),
    *(column.label(f'service_{column.name}') for column in _SERVICE.columns)
).join_from(_NODE, _SERVICE, sa.and_(
    _SERVICE.c.host == _NODE.c.host, _SERVICE.c.binary == 'nova-compute',
    _SERVICE.c.deleted == 0)).where(
        _NODE.c.deleted == 0,
        _NODE.c.uuid.in_(sa.bindparam('uuids', expanding=True)))
_SERVERS = sa.select(_SERVER.host, _SERVER.uuid).where(
    _SERVER.deleted == 0,
    _SERVER.host.in_(sa.bindparam('hosts', expanding=True)))


@main_database.pick_context_manager_reader
def read(context, uuids: Collection[str], hosts: Collection[str]
         ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Compute nodes of the cell that the context is for, each with the
    nova-compute of its host, by the UUID of the node; and servers by their
    UUIDs, by host, as Nova's HostManager tells filters.

    One transaction with one statement, and another one if hosts are given.
    What is deleted, and a node without such a service, is missing.

    :param hosts: whose servers are read
    """
    link = context.session.connection()
    nodes = {row.node_uuid: _record(context, row) for batch in batches(uuids)
             for row in link.execute(_NODES_AND_SERVICES, {'uuids': batch})}
    servers: dict[str, dict[str, objects.Instance]] = {
        host: {} for host in hosts}
    for batch in batches(hosts):
        for host, uuid in link.execute(_SERVERS, {'hosts': batch}):
            servers[host][uuid] = objects.Instance(context, uuid=uuid)
    return nodes, servers


def _record(context, row: sa.Row
            ) -> 'tuple[objects.ComputeNode, objects.Service]':
    return (
        objects.ComputeNode._from_db_object(
            context, objects.ComputeNode(),
            dict(zip(_NODE.columns.keys(), row))),
        objects.Service._from_db_object(
            context, objects.Service(),
            dict(zip(_SERVICE.columns.keys(), row[_FIRST_OF_SERVICE:]))))
