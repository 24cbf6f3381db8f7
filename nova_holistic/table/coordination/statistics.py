# SPDX-License-Identifier: Apache-2.0
"""Statistics that other services measured on hosts: the last value of each
name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database, retried
from nova_holistic.table.schema.models import StatisticRow


class Statistics:
    """The statistics in the table. Every method is one short transaction."""

    def __init__(self, database: Database):
        self._database = database

    @retried
    def put(self, host: str, values: Mapping[str, float],
            now: datetime) -> None:
        """Store the values, and replace earlier ones with the same names."""
        # The order is fixed, so that two writers of the same values do not
        # wait for each other.
        rows = [{'host': host, 'name': name, 'value': value,
                 'updated_at': now} for name, value in sorted(values.items())]
        if rows:
            with self._database.writer() as session:
                session.execute(_put(session.get_bind().dialect.name, rows))

    def since(self, moment: datetime, *,
              hosts: Collection[str] | None = None,
              names: Collection[str] | None = None,
              ) -> Mapping[str, Mapping[str, float]]:
        """Values by host and name that were stored at a time or later.

        :param moment: naive UTC
        :param hosts: only these hosts; None means all hosts
        :param names: only these names; None means all names
        """
        query = sa.select(StatisticRow.host, StatisticRow.name,
                          StatisticRow.value).where(
                              StatisticRow.updated_at >= moment)
        if names is not None:
            query = query.where(StatisticRow.name.in_(names))
        found: dict[str, dict[str, float]] = {}
        with self._database.link() as link:
            for chosen in _of_hosts(query, hosts):
                for host, name, value in link.execute(chosen):
                    found.setdefault(host, {})[name] = value
        return found

    @retried
    def forget(self, before: datetime) -> None:
        """Delete values that were last stored before a time in naive UTC."""
        with self._database.writer() as session:
            session.execute(
                sa.delete(StatisticRow)
                .where(StatisticRow.updated_at < before)
                .execution_options(synchronize_session=False))


def _put(dialect: str, rows: Sequence[Mapping[str, Any]]) -> sa.Insert:
    """Insert rows, or update existing rows."""
    changed = ('value', 'updated_at')
    if dialect == 'mysql':
        insert = mysql.insert(StatisticRow).values(rows)
        return insert.on_duplicate_key_update(
            {name: insert.inserted[name] for name in changed})
    kind = {'sqlite': sqlite, 'postgresql': postgresql}[dialect]
    insert = kind.insert(StatisticRow).values(rows)
    return insert.on_conflict_do_update(
        index_elements=[StatisticRow.host, StatisticRow.name],
        set_={name: insert.excluded[name] for name in changed})


def _of_hosts(query: sa.Select, hosts: Collection[str] | None
              ) -> Iterator[sa.Select]:
    """Queries that return the rows of the query for some hosts.

    :param hosts: None for all hosts
    """
    if hosts is None:
        yield query
        return
    for batch in batches(hosts):
        yield query.where(StatisticRow.host.in_(batch))
