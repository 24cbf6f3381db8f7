# SPDX-License-Identifier: Apache-2.0
"""What others measured on hosts: the last value of each name."""

from collections.abc import Mapping
from datetime import datetime

import sqlalchemy as sa

from nova_holistic.table.database import Database
from nova_holistic.table.models import StatisticRow


class Statistics:
    """Every method is one short transaction."""

    def __init__(self, database: Database):
        self._database = database

    def put(self, host: str, values: Mapping[str, float],
            now: datetime) -> None:
        """The values take the place of earlier ones of the same names."""
        with self._database.writer() as session:
            session.execute(
                sa.delete(StatisticRow)
                .where(StatisticRow.host == host,
                       StatisticRow.name.in_(values))
                .execution_options(synchronize_session=False))
            session.execute(sa.insert(StatisticRow), [
                {'host': host, 'name': name, 'value': value,
                 'updated_at': now} for name, value in sorted(values.items())])

    def since(self, moment: datetime) -> Mapping[str, Mapping[str, float]]:
        """Host to name to value, of those that were put since."""
        found: dict[str, dict[str, float]] = {}
        with self._database.reader() as session:
            for host, name, value in session.execute(
                    sa.select(StatisticRow.host, StatisticRow.name,
                              StatisticRow.value)
                    .where(StatisticRow.updated_at >= moment)):
                found.setdefault(host, {})[name] = value
        return found

    def forget(self, before: datetime) -> None:
        """Drop values that nobody has put since."""
        with self._database.writer() as session:
            session.execute(
                sa.delete(StatisticRow)
                .where(StatisticRow.updated_at < before)
                .execution_options(synchronize_session=False))
