# SPDX-License-Identifier: Apache-2.0
"""The cells of servers and hosts, according to Nova's API database.

Nova's own objects need four times the processor time for the same data.
"""

from collections.abc import Collection, Sequence
from collections import defaultdict

from nova.db.api import api as api_database
from nova.db.api import models
from nova import objects
import sqlalchemy as sa

from nova_holistic.scheduler.hosts.list_statement import ListStatement
from nova_holistic.scheduler import request_memory

_SERVER = models.InstanceMapping.__table__.c
_HOST, _CELL = models.HostMapping.__table__, models.CellMapping.__table__
_OF_SERVERS = ListStatement.of_column(sa.select(
    _SERVER.instance_uuid, _SERVER.cell_id, _SERVER.queued_for_delete),
    _SERVER.instance_uuid)
_OF_HOSTS = ListStatement.of_column(
    sa.select(_HOST.c.host, _CELL.c.uuid).join_from(
        _HOST, _CELL, _CELL.c.id == _HOST.c.cell_id), _HOST.c.host)
_CELLS_OF_HOSTS = ListStatement.of_column(
    sa.select(_HOST.c.host, *_CELL.c).join_from(
        _HOST, _CELL, _CELL.c.id == _HOST.c.cell_id), _HOST.c.host)


def of_servers_once(context, uuids: Collection[str],
                    others: Collection[str] = ()) -> Sequence[sa.Row]:
    """The rows of ``of_servers``, which may have been read earlier in the same
    request.

    :param others: servers that the request needs later: the same statement
        reads them
    """
    known = request_memory.of_kind('cells')
    if known is None:
        return of_servers(context, uuids)
    missing = [uuid for uuid in dict.fromkeys([*uuids, *others])
               if uuid not in known]
    if missing:
        rows = of_servers(context, missing)
        known.update(dict.fromkeys(missing))
        known.update((row.instance_uuid, row) for row in rows)
    return [row for uuid in uuids if (row := known[uuid]) is not None]


def of_servers(context, uuids: Collection[str]) -> Sequence[sa.Row]:
    """``instance_uuid``, ``cell_id`` and ``queued_for_delete`` of each server
    in the API database. A server that has not been placed yet has no cell."""
    # A session, or a transaction context of enginefacade, would add half the
    # time of a statement.
    with api_database.context_manager.reader.get_engine().connect() as link:
        return _OF_SERVERS.rows(link, uuids)


def with_hosts(context, hosts: Collection[str]
               ) -> 'list[tuple[objects.CellMapping, list[str]]]':
    """Each cell that has some of the hosts, with their names; one statement.
    Nova's own list reads every host of the cloud."""
    with api_database.context_manager.reader.get_engine().connect() as link:
        rows = _CELLS_OF_HOSTS.rows(link, sorted(hosts))
    found: defaultdict[int, list[str]] = defaultdict(list)
    for row in rows:
        found[row.id].append(row.host)
    return [(objects.CellMapping._from_db_object(
        context, objects.CellMapping(), row._mapping), found[row.id])
        for row in {row.id: row for row in rows}.values()]


def learn(context, host_manager, hosts: Collection[str]) -> None:
    """Put the cells of hosts into the cache of Nova's HostManager.

    Nova fills it host by host, with one query for each, and empties it on
    SIGHUP. ``forget`` removes a host that is no longer in its cell.
    """
    known = host_manager.host_to_cell_uuid
    missing = {host for host in hosts if host not in known}
    for host, cell in _of_hosts(context, missing) if missing else ():
        # If Nova does not know the cell yet, it reads the cell later.
        if cell in host_manager.cells:
            known[host] = cell


def forget(host_manager, host: str, cell_uuid: str) -> None:
    """Remove a host that is not in that cell, so that the next request reads
    its cell."""
    if host_manager.host_to_cell_uuid.get(host) == cell_uuid:
        host_manager.host_to_cell_uuid.pop(host, None)


@api_database.context_manager.reader
def _of_hosts(context, hosts: Collection[str]) -> Sequence[sa.Row]:
    return _OF_HOSTS.rows(context.session.connection(), sorted(hosts))
