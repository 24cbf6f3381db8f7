# SPDX-License-Identifier: Apache-2.0
"""Machines with different clocks use the time of their database."""

from datetime import timedelta
import logging

from oslo_utils import timeutils
import pytest
import sqlalchemy as sa

from nova_holistic.table.clock import DatabaseClock, READ_INTERVAL
from nova_holistic.table.database import Database
from tests.statements import recorded

CLOSE = timedelta(minutes=1)
"""Tolerance; a machine that runs tests may be slow."""
AWAY = Database('sqlite:////no/such/folder/x.sqlite')


def machine(**skew):
    return lambda: timeutils.utcnow() + timedelta(**skew)


@pytest.mark.parametrize('skew', [
    {'hours': 3}, {'hours': -3}, {'days': 400}, {}])
def test_a_wrong_machine_clock_is_corrected(table, skew, caplog):
    with caplog.at_level(logging.WARNING, 'nova_holistic'):
        clock = DatabaseClock(table.database, machine(**skew))
        assert abs(clock() - timeutils.utcnow()) < CLOSE
        assert abs(clock() - timeutils.utcnow()) < CLOSE
    assert len(caplog.messages) == bool(skew)


def test_the_database_time_is_read_at_intervals(table):
    seconds = [0.0]
    clock = DatabaseClock(table.database, timer=lambda: seconds[0])
    with recorded(table.database.engine) as sent:
        for _ in range(5):
            clock()
        assert len(sent.statements) == 1
        seconds[0] += READ_INTERVAL + 1
        for _ in range(5):
            clock()
        assert len(sent.statements) == 2


def test_setting_the_machine_clock_has_no_effect(table):
    skew = {'hours': 0}
    clock = DatabaseClock(table.database, lambda: machine(**skew)())
    assert abs(clock() - timeutils.utcnow()) < CLOSE
    with recorded(table.database.engine) as sent:
        for hours in (1, -1):
            skew['hours'] = hours
            assert abs(clock() - timeutils.utcnow()) < CLOSE
    assert not sent.statements


def test_a_changed_machine_clock_is_logged_at_the_next_read(table, caplog):
    seconds, skew = [0.0], {'hours': 0}
    clock = DatabaseClock(table.database, lambda: machine(**skew)(),
                          lambda: seconds[0])
    with caplog.at_level(logging.WARNING, 'nova_holistic'):
        for hours in (0, 2, 2, 0):
            skew['hours'] = hours
            seconds[0] += READ_INTERVAL + 1
            clock()
    assert len(caplog.messages) == 2


def test_the_time_to_connect_does_not_change_the_clock(table):
    seconds = [0.0]

    def connect(*arguments):
        seconds[0] += 3600

    sa.event.listen(table.database.engine, 'checkout', connect)
    clock = DatabaseClock(table.database, timer=lambda: seconds[0])
    assert abs(clock() - timeutils.utcnow()) < CLOSE
    assert seconds[0]


def test_the_clock_advances_without_the_database(table, monkeypatch):
    seconds = [0.0]
    clock = DatabaseClock(table.database, machine(hours=3),
                          lambda: seconds[0])
    before = clock()
    monkeypatch.setattr(clock, '_database', AWAY)
    seconds[0] += 3600
    assert clock() - before == timedelta(hours=1)


def test_without_a_database_the_machine_clock_is_used(caplog):
    clock = DatabaseClock(AWAY, machine(hours=3))
    with caplog.at_level(logging.WARNING, 'nova_holistic'):
        assert abs(clock() - machine(hours=3)()) < CLOSE
    assert 'cannot be read' in caplog.text


def test_a_database_that_becomes_reachable_is_used_at_once(table, monkeypatch):
    clock = DatabaseClock(AWAY, machine(hours=3))
    assert abs(clock() - machine(hours=3)()) < CLOSE
    monkeypatch.setattr(clock, '_database', table.database)
    assert abs(clock() - timeutils.utcnow()) < CLOSE
