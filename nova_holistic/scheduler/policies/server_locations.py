# SPDX-License-Identifier: Apache-2.0
"""The current hosts of the servers of groups, from Nova's databases."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
import functools

from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
from oslo_log import log as logging
import sqlalchemy as sa

from nova_holistic.model.nova.server_position import (
    Migration, Position, server_position, ServerRecord)
from nova_holistic.scheduler.hosts import cells
from nova_holistic.table.batches import batches
from nova_holistic.table.records import MemberRecord, MemberState

LOG = logging.getLogger(__name__)

OWNED = (MemberState.CLAIMED, MemberState.BUILT)


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


def positions_of(context, members: Iterable[MemberRecord]
                 ) -> dict[str, Position]:
    """The positions of the members that use capacity, by path.

    An existing server counts at its host in Nova's database, not at its
    planned place. A server that is being moved counts at its source and at its
    destination; the member's row names the destination before Nova's databases
    do. A server that is being built or does not exist yet counts at its
    planned place, and so does each server in a cell that does not answer.

    For ``batches.MAX_BATCH_SIZE`` members, one query reads the mapping of
    servers to cells. If a server is mapped, one query reads the cells, and one
    query is sent to each of them. One further query is sent for each server
    that has a task or waits for the confirmation of its move.

    :param members: members of one group
    """
    rows = {row.id: row for row in members}
    return {rows[number].member.path: found for number, found
            in positions_by_row(context, rows.values()).items()}


def positions_by_row(context, members: Iterable[MemberRecord]
                     ) -> dict[int, Position]:
    """The positions of the members that use capacity, by the IDs of their
    rows. The members may belong to different groups."""
    return {number: seen.position for number, seen
            in locations_by_row(context, members).items()
            if seen.position is not None}


def locations_by_row(context, members: Iterable[MemberRecord]
                     ) -> dict[int, ServerLocation]:
    """The locations of planned, claimed and built members, by the IDs of their
    rows. Members in other states have no location."""
    rows = list(members)
    owned = {row.instance_uuid: row for row in rows if row.state in OWNED}
    found = {row.id: _at(row.place.host) for row in rows
             if row.state == MemberState.PLANNED}
    if owned:
        for uuid, seen in _of_instances(context, owned).items():
            found[owned[uuid].id] = seen
    return found


def _of_instances(context, owned: Mapping[str, MemberRecord]
                  ) -> dict[str, ServerLocation]:
    # A server that no cell has yet counts at its planned place.
    found = {uuid: _planned(row) if row.state == MemberState.CLAIMED
             else _NOWHERE for uuid, row in owned.items()}
    by_cell = _by_cell(context, list(owned))
    if not by_cell:
        return found
    rows = {cell.uuid: {uuid: owned[uuid] for uuid in uuids}
            for cell, uuids in by_cell}
    # With the same timeout as Nova's own queries: a cell that does not respond
    # is left out.
    answers = nova_context.scatter_gather_cells(
        context, [cell for cell, _ in by_cell], nova_context.CELL_TIMEOUT,
        _in_cell, rows)
    for cell_uuid, answer in answers.items():
        if nova_context.is_cell_failure_sentinel(answer):
            LOG.warning(
                'Cell %(cell)s does not respond: members of groups in it, '
                '%(members)s, are assumed to be at their planned places',
                {'cell': cell_uuid, 'members': len(rows[cell_uuid])})
            answer = {uuid: _planned(row)
                      for uuid, row in rows[cell_uuid].items()}
        found.update(answer)
    return found


# Each create locates all members of its group, and most of them are where they
# were for the last create.
_NOWHERE = ServerLocation(None)
_NOT_YET = ServerLocation(None, is_settled=False)


@functools.lru_cache(maxsize=16_384)
def _at(host: str, is_settled: bool = True) -> ServerLocation:
    return ServerLocation(Position(host), is_settled=is_settled)


@functools.lru_cache(maxsize=16_384)
def _without_migrations(server: tuple[str | None, str | None, str | None],
                        planned: str, destination: str | None
                        ) -> ServerLocation | None:
    """The location of a server if no migration determines it.

    :param server: the fields of a ServerRecord
    """
    record = ServerRecord(*server)
    return None if record.statuses else ServerLocation(
        server_position(record, planned, (), destination), record)


def _planned(row: MemberRecord) -> ServerLocation:
    return _at(row.place.host, is_settled=False)


def _in_cell(context, owned: Mapping[str, Mapping[str, MemberRecord]]
             ) -> dict[str, ServerLocation]:
    """The locations of the servers in the cell of the context.

    :param owned: rows by the UUID of the cell and the UUID of the server
    """
    rows = owned[context.cell_uuid]
    # A cell contains a server only some time after the mapping names the cell.
    found = {uuid: _NOT_YET if row.state == MemberState.CLAIMED else _NOWHERE
             for uuid, row in rows.items()}
    for instance in _instances(context, list(rows)):
        found[instance.uuid] = _server_location(context, instance,
                                                rows[instance.uuid])
    return found


def _server_location(context, instance: sa.Row,
                     row: MemberRecord) -> ServerLocation:
    values = instance.host, instance.vm_state, instance.task_state
    destination = row.destination and row.destination.host
    # A server that is not moving costs no query.
    known = _without_migrations(values, row.place.host, destination)
    if known is not None:
        return known
    server = ServerRecord(*values)
    position = server_position(
        server, row.place.host,
        _migrations(context, instance.uuid, server.statuses), destination)
    return ServerLocation(position, server, is_settled=False)


def _by_cell(context, uuids: Collection[str]
             ) -> 'list[tuple[objects.CellMapping, list[str]]]':
    """Each cell that has servers, with their UUIDs. Nova's own list of
    mappings creates two objects per server."""
    found: dict[int, list[str]] = defaultdict(list)
    for row in cells.of_servers_once(context, uuids):
        if row.cell_id is not None:
            found[row.cell_id].append(row.instance_uuid)
    return _with_cells(context, found) if found else []


@api_database.context_manager.reader
def _with_cells(context, found: Mapping[int, list[str]]
                ) -> 'list[tuple[objects.CellMapping, list[str]]]':
    known = api_models.CellMapping
    return [(objects.CellMapping._from_db_object(
        context, objects.CellMapping(), cell), found[cell.id])
        for batch in batches(found)
        for cell in context.session.scalars(
            sa.select(known).where(known.id.in_(batch)))]


@main_database.pick_context_manager_reader
def changed_servers(context, since: datetime, most: int
                    ) -> Mapping[str, ServerRecord | None]:
    """The state of each server of the context's cell that has changed since
    a time, by UUID; None if the server is deleted.

    :param since: naive UTC
    :param most: maximum number of servers; if more have changed, some are
        missing
    """
    found = models.Instance
    return {row.uuid: None if row.deleted or row.vm_state
            == vm_states.SOFT_DELETED else ServerRecord(
                row.host, row.vm_state, row.task_state)
            for row in context.session.execute(sa.select(
                found.uuid, found.host, found.vm_state, found.task_state,
                found.deleted).where(found.updated_at >= since).limit(most))}


@main_database.pick_context_manager_reader
def _instances(context, uuids: Collection[str]) -> Sequence[sa.Row]:
    """UUID, host and states of the servers of the context's cell that are not
    deleted. Nova's own list reads about seventy columns per server."""
    found = models.Instance
    known = sa.select(
        found.uuid, found.host, found.vm_state, found.task_state).where(
            found.deleted == 0,
            found.vm_state.is_distinct_from(vm_states.SOFT_DELETED))
    return [row for batch in batches(uuids) for row
            in context.session.execute(known.where(found.uuid.in_(batch)))]


def _migrations(context, uuid: str, statuses: Sequence[str]
                ) -> list[Migration]:
    return [Migration(migration.id, migration.status, migration.source_compute,
                      migration.dest_compute)
            for migration in objects.MigrationList.get_by_filters(
                context, {'instance_uuid': uuid, 'status': list(statuses)})]


def deleted_servers(context, uuids: Collection[str],
                    created: Collection[str]) -> list[str]:
    """UUIDs of the servers that Nova has deleted. A server in a cell that does
    not answer is left out.

    :param created: those of the servers whose creation has ended. If Nova does
        not know such a server, its records were archived: it is deleted
    """
    if not uuids:
        return []
    known = {row.instance_uuid for row in cells.of_servers(context, uuids)}
    found = [uuid for uuid in created if uuid not in known]
    by_cell = _by_cell(context, uuids)
    there = {cell.uuid: of_cell for cell, of_cell in by_cell}
    answers = nova_context.scatter_gather_cells(
        context, [cell for cell, _ in by_cell], nova_context.CELL_TIMEOUT,
        _deleted_in_cell, there) if by_cell else {}
    for answer in answers.values():
        if not nova_context.is_cell_failure_sentinel(answer):
            found += answer
    return found


@main_database.pick_context_manager_reader
def _deleted_in_cell(context, uuids: Mapping[str, Collection[str]]
                     ) -> list[str]:
    """UUIDs of the deleted servers in the cell of the context.

    :param uuids: UUIDs of servers by the UUID of the cell
    """
    server, wanted = models.Instance, uuids[context.cell_uuid]
    existing = {uuid for batch in batches(wanted)
                for uuid in context.session.scalars(
                    sa.select(server.uuid).where(
                        server.uuid.in_(batch), server.deleted == 0))}
    return [uuid for uuid in wanted if uuid not in existing]
