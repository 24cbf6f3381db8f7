# SPDX-License-Identifier: Apache-2.0
"""The current hosts of the servers of groups, from Nova's databases."""

from collections.abc import Collection, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
import functools
from typing import Any

from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
from oslo_log import log as logging
import sqlalchemy as sa

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.server_position import (
    BUILDING, Migration, Position, server_position, ServerRecord)
from nova_holistic.scheduler.hosts import cells, compute_records
from nova_holistic.scheduler import request_memory
from nova_holistic.table.batches import batches
from nova_holistic.table.records import MemberRecord, MemberState

LOG = logging.getLogger(__name__)

OWNED = (MemberState.CLAIMED, MemberState.BUILT, MemberState.FAILED)
"""States of a member whose server counts at its host: see ``AT_HOSTS``."""

_DIRECT = 'cells of planned hosts'
"""Kind of the cache: cells by their UUIDs."""

_SERVER = models.Instance.__table__.c
_COLUMNS = (_SERVER.uuid, _SERVER.host, _SERVER.vm_state, _SERVER.task_state,
            _SERVER.deleted)
_NAMED = sa.select(*_COLUMNS, sa.false().label('changed')).where(
    _SERVER.deleted == 0,
    _SERVER.uuid.in_(sa.bindparam('uuids', expanding=True)))


def _changed(*of_projects: sa.ColumnElement
             ) -> tuple[sa.Select, sa.CompoundSelect]:
    """The statement for changed servers, and that for these and named ones."""
    # Nova has an index of the time and the project.
    changed = sa.select(*_COLUMNS, sa.true().label('changed')).where(
        _SERVER.updated_at >= sa.bindparam('since'), *of_projects).limit(
            sa.bindparam('most', type_=sa.Integer))
    return changed, sa.union_all(sa.select(changed.subquery()), _NAMED)


_OF_ALL = _changed()
# SQLAlchemy would expand a list of one project at each execution.
_OF_ONE_PROJECT = _changed(_SERVER.project_id == sa.bindparam('project'))
_OF_PROJECTS = _changed(_SERVER.project_id.in_(
    sa.bindparam('projects', expanding=True)))
MAX_PROJECTS = 400
"""Maximum number of projects by which one statement selects servers. SQLite
before 3.32 accepts 999 parameters, of which the others take up to
``batches.MAX_BATCH_SIZE`` and two. The servers of more projects are read
together with those of all projects."""


@dataclass(frozen=True, slots=True)
class ServerLocation:
    """The location of a member.

    :ivar position: None if its server is on no host
    :ivar server: the state of its server in Nova's database; None if it has
        none, or if the state is unknown
    :ivar is_settled: whether each later change of the position also changes
        the member's row, or the row of its server and its ``updated_at``
    """

    position: Position | None
    server: ServerRecord | None = None
    is_settled: bool = True


@dataclass(frozen=True, slots=True)
class CellRead:
    """What to read from one cell.

    :ivar rows: members whose servers are read, by the UUID of the server
    :ivar since: naive UTC; servers in ``watched`` that have changed since then
        are read, too. None if they are not read
    :ivar projects: projects of the servers in ``watched``
    :ivar watched: members by the UUID of the server
    :ivar last: last known locations of these members, by the IDs of their rows
    :ivar most: maximum number of changed servers that are read
    """

    rows: Mapping[str, MemberRecord]
    since: datetime | None = None
    projects: frozenset[str] = frozenset()
    watched: Mapping[str, MemberRecord] = FrozenMapping()
    last: Mapping[int, ServerLocation] = FrozenMapping()
    most: int = 0


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """The locations of servers in one cell.

    :ivar found: locations by the UUID of the server: of all servers in
        ``CellRead.rows``, and of those in ``CellRead.watched`` that differ
        from the last known ones
    :ivar is_complete: False if changed servers may be missing
    """

    found: Mapping[str, ServerLocation]
    is_complete: bool = True


def in_cells(context, cells: 'Sequence[objects.CellMapping]',
             wanted: Mapping[str, CellRead]
             ) -> dict[str, CellAnswer | None]:
    """The answers of cells by their UUIDs; None for a cell that does not
    respond. One statement is sent to each cell for
    ``batches.MAX_BATCH_SIZE`` servers, and one for each moving server.

    :param wanted: what to read from each cell, by its UUID
    """
    found: dict[str, CellAnswer | None] = {}
    for uuid, answer in _answers(context, cells, wanted).items():
        found[uuid] = answer
        if nova_context.is_cell_failure_sentinel(answer):
            found[uuid] = None
            LOG.warning(
                'Cell %(cell)s does not respond: members of groups in it are '
                'assumed to be at their last known hosts, and members whose '
                'servers have not been read (%(members)s) at their planned '
                'places', {'cell': uuid, 'members': len(wanted[uuid].rows)})
    return found


def read_directly(cell: 'objects.CellMapping') -> None:
    """Record that the current request reads hosts of this cell, which has no
    timeout. If it reads servers of this cell only, its own thread does."""
    known = request_memory.of_kind(_DIRECT)
    if known is not None:
        known[cell.uuid] = cell


def _answers(context, cells: 'Sequence[objects.CellMapping]',
             wanted: Mapping[str, CellRead]) -> Mapping[str, Any]:
    """The CellAnswer of each cell by its UUID. It is an exception, or Nova's
    sentinel, if the cell does not respond."""
    direct = request_memory.of_kind(_DIRECT) or {}
    if len(cells) != 1 or cells[0].uuid not in direct:
        # With the same timeout as Nova's own queries.
        return nova_context.scatter_gather_cells(
            context, cells, nova_context.CELL_TIMEOUT, _in_cell, wanted)
    # Another thread would take as long as the statement.
    (cell,) = cells
    try:
        return {cell.uuid: _in_cell(
            compute_records.targeted(context, cell), wanted)}
    except Exception as error:
        LOG.exception('Cell %s cannot be read', cell.uuid)
        return {cell.uuid: error}


NOWHERE = ServerLocation(None)
"""The location of a member whose server does not exist or is on no host."""

_NOT_YET = ServerLocation(None, is_settled=False)


@functools.lru_cache(maxsize=16_384)
def at(host: str, is_settled: bool = True) -> ServerLocation:
    """The location of a member that counts at this host."""
    return ServerLocation(Position(host), is_settled=is_settled)


@functools.lru_cache(maxsize=16_384)
def _without_migrations(server: tuple[str | None, str | None, str | None],
                        planned: str, destination: str | None
                        ) -> ServerLocation | None:
    """The location of a server if no migration determines it.

    :param server: the fields of a ServerRecord
    """
    record = ServerRecord(*server)
    # Nova deletes the record of a server without a new date of change only
    # in these states, or in others that have a new date themselves.
    is_settled = record.task_state is None and (
        record.vm_state not in (BUILDING, vm_states.DELETED))
    return None if record.statuses else ServerLocation(
        server_position(record, planned, (), destination), record, is_settled)


def planned(row: MemberRecord) -> ServerLocation:
    """The location of a server that no cell has yet."""
    return at(row.place.host, is_settled=False)


def _in_cell(context, wanted: Mapping[str, CellRead]) -> CellAnswer:
    """The locations of the servers in the cell of the context.

    :param wanted: what to read, by the UUID of the cell
    """
    read = wanted[context.cell_uuid]
    # A cell contains a server only some time after the mapping names the cell.
    found = {uuid: _NOT_YET if row.state == MemberState.CLAIMED else NOWHERE
             for uuid, row in read.rows.items()}
    changed = 0
    for uuid, host, vm_state, task_state, deleted, is_changed in _instances(
            context, read):
        changed += is_changed
        row = read.rows.get(uuid) or read.watched.get(uuid)
        if row is None:
            continue
        seen = NOWHERE if deleted or vm_state == vm_states.SOFT_DELETED else (
            _server_location(context, (host, vm_state, task_state), row))
        if uuid in read.rows or seen is not read.last.get(row.id):
            found[uuid] = seen
    return CellAnswer(found, changed < read.most or read.since is None)


def _server_location(context, values: tuple[str | None, str, str | None],
                     row: MemberRecord) -> ServerLocation:
    destination = row.destination and row.destination.host
    # A server that is not moving costs no query.
    known = _without_migrations(values, row.place.host, destination)
    if known is not None:
        return known
    server = ServerRecord(*values)
    position = server_position(
        server, row.place.host,
        _migrations(context, row.instance_uuid, server.statuses), destination)
    return ServerLocation(position, server, is_settled=False)


def servers_by_cell(context, uuids: Collection[str]
                    ) -> 'list[tuple[objects.CellMapping, list[str]]]':
    """Each cell that has servers, with their UUIDs."""
    found = by_cell_number(context, uuids)
    return [(cell, found[cell.id])
            for cell in cell_mappings(context, found)] if found else []


def by_cell_number(context, uuids: Collection[str]) -> dict[int, list[str]]:
    """The UUIDs of the servers in each cell, by its ID in Nova's database.
    Nova's own list of mappings creates two objects per server."""
    found: dict[int, list[str]] = defaultdict(list)
    for row in cells.of_servers_once(context, uuids):
        if row.cell_id is not None:
            found[row.cell_id].append(row.instance_uuid)
    return found


@api_database.context_manager.reader
def cell_mappings(context, numbers: Collection[int]
                  ) -> 'list[objects.CellMapping]':
    """The cells with these IDs; one query."""
    known = api_models.CellMapping
    return [objects.CellMapping._from_db_object(
        context, objects.CellMapping(), cell) for batch in batches(numbers)
        for cell in context.session.scalars(
            sa.select(known).where(known.id.in_(batch)))]


def _instances(context, read: CellRead) -> Sequence[sa.Row]:
    """UUID, host and states of servers of the context's cell, and whether the
    row was read because the server has changed. Nova's own list reads about
    seventy columns per server."""
    parts = [{'uuids': batch} for batch in batches(read.rows)]
    since = {'since': read.since, 'most': read.most}
    statements = _OF_ALL
    if len(read.projects) == 1:
        statements, (since['project'],) = _OF_ONE_PROJECT, read.projects
    elif len(read.projects) <= MAX_PROJECTS:
        statements, since['projects'] = _OF_PROJECTS, sorted(read.projects)
    changed, changed_or_named = statements
    engine = main_database.get_context_manager(context).reader.get_engine()
    # A session, or a transaction context of enginefacade, would add half the
    # time of a statement.
    with engine.connect() as link:
        if read.since is None:
            found = []
        elif parts:
            found = link.execute(changed_or_named, {
                **since, **parts.pop(0)}).all()
        else:
            found = link.execute(changed, since).all()
        return [*found, *(row for part in parts
                          for row in link.execute(_NAMED, part))]


def _migrations(context, uuid: str, statuses: Sequence[str]
                ) -> list[Migration]:
    return [Migration(migration.id, migration.status, migration.source_compute,
                      migration.dest_compute)
            for migration in objects.MigrationList.get_by_filters(
                context, {'instance_uuid': uuid, 'status': list(statuses)})]
