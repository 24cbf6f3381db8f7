# SPDX-License-Identifier: Apache-2.0
"""Where the servers of a group really are."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections import defaultdict

from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
from oslo_log import log as logging
import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.records import MemberRecord, MemberState

LOG = logging.getLogger(__name__)

OWNED = (MemberState.CLAIMED, MemberState.BUILT)
MOVING = ['accepted', 'queued', 'preparing', 'running', 'pre-migrating',
          'migrating', 'post-migrating']
"""Statuses of Nova's migrations that have not ended one way or the other."""


def hosts_of(context, members: Iterable[MemberRecord]) -> dict[str, str]:
    """Path to host name, of every member that takes up room.

    A server that exists is where Nova says, wherever it was planned, and one
    that moves is where it is going; one that is still to come, or being
    built, is at its planned place; and so is every one in a cell that does
    not answer. For ``batches.MOST`` members there is one query of the mapping
    of servers to cells; if any is mapped, one of the cells and one for each
    of them; and one for each server that Nova is at work on.
    """
    rows = {row.id: row for row in members}
    return {rows[number].member.path: host for number, host
            in hosts_by_row(context, rows.values()).items()}


def hosts_by_row(context, members: Iterable[MemberRecord]) -> dict[int, str]:
    """The same for members of whatever groups, by the ids of their rows."""
    rows = list(members)
    owned = {row.instance_uuid: row for row in rows if row.state in OWNED}
    hosts = {row.id: row.place.host for row in rows
             if row.state == MemberState.PLANNED}
    if owned:
        for uuid, host in _hosts_of_instances(context, owned).items():
            if host is not None:
                hosts[owned[uuid].id] = host
    return hosts


def _hosts_of_instances(context, owned: Mapping[str, MemberRecord]
                        ) -> dict[str, str | None]:
    # Until a cell knows better, a server being created is where it is planned.
    hosts = {uuid: row.place.host if row.state == MemberState.CLAIMED else None
             for uuid, row in owned.items()}
    cells = _by_cell(context, list(owned))
    if not cells:
        return hosts
    rows = {cell.uuid: {uuid: owned[uuid] for uuid in uuids}
            for cell, uuids in cells}
    # As Nova itself asks its cells: it gives up one that does not answer.
    answers = nova_context.scatter_gather_cells(
        context, [cell for cell, _ in cells], nova_context.CELL_TIMEOUT,
        _hosts_in_cell, rows)
    for number, answer in answers.items():
        if nova_context.is_cell_failure_sentinel(answer):
            LOG.warning(
                'Cell %(cell)s does not answer: members of groups in it, '
                '%(members)s, are taken to be where they were planned',
                {'cell': number, 'members': len(rows[number])})
            answer = {uuid: row.place.host
                      for uuid, row in rows[number].items()}
        hosts.update(answer)
    return hosts


def _hosts_in_cell(context, owned: Mapping[str, Mapping[str, MemberRecord]]
                   ) -> dict[str, str | None]:
    """Where servers are that the cell has, which the context is for.

    :param owned: by the UUID of the cell
    """
    rows = owned[context.cell_uuid]
    hosts = dict.fromkeys(rows)
    for instance in _instances(context, list(rows)):
        # A server with no task is not moving: it costs no query.
        going = (instance.task_state and instance.host
                 and _destination(context, instance.uuid))
        hosts[instance.uuid] = going or instance.host or (
            rows[instance.uuid].place.host
            if instance.vm_state == vm_states.BUILDING else None)
    return hosts


@api_database.context_manager.reader
def _by_cell(context, uuids: Collection[str]
             ) -> 'list[tuple[objects.CellMapping, list[str]]]':
    """The servers in each cell that has any; Nova's own list of mappings
    makes two objects of each server."""
    mapping, known = api_models.InstanceMapping, api_models.CellMapping
    found: dict[int, list[str]] = defaultdict(list)
    for batch in batches(uuids):
        for uuid, number in context.session.execute(
                sa.select(mapping.instance_uuid, mapping.cell_id).where(
                    mapping.instance_uuid.in_(batch),
                    mapping.cell_id.is_not(None))):
            found[number].append(uuid)
    return [(objects.CellMapping._from_db_object(
        context, objects.CellMapping(), cell), found[cell.id])
        for batch in batches(found)
        for cell in context.session.scalars(
            sa.select(known).where(known.id.in_(batch)))]


@main_database.pick_context_manager_reader
def _instances(context, uuids: Collection[str]) -> Sequence[sa.Row]:
    """What tells where servers are that are not deleted, of the cell that
    the context is for; Nova reads some seventy columns of each."""
    found = models.Instance
    known = sa.select(
        found.uuid, found.host, found.vm_state, found.task_state).where(
            found.deleted == 0,
            found.vm_state.is_distinct_from(vm_states.SOFT_DELETED))
    return [row for batch in batches(uuids) for row
            in context.session.execute(known.where(found.uuid.in_(batch)))]


def _destination(context, uuid: str) -> str | None:
    """Where Nova is moving a server to, once it has written that down."""
    migrations = objects.MigrationList.get_by_filters(
        context, {'instance_uuid': uuid, 'status': MOVING})
    return next((m.dest_compute for m in migrations if m.dest_compute), None)
