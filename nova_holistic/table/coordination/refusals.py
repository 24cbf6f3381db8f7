# SPDX-License-Identifier: Apache-2.0
"""Hosts that Nova refused for members. The next plan excludes them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import MemberRecord
from nova_holistic.table.schema.models import GroupRow, RefusalRow


@dataclass(frozen=True, slots=True)
class Refusal:
    """A host that cannot run servers of one description.

    :ivar by: filter or check that refused the host
    """

    host: str
    by: str


@dataclass(frozen=True, slots=True)
class KnownRefusal:
    """A refusal in the table.

    :ivar group: UUID of the group
    :ivar description: path of the description of the members
    :ivar by: filter or check that refused the host
    :ivar at: time of the refusal in naive UTC
    """

    group: str
    description: str
    host: str
    by: str
    at: datetime


class Refusals:
    """The refusals in the table. Every method is one short transaction."""

    def __init__(self, database: Database):
        self._database = database

    @retried
    def add(self, member: MemberRecord, refusals: Sequence[Refusal],
            reason: Mapping[str, Any], now: datetime) -> None:
        """Store refused hosts for all members of the same description, and add
        the reason to the reasons of the group.

        Nothing is written for a group that was deleted or has no plan.
        """
        group, key = member.group_uuid, member.member.description
        with self._database.writer() as session:
            # The statement locks the group's row, so that no reason is lost
            # between the read and the write.
            if not session.execute(
                    sa.update(GroupRow)
                    .where(GroupRow.uuid == group,
                           GroupRow.status.in_(SETTLING))
                    .values(updated_at=now)
                    .execution_options(synchronize_session=False)).rowcount:
                return
            self._add_reason(session, group, reason)
            _forget(session, group, key,
                    [refusal.host for refusal in refusals])
            if refusals:
                session.execute(sa.insert(RefusalRow), [
                    {'group_uuid': group, 'description': key,
                     'host': refusal.host, 'refused_by': refusal.by,
                     'refused_at': now} for refusal in refusals])
            events.add(session, _events(member, refusals, reason, now))

    @retried
    def remember(self, member: MemberRecord, refusals: Sequence[Refusal],
                 now: datetime) -> None:
        """Store refused hosts for all members of the same description while
        the group is planned, without a reason and without events. Nothing is
        written for a group that was deleted.

        :param refusals: at least one refusal
        """
        group, wanted = member.group_uuid, member.member.description
        with self._database.writer() as session:
            if not session.execute(
                    sa.update(GroupRow).where(GroupRow.uuid == group)
                    .values(updated_at=now)
                    .execution_options(synchronize_session=False)).rowcount:
                return
            _forget(session, group, wanted,
                    [refusal.host for refusal in refusals])
            session.execute(sa.insert(RefusalRow), [
                {'group_uuid': group, 'description': wanted,
                 'host': refusal.host, 'refused_by': refusal.by,
                 'refused_at': now}
                for refusal in refusals])

    def of_group(self, group_uuid: str, since: datetime
                 ) -> Mapping[str, Collection[str]]:
        """Names of the refused hosts by the path of the description.

        :param since: naive UTC; earlier refusals are not returned
        """
        found: dict[str, set[str]] = {}
        with self._database.link() as link:
            for description, host in link.execute(
                    sa.select(RefusalRow.description, RefusalRow.host).where(
                        RefusalRow.group_uuid == group_uuid,
                        RefusalRow.refused_at >= since)):
                found.setdefault(description, set()).add(host)
        return found

    def known(self, group_uuid: str | None = None, host: str | None = None
              ) -> list[KnownRefusal]:
        """Refusals, oldest first.

        :param group_uuid: only for members of this group; None means all
            groups
        :param host: only of this host; None means all hosts
        """
        with self._database.reader() as session:
            return _selected(session, group_uuid, host)

    @retried
    def clear(self, group_uuid: str | None = None, host: str | None = None
              ) -> list[KnownRefusal]:
        """Delete the refusals that ``known`` lists with the same arguments;
        returns them."""
        with self._database.writer() as session:
            # This locks the rows and changes nothing. SQLite requires that
            # the first statement writes.
            session.execute(
                sa.update(RefusalRow).where(*_where(group_uuid, host))
                .values(host=RefusalRow.host)
                .execution_options(synchronize_session=False))
            found = _selected(session, group_uuid, host)
            session.execute(
                sa.delete(RefusalRow).where(*_where(group_uuid, host))
                .execution_options(synchronize_session=False))
            return found

    @staticmethod
    def _add_reason(session: orm.Session, group: str,
                    reason: Mapping[str, Any]) -> None:
        """Add a reason to the reasons of the group. It replaces earlier
        reasons of the same member."""
        known = session.scalar(sa.select(GroupRow.reasons).where(
            GroupRow.uuid == group)) or []
        others = [earlier for earlier in known
                  if earlier['at'] != reason['at'] or earlier.get('missing')]
        session.execute(
            sa.update(GroupRow).where(GroupRow.uuid == group)
            .values(reasons=[*others, dict(reason)])
            .execution_options(synchronize_session=False))


def _events(member: MemberRecord, refusals: Sequence[Refusal],
            reason: Mapping[str, Any], now: datetime) -> list[events.Event]:
    """One event for each refused host; one event without a host if the next
    plan excludes no host."""
    event = events.Event(
        member.group_uuid, events.Kind.HOST_REFUSED, now, member.member.path,
        reasons=(reason,))
    return [replace(event, host=refusal.host, details={'by': refusal.by})
            for refusal in refusals] or [event]


def _forget(session: orm.Session, group: str, description: str,
            hosts: Collection[str]) -> None:
    session.execute(
        sa.delete(RefusalRow).where(
            RefusalRow.group_uuid == group,
            RefusalRow.description == description,
            RefusalRow.host.in_(hosts))
        .execution_options(synchronize_session=False))


def _selected(session: orm.Session, group_uuid: str | None,
              host: str | None) -> list[KnownRefusal]:
    return [KnownRefusal(*row) for row in session.execute(
        sa.select(RefusalRow.group_uuid, RefusalRow.description,
                  RefusalRow.host, RefusalRow.refused_by,
                  RefusalRow.refused_at)
        .where(*_where(group_uuid, host)).order_by(RefusalRow.id))]


def _where(group_uuid: str | None, host: str | None) -> list[Any]:
    key = {RefusalRow.group_uuid: group_uuid, RefusalRow.host: host}
    return [column == value for column, value in key.items()
            if value is not None]
