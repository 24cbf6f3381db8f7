# SPDX-License-Identifier: Apache-2.0
"""Writes the states of members that the children of a federation report to
their parent."""

from collections.abc import Mapping
from datetime import datetime

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.queries import progress
from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.models import MemberRow


def write(database: Database, group_uuid: str,
          states: Mapping[str, MemberState], now: datetime) -> None:
    """Write states of members, and update the status of the group.

    The state machine does not restrict the changes, because the parent reads
    the states from a child at intervals and misses the states in between.

    :param states: states by the paths of members; a path without a row is
        ignored
    """
    by_state: dict[MemberState, list[str]] = {}
    for path, state in states.items():
        by_state.setdefault(state, []).append(path)
    for state, paths in by_state.items():
        for batch in batches(paths):
            _write(database, group_uuid, state, batch, now)
    progress.settle(database, group_uuid, now)


@retried
def _write(database: Database, group_uuid: str, state: MemberState,
           paths: list[str], now: datetime) -> None:
    with database.writer() as session:
        transitions.change_members(session, [
            MemberRow.group_uuid == group_uuid, MemberRow.path.in_(paths),
            MemberRow.state != state], {'state': state, 'updated_at': now})
