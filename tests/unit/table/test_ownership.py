# SPDX-License-Identifier: Apache-2.0
"""At most one engine at a time has a group or a job."""

from datetime import timedelta

import pytest

from nova_holistic.table.records import GroupStatus, Task
from tests.unit.table.builders import a_group, members_of, NOON

MINUTE = timedelta(minutes=1)
LATER = NOON + 2 * MINUTE


@pytest.fixture
def group(table):
    group = a_group(GroupStatus.PLANNING, task=Task.PLANNING,
                    pending={'lease': 60})
    table.create_group(group)
    return group.uuid


def take(table, group, engine, now=NOON):
    return table.tasks.take(group, engine, now, now - MINUTE)


def test_only_the_engine_with_the_task_writes_members(table, group):
    record = take(table, group, 'one')
    first = members_of(record, {'web': None})
    assert table.write_members(group, first, 'one')
    assert take(table, group, 'two', LATER)
    others = members_of(record, {'node': 2})
    assert not table.write_members(group, others, 'one')
    assert [m.hold for m in table.members(group)] == [first[0].hold]
    assert table.write_members(group, others, 'two')
    assert {m.hold for m in table.members(group)} == {m.hold for m in others}


def test_a_change_renews_the_heartbeat_of_the_engine(table, group):
    take(table, group, 'one')
    assert table.tasks.change(group, 'one', LATER, {'levels': ('host',)})
    assert table.get_group(group).levels == ('host',)
    assert take(table, group, 'two', LATER) is None


def test_an_engine_that_lost_its_task_changes_nothing(table, group):
    take(table, group, 'one')
    take(table, group, 'two', LATER)
    done = {'status': GroupStatus.ERROR}
    assert not table.tasks.change(group, 'one', LATER, done)
    assert not table.tasks.finish(group, 'one', done)
    assert table.get_group(group).status == GroupStatus.PLANNING
    assert table.tasks.finish(group, 'two', done)
    assert table.get_group(group).status == GroupStatus.ERROR


def test_attempts_are_counted_per_task(table, group):
    assert take(table, group, 'one').attempts == 1
    assert take(table, group, 'two', LATER).attempts == 2
    table.tasks.return_work('two')
    assert table.get_group(group).attempts == 1
    assert take(table, group, 'three', LATER).attempts == 2
    table.tasks.finish(group, 'three', {})
    assert table.get_group(group).attempts == 0


def test_only_the_work_of_the_given_group_is_returned(table, group):
    other = a_group(GroupStatus.PLANNING, task=Task.PLANNING)
    table.create_group(other)
    for uuid in (group, other.uuid):
        take(table, uuid, 'one')
    table.tasks.return_work('one', group)
    assert table.get_group(group).engine is None
    assert table.get_group(other.uuid).engine == 'one'


def take_job(table, engine, now=NOON, every=MINUTE):
    return table.jobs.take('reconcile', engine, now, due_before=now - every,
                           stale_before=now - MINUTE)


def test_a_job_belongs_to_one_engine_at_a_time(table):
    assert take_job(table, 'one')
    assert not take_job(table, 'two')
    table.jobs.finish('reconcile', 'one', NOON)
    assert not take_job(table, 'two')
    assert take_job(table, 'two', NOON + MINUTE)


def test_an_interrupted_job_is_taken_over(table):
    take_job(table, 'one')
    table.jobs.write_heartbeat(['reconcile'], 'one', NOON + MINUTE)
    assert not take_job(table, 'two', NOON + MINUTE)
    assert take_job(table, 'two', NOON + 3 * MINUTE)
    # An engine that lost the job cannot end it.
    table.jobs.finish('reconcile', 'one', NOON)
    assert not take_job(table, 'three', NOON + 3 * MINUTE)


def test_a_returned_job_can_be_taken_again(table):
    take_job(table, 'one')
    table.jobs.return_work('one')
    assert take_job(table, 'two')


def test_jobs_with_different_names_are_independent(table):
    assert take_job(table, 'one')
    assert table.jobs.take('leases', 'two', NOON, due_before=NOON,
                           stale_before=NOON)


def test_statistics_can_be_filtered_by_host_and_name(table):
    for host in ('a', 'b'):
        table.statistics.put(host, {'heat': 1.0, 'fans': 2.0}, NOON)
    table.statistics.put('a', {'heat': 3.0}, LATER)
    find = table.statistics.since
    assert find(LATER) == {'a': {'heat': 3.0}}
    assert find(NOON, hosts=['a']) == {'a': {'heat': 3.0, 'fans': 2.0}}
    assert find(NOON, names=['fans']) == {'a': {'fans': 2.0},
                                          'b': {'fans': 2.0}}
    assert find(NOON, hosts=[]) == {}
