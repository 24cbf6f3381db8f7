# SPDX-License-Identifier: Apache-2.0
"""The servers of members that Nova has deleted."""

from collections.abc import Collection, Mapping, Sequence

from nova import context as nova_context
from nova.db.main import api as main_database
from nova.db.main import models
import sqlalchemy as sa

from nova_holistic.scheduler.hosts import cells
from nova_holistic.scheduler.policies import server_locations
from nova_holistic.table.batches import batches
from nova_holistic.table.records import MemberRecord
from nova_holistic.table.store import PlacementTable


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
    by_cell = server_locations.servers_by_cell(context, uuids)
    there = {cell.uuid: of_cell for cell, of_cell in by_cell}
    answers = nova_context.scatter_gather_cells(
        context, [cell for cell, _ in by_cell], nova_context.CELL_TIMEOUT,
        _deleted_in_cell, there) if by_cell else {}
    for answer in answers.values():
        if not nova_context.is_cell_failure_sentinel(answer):
            found += answer
    return found


def wanted_again(table: PlacementTable, rows: Collection[MemberRecord]
                 ) -> Sequence[MemberRecord]:
    """Those members of a group that may get another server. A member that its
    user has released while it had a server gets none. Cached rows do not show
    this, so the rows are read again."""
    groups = {row.group_uuid for row in rows}
    released = {row.id for group in groups for row in table.members(group)
                if row.unwanted}
    return [row for row in rows if row.id not in released]


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
