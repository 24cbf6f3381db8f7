# SPDX-License-Identifier: Apache-2.0
"""No statement has more parameters than every database accepts."""

from datetime import datetime

import pytest

from nova_holistic.table.batches import batches, MAX_BATCH_SIZE
from nova_holistic.table.queries import consumers, overview
from nova_holistic.table.records import MemberState
from tests.statements import recorded
from tests.unit.table import builders

MANY = 1_001
"""Number of values that need three statements."""
MOST_PARAMETERS = 999
"""The maximum of SQLite before 3.32."""


def test_batches_keep_the_order():
    assert list(batches(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(batches(())) == []
    assert [len(batch) for batch in batches(range(MANY))] == [
        MAX_BATCH_SIZE, MAX_BATCH_SIZE, 1]


def uuids():
    return [builders.new_uuid() for _ in range(MANY)]


CALLS = {
    'alternates': lambda table: table.alternates(range(MANY)),
    'standing': lambda table: table.standing(range(MANY)),
    'hosts of members': lambda table: table.hosts_of_members(
        uuids(), 'group'),
    'forgotten holds': lambda table: table.forget_holds(uuids()),
    'released': lambda table: table.release(uuids(), builders.NOON),
    'kept groups': lambda table: table.tasks.write_heartbeat(
        uuids(), 'engine-1', builders.NOON),
    'kept plans': lambda table: table.plans.write_heartbeat(
        uuids(), 'engine-1', builders.NOON),
    'member counts': lambda table: table.listing.member_counts(uuids()),
    'statistics': lambda table: table.statistics.since(
        datetime(2000, 1, 1), hosts=uuids()),
    'consumers': lambda table: consumers.known_consumers(table.database,
                                                         uuids()),
    'whole members': lambda table: overview.member_records(table.database, [
        overview.MemberOutline(number, 'group', MemberState.BUILT, 'host',
                               'provider', 'hold', None)
        for number in range(MANY)]),
}


@pytest.mark.parametrize('name', CALLS)
def test_a_long_list_is_split(table, name):
    with recorded(table.database.engine) as sent:
        CALLS[name](table)
    assert len(sent.sent) >= 3
    for statement in sent.sent:
        assert len(statement.parameters) <= MOST_PARAMETERS


def test_all_of_a_long_list_is_found(table):
    group = builders.planned(table, node=MANY)
    members = table.members(group.uuid)
    assert table.alternates([m.id for m in members]) == {
        m.id: m.alternates for m in members}
    hosts = {m.place.host for m in members}
    assert len(table.hosts_of_members(hosts, 'other')) == MANY
    assert table.listing.member_counts([group.uuid, *uuids()])[
        group.uuid] == {'planned': MANY}
    assert table.standing([m.id for m in members]) == {}
