# SPDX-License-Identifier: Apache-2.0
"""What others measured on hosts: the last value of each name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table.models import StatisticRow


class Statistics:
    """A few short transactions at most for each method."""

    def __init__(self, database: Database):
        self._database = database

    def put(self, host: str, values: Mapping[str, float],
            now: datetime) -> None:
        """The values take the place of earlier ones of the same names."""
        # In one order, so that two who put the same do not wait for each
        # other.
        for name, value in sorted(values.items()):
            changed = {'value': value, 'updated_at': now}
            if not self._update(host, name, changed):
                try:
                    self._insert({'host': host, 'name': name, **changed})
                except Duplicate:
                    # Somebody else was first to put it.
                    self._update(host, name, changed)

    def since(self, moment: datetime, *,
              hosts: Collection[str] | None = None,
              names: Collection[str] | None = None,
              ) -> Mapping[str, Mapping[str, float]]:
        """Host to name to value, of those that were put since.

        :param hosts: whose alone; None is everybody's
        :param names: which alone; None is all
        """
        query = sa.select(StatisticRow.host, StatisticRow.name,
                          StatisticRow.value).where(
                              StatisticRow.updated_at >= moment)
        if names is not None:
            query = query.where(StatisticRow.name.in_(names))
        found: dict[str, dict[str, float]] = {}
        with self._database.reader() as session:
            for part in _parts(hosts):
                chosen = query if part is None else query.where(
                    StatisticRow.host.in_(part))
                for host, name, value in session.execute(chosen):
                    found.setdefault(host, {})[name] = value
        return found

    @retried
    def forget(self, before: datetime) -> None:
        """Drop values that nobody has put since."""
        with self._database.writer() as session:
            session.execute(
                sa.delete(StatisticRow)
                .where(StatisticRow.updated_at < before)
                .execution_options(synchronize_session=False))

    @retried
    def _update(self, host: str, name: str,
                changed: Mapping[str, Any]) -> bool:
        with self._database.writer() as session:
            return session.execute(
                sa.update(StatisticRow)
                .where(StatisticRow.host == host, StatisticRow.name == name)
                .values(changed)
                .execution_options(synchronize_session=False)).rowcount > 0

    @retried
    def _insert(self, values: Mapping[str, Any]) -> None:
        with self._database.writer() as session:
            session.execute(sa.insert(StatisticRow).values(values))


def _parts(hosts: Collection[str] | None, size: int = 500
           ) -> Iterator[Sequence[str] | None]:
    """Few enough hosts for one query; None once for all of them."""
    if hosts is None:
        yield None
        return
    ordered = list(hosts)
    for start in range(0, len(ordered), size):
        yield ordered[start:start + size]
