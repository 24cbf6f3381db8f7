# SPDX-License-Identifier: Apache-2.0
"""Concurrent calls: each change is complete and belongs to one caller, and no
caller is refused because of the time of its call."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
import threading

from nova_holistic.table.changes import group_revision
from nova_holistic.table.changes.group_revision import Revision
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table import errors
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.table import builders

NOON = builders.NOON
THREADS = 12


def at_once(calls):
    """Results of calls that start at the same moment."""
    gate = threading.Barrier(len(calls))

    def run(call):
        gate.wait(60)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_groups_created_concurrently_are_all_stored(table):
    def create():
        return [builders.planned(table, web=None, node=5) for _ in range(4)]

    groups = [group for some in at_once([create] * THREADS)
              for group in some]
    assert {g.uuid for g in table.list_groups()} == {g.uuid for g in groups}
    for group in groups:
        assert len(table.members(group.uuid)) == 6


def test_each_task_is_taken_by_one_engine(table):
    groups = [builders.planned(table, builders.a_group(
        GroupStatus.PLANNING, task=Task.PLANNING)) for _ in range(10)]

    def take(engine):
        return [table.tasks.take(group.uuid, engine, NOON, NOON)
                for group in groups]

    taken = at_once([lambda number=number: take(f'engine-{number}')
                     for number in range(THREADS)])
    for each in zip(*taken, strict=True):
        (record,) = (found for found in each if found is not None)
        assert table.get_group(record.uuid).engine == record.engine


def test_of_concurrent_requests_one_sets_the_task(table, shop):
    asked = at_once([lambda: table.tasks.request(
        shop.uuid, NewTask(Task.UPDATING, {}, [GroupStatus.PLANNED], 1), NOON)
    ] * THREADS)
    assert sorted(asked) == (THREADS - 1) * [False] + [True]


def test_claims_during_a_revision_are_never_lost(table):
    """Every member moves repeatedly. A claim gets the member on its current
    host."""
    group = builders.planned(table, node=THREADS)
    assert table.tasks.request(
        group.uuid, NewTask(Task.UPDATING, {}, [GroupStatus.PLANNED], 1), NOON)
    table.tasks.take(group.uuid, 'engine', NOON, NOON)

    def revise():
        """Revise until no member remains to be moved."""
        done = 0
        while True:
            rows = [m for m in table.members(group.uuid)
                    if m.state == MemberState.PLANNED]
            if not rows:
                return done
            done += group_revision.revise(
                table.database, group.uuid, 'engine',
                Revision({}, {}, [(row, replace(
                    row, hold=builders.new_uuid())) for row in rows]), NOON)

    def claim():
        return table.claim(
            group.uuid, 'db/node', builders.new_uuid(), NOON)

    done, *claimed = at_once([revise, *[claim] * THREADS])
    assert {(m.id, m.hold, m.instance_uuid)
            for m in table.members(group.uuid)} == {
                (m.id, m.hold, m.instance_uuid) for m in claimed}
    record = table.get_group(group.uuid)
    assert (record.revision, record.status) == (
        1 + done, GroupStatus.BUILDING)


def test_a_member_is_either_claimed_or_released(table):
    group = builders.planned(table, node=3 * THREADS)
    holds = [m.hold for m in table.members(group.uuid)]

    def claim():
        try:
            return table.claim(
                group.uuid, 'db/node', builders.new_uuid(), NOON).id
        except errors.ClaimRefused:
            return None

    def release():
        table.release(holds, NOON)
        table.settle(group.uuid, NOON)

    results = at_once([*[claim] * THREADS, release, release])
    states = {m.id: m.state for m in table.members(group.uuid)}
    won = {number for number in results if number is not None}
    assert {number for number, state in states.items()
            if state == MemberState.CLAIMED} == won
    assert set(states.values()) <= {MemberState.CLAIMED,
                                    MemberState.RELEASED}


def test_statistics_written_concurrently_are_all_stored(table):
    names = [f'name-{number}' for number in range(10)]

    def put(number):
        table.statistics.put(
            'cmp-1', dict.fromkeys(names, float(number)), NOON)

    at_once([lambda number=number: put(number) for number in range(THREADS)])
    found = table.statistics.since(NOON)['cmp-1']
    assert found.keys() == set(names)
    assert set(found.values()) <= {float(n) for n in range(THREADS)}
