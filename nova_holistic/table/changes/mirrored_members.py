# SPDX-License-Identifier: Apache-2.0
"""Writes the states of members, and the leases of groups, that the children of
a federation report to their parent."""

from collections.abc import Collection, Mapping, Sequence
import contextlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.table.batches import batches
from nova_holistic.table.changes import transitions
from nova_holistic.table.coordination import parts
from nova_holistic.table.database import Database, retried
from nova_holistic.table.queries import progress
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import GroupRow, MemberRow

_LEASED = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a parent has read about a group before the children answered.

    An answer may be older than a later change. Nothing is written if the group
    has a task of another process or another revision since, and a state is not
    written if the member has another state since.

    :ivar revision: revision of the group
    :ivar states: states of members by their paths
    :ivar lease_expires_at: naive UTC
    :ivar engine: the process that performs the task of the group; None: the
        group has no task
    """

    revision: int
    states: Mapping[str, MemberState] = FrozenMapping()
    lease_expires_at: datetime | None = None
    engine: str | None = None


def write(database: Database, group_uuid: str,
          states: Mapping[str, MemberState], now: datetime,
          seen: Seen | None = None) -> None:
    """Write states of members, and update the status of the group.

    The state machine does not restrict the changes, because the parent reads
    the states from a child at intervals and misses the states in between.

    :param states: states by the paths of members; a path without a row is
        ignored
    :param seen: None: the states are read now, and the group may have any
        revision
    """
    known = _states(database, group_uuid) if seen is None else seen.states
    changes: dict[tuple[MemberState, MemberState], list[str]] = {}
    for path, state in states.items():
        before = known.get(path, state)
        if before != state:
            changes.setdefault((before, state), []).append(path)
    with contextlib.suppress(_Outdated):
        for (before, state), paths in changes.items():
            for batch in batches(paths):
                _write(database, group_uuid, {
                    'state': state, 'updated_at': now}, [
                        MemberRow.path.in_(batch), MemberRow.state == before],
                    seen)
    progress.settle(database, group_uuid, now)


@retried
def write_lease(database: Database, group_uuid: str, end: datetime,
                seen: Seen) -> bool:
    """Write the end of the lease of a group.

    :param end: naive UTC
    :returns: False if the group has another status, or has changed since
    """
    with database.link_writer() as transaction:
        return transitions.change_group(transaction, group_uuid, [
            GroupRow.status.in_(_LEASED), GroupRow.task.is_(None),
            GroupRow.revision == seen.revision,
            GroupRow.lease_expires_at == seen.lease_expires_at],
            {'lease_expires_at': end})


def lose_members_elsewhere(database: Database, group_uuid: str,
                           clouds: Collection[str], now: datetime,
                           revision: int) -> None:
    """Mark the planned members as lost that are in other clouds.

    :param clouds: clouds that have a part of the group
    :param revision: see ``Seen``
    """
    with database.reader() as session:
        paths = session.scalars(sa.select(MemberRow.path).where(
            MemberRow.group_uuid == group_uuid,
            MemberRow.state == MemberState.PLANNED,
            MemberRow.host.not_in(clouds))).all()
    if paths:
        write(database, group_uuid, dict.fromkeys(paths, MemberState.LOST),
              now, Seen(revision, dict.fromkeys(paths, MemberState.PLANNED)))


class _Outdated(Exception):
    """The group has changed since its row was read."""


def _states(database: Database, group_uuid: str) -> dict[str, MemberState]:
    with database.reader() as session:
        return {path: MemberState(state) for path, state in session.execute(
            sa.select(MemberRow.path, MemberRow.state).where(
                MemberRow.group_uuid == group_uuid))}


@retried
def _write(database: Database, group_uuid: str, values: Mapping[str, Any],
           where: Sequence[Any], seen: Seen | None) -> None:
    with database.writer() as session:
        if seen is not None and not parts.owned(
                session, group_uuid, seen.engine, seen.revision):
            raise _Outdated
        transitions.change_members(
            session, [MemberRow.group_uuid == group_uuid, *where], values)
