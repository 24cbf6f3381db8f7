# SPDX-License-Identifier: Apache-2.0
"""Connections are kept, and belong to one thread and process."""

from concurrent.futures import ThreadPoolExecutor
import multiprocessing

import sqlalchemy as sa

from nova_holistic.table.database import Database
from nova_holistic.table.records import MemberState
from nova_holistic.table.store import PlacementTable
from tests.unit.table import builders


def test_connections_are_reused_between_transactions(table):
    group = builders.planned(table, node=2)
    opened = []
    sa.event.listen(table.database.engine, 'connect',
                    lambda *_: opened.append(1))
    for _ in range(5):
        assert table.get_group(group.uuid) == group
        builders.planned(table, web=None)
    assert opened == []


def test_options_of_pools_have_no_effect_on_sqlite(tmp_path):
    database = Database(
        f'sqlite:///{tmp_path}/table.sqlite', max_pool_size=1, max_overflow=0,
        pool_timeout=1)
    with database.reader() as first, database.reader() as second:
        assert [each.scalar(sa.text('SELECT 1'))
                for each in (first, second)] == [1, 1]
    database.close()


def test_threads_do_not_wait_for_each_others_connections(table):
    group = builders.planned(table, node=3)
    with table.database.reader() as outer:
        outer.execute(sa.text('SELECT 1'))
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(
                table.members, [group.uuid] * 8, timeout=300))
    assert found == [table.members(group.uuid)] * 8


def test_a_write_of_another_process_is_seen(
        table, table_url):
    group = builders.planned(table, web=None)
    (web,) = table.members(group.uuid)
    other = PlacementTable(table_url)
    assert other.change_state(
        web.id, [MemberState.PLANNED], MemberState.LOST, builders.NOON)
    assert [m.state for m in table.members(group.uuid)] == [MemberState.LOST]


def test_a_forked_worker_opens_its_own_connection(table):
    group = builders.planned(table, node=2)
    fork = multiprocessing.get_context('fork')
    answers = fork.Queue()
    child = fork.Process(target=_claim_one, args=(table, group, answers))
    child.start()
    opened, path = answers.get(timeout=300)
    child.join(300)
    assert child.exitcode == 0
    assert opened > 0
    assert path == 'db/node-0'
    assert table.claim(group.uuid, 'db/node', builders.new_uuid(),
                       builders.NOON).member.path == 'db/node-1'


def _claim_one(table, group, answers):
    opened = []
    sa.event.listen(table.database.engine, 'connect',
                    lambda *_: opened.append(1))
    row = table.claim(
        group.uuid, 'db/node', builders.new_uuid(), builders.NOON)
    answers.put((len(opened), row.member.path))
