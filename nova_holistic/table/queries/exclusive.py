# SPDX-License-Identifier: Apache-2.0
"""Groups that keep others out: every server that Nova places asks for them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database
from nova_holistic.table.models import GroupRow, MemberRow
from nova_holistic.table.queries.rosters import (
    again, CHANGING, Found, Known, LIGHT, members, REMEMBERED, version)
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table import rows

# Not "is true", for which MariaDB does not use the index.
_KEEPS_OUT = GroupRow.exclusive == sa.true()


class ExclusiveGroups:
    """Exclusive groups with those of their members that take up room. As of
    a roster, only what may have changed is read of what was read before.
    Safe to share between threads.
    """

    def __init__(self, database: Database, sitting: Collection[MemberState],
                 limit: int = REMEMBERED):
        """
        :param sitting: states of members that take up room
        :param limit: members that are remembered
        """
        self._database = database
        self._sitting = MemberRow.state.in_(sitting)
        self._limit = limit
        # Never changed, only put in place of: threads need no lock.
        self._known: Mapping[str, Known] = {}

    def read(self) -> Sequence[Found]:
        """All of them as a roster has them. One query by index where there
        are none, else two, and two more where there is news of places.
        """
        # Not as of one moment, which would cost every server of the cloud a
        # query: a revision meanwhile shows in the next head.
        with self._database.reader() as session:
            heads = {row.uuid: row for row in session.execute(
                sa.select(*LIGHT).where(_KEEPS_OUT))}
            if not heads:
                self._known = {}
                return ()
            found = self._again(session, heads)
            for known in _anew(session, self._sitting, [
                    heads[uuid] for uuid in found if found[uuid] is None]):
                found[known.record.uuid] = known
        self._remember(found)
        return tuple(known.found for known in found.values())

    def _again(self, session: orm.Session, heads: Mapping[str, sa.Row]
               ) -> dict[str, Known | None]:
        """Groups with such members; None for what is to be read anew."""
        changing: dict[str, list[Sequence]] = defaultdict(list)
        for uuid, *row in session.execute(
                sa.select(MemberRow.group_uuid, *CHANGING).where(
                    MemberRow.group_uuid.in_(
                        sa.select(GroupRow.uuid).where(_KEEPS_OUT)),
                    self._sitting)
                .order_by(MemberRow.group_uuid, MemberRow.position)):
            changing[uuid].append(row)
        return {uuid: _same(self._known.get(uuid), head, changing[uuid])
                for uuid, head in heads.items() if uuid in changing}

    def _remember(self, found: Mapping[str, Known]) -> None:
        kept, number = {}, 0
        for uuid, known in found.items():
            number += len(known.members)
            if number > self._limit:
                break
            kept[uuid] = known
        self._known = kept


def _same(known: Known | None, head: sa.Row,
          changing: Sequence[Sequence]) -> Known | None:
    if known is None or version(known.record) != version(head):
        return None
    found = again(known.members, changing)
    return found and Known(replace(
        rows.light_group_record(head), document=known.record.document), found)


def _anew(session: orm.Session, sitting, heads: Sequence[sa.Row]
          ) -> Iterator[Known]:
    for batch in batches(heads):
        chunk = {head.uuid: head for head in batch}
        documents = session.execute(
            sa.select(GroupRow.uuid, GroupRow.document).where(
                GroupRow.uuid.in_(chunk))).all()
        by_group: dict[str, dict[int, MemberRecord]] = defaultdict(dict)
        for number, member in members(
                session, MemberRow.group_uuid.in_(chunk), sitting).items():
            by_group[member.group_uuid][number] = member
        for uuid, document in documents:
            yield Known(replace(rows.light_group_record(chunk[uuid]),
                                document=document), by_group[uuid])
