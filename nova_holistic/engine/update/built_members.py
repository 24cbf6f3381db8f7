# SPDX-License-Identifier: Apache-2.0
"""Changes of members that have a server.

The update itself does not change the servers. Afterwards, actions of Nova make
them match the definition: a resize, a migration or a rebuild.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nova_holistic.documents.groups.revision import changed_rules
from nova_holistic.engine.decision.planning_request import NotPlanned
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.update.revised_members import (
    changed_requirements, RevisedMembers)
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.marked_text import MarkedText
from nova_holistic.model.plan import Reason
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberState)

KEY = 'actions'
"""Parameter of a task: actions may change servers to match the definition.
Without it, an update that requires actions is refused."""


def allowed(pending: Mapping[str, Any] | None) -> bool:
    """Whether the parameters of a task allow actions on servers."""
    return bool((pending or {}).get(KEY))


def refused_changes(record: GroupRecord,
                    where: RevisedMembers) -> Sequence[Reason]:
    """A reason for each member whose change no action can carry out."""
    found = []
    for path, (before, revised) in changed_requirements(
            record, where).items():
        why = _objection(before, revised)
        if where.fixed[path].state != MemberState.BUILT:
            why = ('a server is being created for this member: its '
                   'requirements cannot be changed now')
        if why:
            found.append(Reason.of(path, MarkedText(why)))
    return found


def _objection(before: Requirements | None, revised: Requirements) -> str:
    if before is not None and _lasting(before) != _lasting(revised):
        return ('the kind of root disk and the server group of an existing '
                'server cannot be changed')
    if before is not None and before.image != revised.image and (
            revised.boot_from_volume or not isinstance(revised.image, str)):
        return ('the server can be rebuilt only if its root disk is not a '
                'volume and the definition names the image')
    if revised.flavor is None and (
            before is None or before.flavor is not None
            or before.resources != revised.resources):
        return ('the server can be resized only to a flavor, and the '
                'definition names resources')
    return ''


def _lasting(revised: Requirements) -> Any:
    return revised.boot_from_volume, revised.server_group


def must_be_possible(snapshot_planner: SnapshotPlanner, record: GroupRecord,
                     where: RevisedMembers, objective: str) -> None:
    """Check that the revised group could be placed if all its servers could
    move.

    If it cannot be placed, and neither can its servers alone, the update is
    not the cause, unless it changes policies or servers: for example, the rack
    of the volumes has failed. The function then raises no error.

    :raises NotPlanned: no such plan exists
    :raises InvalidDocument: the cloud has no such flavor or level
    """
    free = {path: row for path, row in where.fixed.items()
            if row.state == MemberState.BUILT and row.destination is None}
    question = replace(
        where, movable={**where.movable, **free},
        fixed={path: row for path, row in where.fixed.items()
               if path not in free})

    def decide(asked: RevisedMembers) -> None:
        request = asked.request(record, objective, asked.movable.keys())
        snapshot_planner.decide(replace(
            request, vacated=(*request.vacated, *free.values())))

    try:
        decide(question)
    except NotPlanned:
        if _changes_servers(record, where):
            raise
        try:
            decide(replace(question, left_out=frozenset(
                each.path for each in where.servers) - where.fixed.keys()))
        except NotPlanned as end:
            if end.status == GroupStatus.UNPLACEABLE:
                return
        raise


def only_removes(record: GroupRecord, where: RevisedMembers) -> bool:
    """Whether an update of a degraded group only removes members. It then need
    not satisfy the policies that the remaining servers violate already."""
    staying = {*where.fixed, *where.movable, *where.left_out}
    return (record.status == GroupStatus.DEGRADED and bool(where.removed)
            and staying.issuperset(each.path for each in where.servers)
            and not _changes_servers(record, where))


def _changes_servers(record: GroupRecord, where: RevisedMembers) -> bool:
    """Whether the update changes members with a server, or any policy."""
    revised = (record.pending or {}).get('document', record.document)
    return bool(changed_requirements(record, where)
                or changed_rules(record.document, revised))
