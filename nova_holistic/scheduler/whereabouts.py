# SPDX-License-Identifier: Apache-2.0
"""Where the servers of a group really are."""

from collections.abc import Collection, Iterable, Mapping
from collections import defaultdict

from nova.compute import vm_states
from nova import context as nova_context
from nova import objects

from nova_holistic.table.records import MemberRecord, MemberState

OWNED = (MemberState.CLAIMED, MemberState.BUILT)
MOVING = ['accepted', 'queued', 'preparing', 'running', 'pre-migrating',
          'migrating', 'post-migrating']
"""Statuses of Nova's migrations that have not ended one way or the other."""


def hosts_of(context, members: Iterable[MemberRecord]) -> dict[str, str]:
    """Path to host name, of every member that takes up room.

    A server that exists is where Nova says, wherever it was planned, and one
    that moves is where it is going; one that is still to come, or being
    built, is at its planned place. One query of the mapping of cells, one for
    each cell, and one for each server that Nova is at work on.
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
    in_cells = defaultdict(list)
    mappings = objects.InstanceMappingList.get_by_instance_uuids(
        context, list(owned))
    for mapping in mappings:
        if mapping.cell_mapping is not None:
            cell = mapping.cell_mapping
            in_cells[cell.uuid].append((cell, mapping.instance_uuid))
    for entries in in_cells.values():
        cell, uuids = entries[0][0], [uuid for _, uuid in entries]
        hosts.update(dict.fromkeys(uuids))
        for instance, going in _instances(context, cell, uuids):
            hosts[instance.uuid] = going or instance.host or (
                owned[instance.uuid].place.host
                if instance.vm_state == vm_states.BUILDING else None)
    return hosts


def _instances(context, cell, uuids: Collection[str]):
    """Servers, each with the host it is moving to, if it is."""
    with nova_context.target_cell(context, cell) as cell_context:
        for instance in objects.InstanceList.get_by_filters(
                cell_context, filters={'uuid': list(uuids), 'deleted': False},
                expected_attrs=[]):
            # A server with no task is not moving: it costs no query.
            yield instance, (instance.task_state and instance.host
                             and _destination(cell_context, instance))


def _destination(context, instance) -> str | None:
    """Where Nova is moving a server to, once it has written that down."""
    migrations = objects.MigrationList.get_by_filters(
        context, {'instance_uuid': instance.uuid, 'status': MOVING})
    return next((m.dest_compute for m in migrations if m.dest_compute), None)
