# SPDX-License-Identifier: Apache-2.0
"""Machines whose clocks differ have one time, that of their database."""

from datetime import timedelta
import logging

from oslo_utils import timeutils
import pytest

from nova_holistic.table.clock import DatabaseClock, LOOK_AGAIN
from nova_holistic.table.database import Database
from tests.unit.api.crowd import statements

CLOSE = timedelta(minutes=1)
"""A machine that runs tests may be slow."""


def machine(**skew):
    return lambda: timeutils.utcnow() + timedelta(**skew)


@pytest.mark.parametrize('skew', [
    {'hours': 3}, {'hours': -3}, {'days': 400}, {}])
def test_a_clock_that_is_wrong_is_corrected(table, skew, caplog):
    with caplog.at_level(logging.WARNING, 'nova_holistic'):
        clock = DatabaseClock(table.database, machine(**skew))
        assert abs(clock() - timeutils.utcnow()) < CLOSE
        assert abs(clock() - timeutils.utcnow()) < CLOSE
    assert len(caplog.messages) == bool(skew)


def test_the_database_is_asked_now_and_then(table):
    seconds = [0.0]
    clock = DatabaseClock(table.database, timer=lambda: seconds[0])
    with statements(table) as sent:
        for _ in range(5):
            clock()
        assert len(sent) == 1
        seconds[0] += LOOK_AGAIN + 1
        for _ in range(5):
            clock()
        assert len(sent) == 2


def test_a_clock_that_is_set_right_is_noticed(table):
    seconds, skew = [0.0], {'hours': 2}
    clock = DatabaseClock(table.database, lambda: machine(**skew)(),
                          lambda: seconds[0])
    assert abs(clock() - timeutils.utcnow()) < CLOSE
    skew['hours'] = 0
    seconds[0] += LOOK_AGAIN + 1
    assert abs(clock() - timeutils.utcnow()) < CLOSE


def test_without_a_database_the_machine_has_its_own(caplog):
    clock = DatabaseClock(Database('sqlite:////no/such/folder/x.sqlite'),
                          machine(hours=3))
    with caplog.at_level(logging.WARNING, 'nova_holistic'):
        assert abs(clock() - machine(hours=3)()) < CLOSE
    assert 'cannot be read' in caplog.text
