# SPDX-License-Identifier: Apache-2.0
"""Checks whether a create may get a place that was not planned."""

from collections.abc import Sequence

from nova import context as nova_context

from nova_holistic.documents.groups.without_policies import (
    parse_without_policies)
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.elastic.growth import Existing, next_server, NotGrown
from nova_holistic.scheduler.claim import held_siblings
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.hosts import cells
from nova_holistic.scheduler import nova_errors
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.table.changes import group_growth
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState)
from nova_holistic.table.store import PlacementTable


def is_possible(table: PlacementTable, pointer: Pointer) -> bool:
    """Whether nova-scheduler may find a place for a further server. Only the
    numbers of servers are checked, not the capacity.

    :raises TableError: the table does not answer
    """
    found = table.group_with_members(pointer.group)
    if found is None or found[0].status not in group_growth.GROWING:
        return False
    record, rows = found
    try:
        with nova_errors.as_refusals():
            return _is_possible(record, rows, pointer)
    except RequestRefused:
        # Nova's database does not answer: nova-scheduler decides later.
        return True


def _is_possible(record: GroupRecord, rows: Sequence[MemberRecord],
                 pointer: Pointer) -> bool:
    existing = Existing(
        {row.member.path for row in rows
         if row.state != MemberState.RELEASED},
        {row.member.path for row in rows
         if row.state == MemberState.RELEASED and row.returned
         and not row.unwanted},
        {row.member.path for row in rows
         if row.state == MemberState.RELEASED and row.unwanted})
    try:
        group = parse_without_policies(record.document)
        next_server(group, pointer.member, existing)
    except InvalidDocument:
        return False
    except NotGrown:
        return held_siblings.find(
            group, rows, pointer.member) is not None or _is_any_deleted([
                row.instance_uuid for row in rows if row.instance_uuid
                and row.state in group_growth.REUSED and not row.unwanted
                and pointer.member in (
                    row.member.path, row.member.description)])
    return True


def _is_any_deleted(servers: list[str]) -> bool:
    """Whether any of the servers is deleted or is being deleted."""
    if not servers:
        return False
    known = {row.instance_uuid: row.queued_for_delete
             for row in cells.of_servers(
                 nova_context.get_admin_context(), servers)}
    return any(known.get(server, True) for server in servers)
