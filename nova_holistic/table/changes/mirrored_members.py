# SPDX-License-Identifier: Apache-2.0
"""Writes the states of members that the children of a federation report to
their parent."""

from collections.abc import Collection, Mapping
import contextlib
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import transitions
from nova_holistic.table.coordination import parts
from nova_holistic.table.database import Database, retried
from nova_holistic.table.queries import progress
from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.models import MemberRow


def write(database: Database, group_uuid: str,
          states: Mapping[str, MemberState], now: datetime,
          revision: int | None = None) -> None:
    """Write states of members, and update the status of the group.

    The state machine does not restrict the changes, because the parent reads
    the states from a child at intervals and misses the states in between.

    :param states: states by the paths of members; a path without a row is
        ignored
    :param revision: revision of the group before the child answered. If the
        group has another one or a task, the states may be those of former
        members, and nothing more is written. None means any
    """
    with database.reader() as session:
        known = {path: state for path, state in session.execute(
            sa.select(MemberRow.path, MemberRow.state).where(
                MemberRow.group_uuid == group_uuid))}
    by_state: dict[MemberState, list[str]] = {}
    for path, state in states.items():
        if known.get(path, state) != state:
            by_state.setdefault(state, []).append(path)
    with contextlib.suppress(_Outdated):
        for state, paths in by_state.items():
            for batch in batches(paths):
                _write(database, group_uuid, {
                    'state': state, 'updated_at': now}, batch, revision)
    progress.settle(database, group_uuid, now)


def lose_members_elsewhere(database: Database, group_uuid: str,
                           clouds: Collection[str], now: datetime,
                           revision: int) -> None:
    """Mark the planned members as lost that are in other clouds.

    :param clouds: clouds that have a part of the group
    :param revision: see ``write``
    """
    with database.reader() as session:
        paths = session.scalars(sa.select(MemberRow.path).where(
            MemberRow.group_uuid == group_uuid,
            MemberRow.state == MemberState.PLANNED,
            MemberRow.host.not_in(clouds))).all()
    if paths:
        write(database, group_uuid, dict.fromkeys(paths, MemberState.LOST),
              now, revision)


class _Outdated(Exception):
    """The group has changed since its row was read."""


@retried
def _write(database: Database, group_uuid: str, values: Mapping[str, Any],
           paths: list[str], revision: int | None) -> None:
    with database.writer() as session:
        if revision is not None and not parts.owned(
                session, group_uuid, None, revision):
            raise _Outdated
        transitions.change_members(session, [
            MemberRow.group_uuid == group_uuid, MemberRow.path.in_(paths),
            MemberRow.state != values['state']], values)
