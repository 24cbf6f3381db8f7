# SPDX-License-Identifier: Apache-2.0
"""Lost members get other places.

A lost row that says it is held is being planned anew, or its planner died:
nobody can claim it, and the hold it names may be there or not.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import alternates, transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.models import MemberRow
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table import rows, states

_LOST = states.MEMBERS.before(states.REPLAN)


class _Changed(Exception):
    """One of the rows is not what it was when it was planned anew."""


@retried
def offer(database: Database, members: Sequence[MemberRecord]) -> bool:
    """Write down where lost members are about to be held: all, or none.

    :param members: lost and held, with their ids, new holds and new places
    :returns: False where one of them is not lost any more, or is being
        planned anew by another
    """
    try:
        with database.writer() as session:
            for member in members:
                changed = session.execute(
                    sa.update(MemberRow)
                    .where(MemberRow.id == member.id,
                           MemberRow.group_uuid == member.group_uuid,
                           MemberRow.path == member.member.path,
                           MemberRow.state.in_(_LOST),
                           MemberRow.held.is_(False))
                    .values(rows.renewed_values(member))
                    .execution_options(synchronize_session=False)).rowcount
                if not changed:
                    raise _Changed
    except _Changed:
        return False
    return True


@retried
def accept(database: Database, holds: Collection[str], now: datetime) -> None:
    """Members whose new holds are there are planned, unless they were
    released meanwhile. Alternates are due for them."""
    groups: set[str] = set()
    with database.writer() as session:
        for batch in batches(sorted(holds)):
            transitions.change_members(session, [
                MemberRow.hold.in_(batch), MemberRow.held.is_(True),
                MemberRow.state.in_(_LOST),
            ], {'state': MemberState.PLANNED, 'updated_at': now})
            groups.update(session.scalars(
                sa.select(MemberRow.group_uuid).distinct()
                .where(MemberRow.hold.in_(batch))))
        alternates.ask(session, groups, now)
