# SPDX-License-Identifier: Apache-2.0
"""Parts of groups in other clouds, and credentials for these clouds."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.table.changes import mirrored_members
from nova_holistic.table.coordination.parts import GroupPart, PartReport
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.database import Duplicate
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.table import builders

NOON = builders.NOON
LATER = NOON + timedelta(minutes=2)


def planning(table):
    """A group whose task belongs to the process ``one``."""
    group = builders.a_group(GroupStatus.PLANNING, task=Task.PLANNING)
    table.create_group(group)
    assert table.tasks.take(group.uuid, 'one', NOON, NOON)
    return GroupPart(f'p-{group.uuid}-1-dfw', group.uuid, 'dfw', 'shop',
                     ('db/web',), 'creating', NOON)


def placed(table):
    """A part of a group without a task."""
    part = planning(table)
    assert table.parts.write(part, 'one')
    assert table.tasks.finish(part.group_uuid, 'one',
                              {'status': GroupStatus.PLANNED})
    return part


def test_a_part_is_replaced_by_its_key(table):
    part = planning(table)
    assert table.parts.write(part, 'one')
    created = replace(part, state='created', lease_expires_at=LATER,
                      child_group=builders.new_uuid())
    assert table.parts.write(created, 'one')
    assert table.parts.of_group(part.group_uuid) == (created,)


def test_the_report_of_a_child_is_kept(table):
    part, server = placed(table), builders.new_uuid()
    pointers = {'db/web': (builders.new_uuid(), 'web')}
    assert table.parts.observe(part, PartReport(
        LATER, {'db/web': server}, pointers, 'blue'), LATER)
    assert table.parts.of_group(part.group_uuid) == (replace(
        part, lease_expires_at=LATER, instances={'db/web': server},
        pointers=pointers, updated_at=LATER, child_project='blue'),)


def test_an_outdated_report_is_not_written(table):
    """The part or its group has changed before the child answered."""
    part, report = placed(table), PartReport(LATER, {}, {}, None)
    assert not table.parts.observe(part, report, NOON, 2)
    assert not table.parts.observe(
        replace(part, state='created'), report, NOON)
    assert table.tasks.request(part.group_uuid, NewTask(
        Task.UPDATING, {}, [GroupStatus.PLANNED]), NOON)
    assert not table.parts.observe(part, report, NOON)
    assert table.parts.of_group(part.group_uuid) == (part,)
    table.parts.remove([part.idempotency_key])
    assert not table.parts.observe(part, report, NOON)


def test_a_known_project_is_kept(table):
    part = replace(placed(table), child_project='blue')
    table.parts.write(part, None)
    table.parts.write(replace(part, child_project=None), None)
    assert table.parts.observe(part, PartReport(None, {}, {}, None), NOON)
    (found,) = table.parts.of_group(part.group_uuid)
    assert found.child_project == 'blue'


def test_only_the_owner_of_the_task_writes_parts(table):
    part = planning(table)
    assert not table.parts.write(part, 'two')
    assert not table.parts.write(part, None)
    assert table.parts.of_group(part.group_uuid) == ()


def test_without_a_task_parts_need_no_owner(table):
    part = planning(table)
    table.tasks.finish(part.group_uuid, 'one',
                       {'status': GroupStatus.PLANNED})
    assert not table.parts.write(part, 'one')
    assert table.parts.write(part, None)


def test_a_part_is_not_written_if_the_group_has_another_revision(table):
    part = planning(table)
    assert not table.parts.write(part, 'one', 2)
    assert table.parts.of_group(part.group_uuid) == ()
    assert table.parts.write(part, 'one', 1)


def test_a_deleted_group_has_no_parts(table):
    part = planning(table)
    assert table.parts.write(part, 'one')
    table.delete_group(part.group_uuid)
    assert table.parts.of_group(part.group_uuid) == ()
    assert not table.parts.write(part, 'one')


def test_a_credential_belongs_to_one_user_project_and_child(table):
    credentials = table.child_credentials
    credentials.put('ann', 'blue', 'dfw', 'first', NOON)
    credentials.put('ann', 'blue', 'dfw', 'second', LATER)
    assert credentials.get('ann', 'blue', 'dfw') == 'second'
    assert credentials.of_user('ann', 'blue') == {'dfw': LATER}
    for other in (('rob', 'blue', 'dfw'), ('ann', 'red', 'dfw'),
                  ('ann', 'blue', 'ams')):
        assert credentials.get(*other) is None
        assert not credentials.delete(*other)
    assert credentials.delete('ann', 'blue', 'dfw')
    assert credentials.get('ann', 'blue', 'dfw') is None


def test_a_credential_that_is_never_written_is_an_error(table, monkeypatch):
    """Other requests insert and delete it between the two statements of each
    transaction."""
    tries = []

    def conflict(*words):
        tries.append(words)
        raise Duplicate('inserted by another request')

    monkeypatch.setattr(table.child_credentials, '_write', conflict)
    with pytest.raises(Duplicate):
        table.child_credentials.put('ann', 'blue', 'dfw', 'first', NOON)
    assert len(tries) == 2


def test_states_of_children_are_mirrored_without_a_state_machine(table):
    group = builders.planned(table, web=None, node=2)
    mirrored_members.write(table.database, group.uuid, {
        'db/web': MemberState.BUILT, 'db/node-0': MemberState.RELEASED,
        'db/unknown': MemberState.BUILT}, LATER)
    states = {row.member.path: row.state for row in table.members(group.uuid)}
    assert states == {'db/web': 'built', 'db/node-0': 'released',
                      'db/node-1': 'planned'}
    assert table.get_group(group.uuid).status == GroupStatus.BUILDING
    mirrored_members.write(table.database, group.uuid, {
        'db/node-1': MemberState.BUILT}, LATER)
    assert table.get_group(group.uuid).status == GroupStatus.COMPLETE


def test_the_process_with_the_task_of_a_group_mirrors_it(table):
    """No other process writes what it has read before the task began."""
    part, report = planning(table), PartReport(LATER, {}, {}, None)
    assert table.parts.write(part, 'one')
    assert not table.parts.observe(part, report, LATER, 1, 'two')
    assert table.parts.observe(part, report, LATER, 1, 'one')
    group = part.group_uuid
    assert table.write_members(group, builders.members_of(
        table.get_group(group), {'web': None}), 'one')
    for engine, state in (('two', 'planned'), ('one', 'lost')):
        mirrored_members.write(table.database, group, {
            'db/web': MemberState.LOST}, LATER, mirrored_members.Seen(
                1, {'db/web': MemberState.PLANNED}, engine=engine))
        assert [row.state for row in table.members(group)] == [state]


@pytest.mark.parametrize('revision, task, state', [
    (1, None, 'built'), (2, None, 'planned'), (1, Task.UPDATING, 'planned')])
def test_states_of_a_group_that_has_changed_are_not_mirrored(
        table, revision, task, state):
    group = builders.planned(table, web=None)
    if task:
        assert table.tasks.request(group.uuid, NewTask(
            task, {}, [GroupStatus.PLANNED]), NOON)
    mirrored_members.write(table.database, group.uuid, {
        'db/web': MemberState.BUILT}, LATER, mirrored_members.Seen(
            revision, {'db/web': MemberState.PLANNED}))
    assert [row.state for row in table.members(group.uuid)] == [state]
