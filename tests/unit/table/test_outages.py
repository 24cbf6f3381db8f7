# SPDX-License-Identifier: Apache-2.0
"""All engines agree on the begin of each outage of a host."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.table.records import MemberState
from tests.unit.table import builders
from tests.unit.table.builders import NOON

LATER = NOON + timedelta(minutes=1)


@pytest.fixture
def outages(table):
    return table.outages


def lose(table, host):
    """Return the ID of a lost member that was planned on the host."""
    group = builders.a_group()
    table.create_group(group)
    (row,) = builders.members_of(group, {'web': None})
    table.write_members(group.uuid, [replace(
        row, place=replace(row.place, host=host), held=False,
        state=MemberState.LOST)])
    return table.members(group.uuid)[0].id


def test_an_outage_begins_when_it_is_first_seen(outages):
    assert outages.observe(['h1'], NOON) == {'h1': NOON}
    assert outages.observe(['h1', 'h2'], LATER) == {'h1': NOON, 'h2': LATER}


def test_an_outage_ends_when_the_host_is_available(outages):
    outages.observe(['h1'], NOON)
    assert outages.observe([], NOON) == {}
    assert outages.observe(['h1'], LATER) == {'h1': LATER}


def test_only_a_host_that_was_given_up_returns(table, outages):
    for host in ('h1', 'h2'):
        lose(table, host)
    outages.observe(['h1', 'h2'], NOON)
    outages.give_up(['h1'])
    assert outages.given_up() == {'h1'}
    assert outages.returned() == frozenset()
    outages.observe(['h2'], LATER)
    assert outages.returned() == {'h1'}


def test_a_host_without_lost_members_is_forgotten(table, outages):
    member = lose(table, 'h1')
    outages.observe(['h1'], NOON)
    outages.give_up(['h1'])
    for _ in range(2):
        outages.observe([], LATER)
        assert outages.returned() == {'h1'}
    table.change_state(member, [MemberState.LOST], MemberState.PLANNED, LATER)
    outages.observe([], LATER)
    assert outages.returned() == outages.given_up() == frozenset()


def test_the_next_outage_of_a_returned_host_begins_later(table, outages):
    lose(table, 'h1')
    outages.observe(['h1'], NOON)
    outages.give_up(['h1'])
    outages.observe([], NOON)
    assert outages.observe(['h1'], LATER) == {'h1': LATER}
    assert outages.given_up() == {'h1'}
    assert outages.returned() == frozenset()


def test_of_two_engines_the_first_decides_when_an_outage_began(
        outages, monkeypatch):
    """The second engine read the table before the first one wrote."""
    outages.observe(['h1'], NOON)
    earlier, read = [{}], outages._read
    monkeypatch.setattr(
        outages, '_read', lambda: earlier.pop() if earlier else read())
    assert outages.observe(['h1'], LATER) == {'h1': NOON}


def test_a_thousand_hosts_are_written_in_parts(outages):
    hosts = [f'h{number}' for number in range(1000)]
    assert outages.observe(hosts, NOON) == dict.fromkeys(hosts, NOON)
    outages.give_up(hosts)
    assert outages.observe([], LATER) == {}
    assert outages.returned() == frozenset()
