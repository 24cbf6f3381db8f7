# SPDX-License-Identifier: Apache-2.0
"""The start times of the outages of hosts, which all engines share."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from nova_holistic.table.database import Database, retried
from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.models import MemberRow
from nova_holistic.table.schema.outage_model import HostOutageRow

_MOST = 250
"""Maximum number of hosts in one statement, because databases limit the number
of parameters."""

_SOME_ARE_LOST = sa.exists().where(
    MemberRow.host == HostOutageRow.host, MemberRow.state == MemberState.LOST)


class HostOutages:
    """The outages of hosts: one row for each unavailable host that an engine
    reports, and for each host to which lost members may return.

    Every method is a few short transactions. Two engines may call them at the
    same time: the first one determines when an outage began.
    """

    def __init__(self, database: Database):
        self._database = database

    def observe(self, unavailable: Collection[str],
                now: datetime) -> Mapping[str, datetime]:
        """Write which hosts are unavailable now. The outages of all other
        hosts end.

        :returns: for each unavailable host by its name, the time when an
            engine first found it unavailable
        """
        known = self._read()
        ended = known.keys() - set(unavailable)
        self._end({host for host in ended if known[host] is not None})
        if ended:
            self._forget_ended()
        begun = sorted(host for host in unavailable
                       if known.get(host) is None)
        if begun:
            self._begin(begun, now)
            known = self._read()
        return {host: since for host in unavailable
                if (since := known.get(host)) is not None}

    def give_up(self, hosts: Collection[str]) -> None:
        """Write that members lose their places on these hosts. This applies
        until the outage has ended and no member is lost on the host."""
        for part in _parts(hosts):
            self._change(sa.update(HostOutageRow).where(
                HostOutageRow.host.in_(part)).values(given_up=True))

    def given_up(self) -> frozenset[str]:
        """Hosts on which members have lost their places and are still lost."""
        return self._hosts(HostOutageRow.given_up, _SOME_ARE_LOST)

    def returned(self) -> frozenset[str]:
        """Hosts that are available again after members have lost their places
        there."""
        return self._hosts(HostOutageRow.given_up,
                           HostOutageRow.since.is_(None))

    def _hosts(self, *where: sa.ColumnElement[bool]) -> frozenset[str]:
        with self._database.reader() as session:
            return frozenset(session.scalars(
                sa.select(HostOutageRow.host).where(*where)))

    def _read(self) -> dict[str, datetime | None]:
        with self._database.reader() as session:
            return {host: since for host, since in session.execute(
                sa.select(HostOutageRow.host, HostOutageRow.since))}

    def _begin(self, hosts: Sequence[str], now: datetime) -> None:
        for part in _parts(hosts):
            self._insert([{'host': host, 'since': now, 'given_up': False}
                          for host in part])
            self._change(sa.update(HostOutageRow).where(
                HostOutageRow.host.in_(part),
                HostOutageRow.since.is_(None)).values(since=now))

    def _end(self, hosts: Collection[str]) -> None:
        for part in _parts(hosts):
            self._change(sa.update(HostOutageRow).where(
                HostOutageRow.host.in_(part)).values(since=None))

    def _forget_ended(self) -> None:
        """Delete the rows of outages that have ended, except those of hosts
        to which lost members may still return."""
        self._change(sa.delete(HostOutageRow).where(
            HostOutageRow.since.is_(None),
            sa.or_(HostOutageRow.given_up.is_(False), ~_SOME_ARE_LOST)))

    @retried
    def _insert(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows; keep the rows that another engine has inserted."""
        with self._database.writer() as session:
            session.execute(_new(session.get_bind().dialect.name, rows))

    @retried
    def _change(self, statement: sa.Update | sa.Delete) -> None:
        with self._database.writer() as session:
            session.execute(
                statement.execution_options(synchronize_session=False))


def _new(dialect: str, rows: Sequence[Mapping[str, Any]]) -> sa.Insert:
    if dialect == 'mysql':
        insert = mysql.insert(HostOutageRow).values(rows)
        return insert.on_duplicate_key_update(host=HostOutageRow.host)
    kind = {'sqlite': sqlite, 'postgresql': postgresql}[dialect]
    return kind.insert(HostOutageRow).values(rows).on_conflict_do_nothing(
        index_elements=[HostOutageRow.host])


def _parts(hosts: Collection[str]) -> Iterator[Sequence[str]]:
    # The order is fixed, so that two engines do not wait for each other's
    # rows.
    ordered = sorted(hosts)
    for start in range(0, len(ordered), _MOST):
        yield ordered[start:start + _MOST]
