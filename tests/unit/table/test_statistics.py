# SPDX-License-Identifier: Apache-2.0
"""The last value of each statistic of a host."""

import contextlib
from datetime import timedelta

import pytest
import sqlalchemy as sa

from nova_holistic.table.schema.models import StatisticRow
from tests.statements import recorded
from tests.unit.table.builders import NOON

MANY = {f'name-{number}': float(number) for number in range(64)}


@contextlib.contextmanager
def commits(table):
    """A list with one entry for each commit during the block."""
    found, engine = [], table.database.engine

    def committed(connection):
        found.append(connection)

    sa.event.listen(engine, 'commit', committed)
    try:
        yield found
    finally:
        sa.event.remove(engine, 'commit', committed)


@pytest.fixture
def statistics(table):
    return table.statistics


def test_new_values_replace_old_ones(statistics):
    statistics.put('cmp-1', {'heat': 1.0, 'fans': 2.0}, NOON)
    statistics.put('cmp-2', {'heat': 5.0}, NOON)
    later = NOON + timedelta(minutes=1)
    statistics.put('cmp-1', {'heat': 3.0, 'load': 4.0}, later)
    assert statistics.since(NOON) == {
        'cmp-1': {'heat': 3.0, 'fans': 2.0, 'load': 4.0},
        'cmp-2': {'heat': 5.0}}
    assert statistics.since(later) == {'cmp-1': {'heat': 3.0, 'load': 4.0}}


def test_an_empty_report_stores_nothing(statistics):
    statistics.put('cmp-1', {}, NOON)
    assert statistics.since(NOON) == {}


def test_many_values_are_written_in_one_statement(table):
    for values in (MANY, MANY, MANY | {'one-more': 1.0}):
        with commits(table) as done, recorded(table.database.engine) as sent:
            table.statistics.put('cmp-1', values, NOON)
        assert (len(done), len(sent.statements)) == (1, 1)
        assert table.statistics.since(NOON) == {'cmp-1': values}
    with table.database.reader() as session:
        assert session.scalar(
            sa.select(sa.func.count()).select_from(StatisticRow)) == 65
