# SPDX-License-Identifier: Apache-2.0
"""The rows of a revised group change as planned, or not at all."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.table.changes import group_revision
from nova_holistic.table.changes.group_revision import Revision
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState, Place, Task
from nova_holistic.table.states import IllegalTransition
from tests.unit.table import builders

NOON = builders.NOON
LATER = NOON + timedelta(minutes=5)
DOCUMENT = {'name': 'store'}
FOUND = Place('cmp-7', 'cmp-7.example.org', builders.new_uuid(), ('rack7',))


@pytest.fixture
def group(table):
    """A group of a web server and three nodes, which an engine updates."""
    group = builders.planned(table, web=None, node=3)
    assert table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': DOCUMENT}, [GroupStatus.PLANNED], 1),
        NOON)
    return table.tasks.take(group.uuid, 'engine-1', NOON, NOON)


def by_path(table, group):
    return {m.member.path: m for m in table.members(group.uuid)}


def moved(row):
    return replace(row, place=FOUND, hold=builders.new_uuid(),
                   updated_at=LATER)


def revision(table, group, *names):
    """The group gets these members: a row that must move for a name with a
    star, and a new row for a new name."""
    rows = by_path(table, group)
    paths = [name.strip('*') for name in names]
    (added,) = builders.members_of(group, {'new': None})
    return Revision(
        {'document': DOCUMENT, 'name': 'store'},
        {path: path.partition('-')[0] for path in paths},
        [(rows[name[:-1]], moved(rows[name[:-1]]))
         for name in names if name.endswith('*')],
        [row for path, row in rows.items() if path not in paths],
        [added for path in paths if path not in rows])


def revise(table, group, change, engine='engine-1'):
    return group_revision.revise(
        table.database, group.uuid, engine, change, LATER)


def test_a_revision_moves_removes_adds_and_orders_rows(table, group):
    before = by_path(table, group)
    change = revision(
        table, group, 'db/node-2', 'db/new', 'db/web*', 'db/node-0')
    assert revise(table, group, change)
    after = by_path(table, group)
    assert list(after) == ['db/node-2', 'db/new', 'db/web', 'db/node-0']
    assert after['db/node-0'] == before['db/node-0']
    ((_, wanted),) = change.renewed
    assert after['db/web'] == wanted
    assert replace(after['db/new'], id=0) == change.added[0]
    record = table.get_group(group.uuid)
    assert (record.revision, record.document, record.name) == (
        2, DOCUMENT, 'store')
    assert (record.task, record.engine) == (Task.UPDATING, 'engine-1')


def test_servers_are_claimed_in_the_order_of_the_revision(table, group):
    assert revise(table, group, revision(
        table, group, 'db/web', 'db/node-2', 'db/node-0'))
    assert table.claim(group.uuid, 'db/node', builders.new_uuid(),
                       NOON).member.path == 'db/node-2'


@pytest.mark.parametrize('names', [
    ('db/web*', 'db/node-0', 'db/node-1', 'db/node-2'),
    ('db/node-0', 'db/node-1*', 'db/node-2')])
def test_a_claim_since_the_read_refuses_the_revision(
        table, group, names):
    change = revision(table, group, *names, 'db/new')
    instance = builders.new_uuid()
    table.claim(group.uuid, 'db/web', instance, NOON)
    before = table.members(group.uuid)
    assert not revise(table, group, change)
    assert table.members(group.uuid) == before
    assert table.get_group(group.uuid).revision == 1
    assert table.member_of_instance(instance).member.path == 'db/web'


def test_a_claim_of_an_unchanged_member_allows_the_revision(table, group):
    change = revision(table, group, 'db/web', 'db/node-0*')
    table.claim(group.uuid, 'db/web', builders.new_uuid(), NOON)
    assert revise(table, group, change)
    assert by_path(table, group)['db/web'].state == MemberState.CLAIMED


def test_a_member_moved_since_the_read_refuses_the_revision(table, group):
    change = revision(table, group, 'db/web*')
    (web,) = (m for m in table.members(group.uuid)
              if m.member.path == 'db/web')
    table.change_state(web.id, [MemberState.PLANNED], MemberState.PLANNED,
                       NOON, hold=builders.new_uuid())
    assert not revise(table, group, change)


def test_an_engine_cannot_revise_the_group_of_another(table, group):
    change = revision(table, group, 'db/web*')
    assert not revise(table, group, change, 'engine-2')
    assert not group_revision.vacate(table.database, group.uuid, 'engine-2',
                                     table.members(group.uuid), LATER)
    assert table.get_group(group.uuid) == group


def test_vacated_members_are_lost_until_they_are_occupied_again(
        table, group):
    rows = table.members(group.uuid)
    assert group_revision.vacate(
        table.database, group.uuid, 'engine-1', rows[:2], LATER)
    assert [(m.state, m.held) for m in table.members(group.uuid)] == [
        *2 * [(MemberState.LOST, True)], *2 * [(MemberState.PLANNED, True)]]
    table.release([rows[1].hold], LATER)
    assert group_revision.occupy(table.database, group.uuid, 'engine-1',
                                 [m.hold for m in rows[:2]], LATER)
    assert [m.state for m in table.members(group.uuid)] == [
        MemberState.PLANNED, MemberState.RELEASED,
        MemberState.PLANNED, MemberState.PLANNED]


def test_an_engine_cannot_occupy_members_another_one_vacated(
        table, group):
    rows = table.members(group.uuid)
    assert group_revision.vacate(
        table.database, group.uuid, 'engine-1', rows, LATER)
    assert not group_revision.occupy(table.database, group.uuid, 'engine-2',
                                     [m.hold for m in rows], LATER)
    assert {m.state for m in table.members(group.uuid)} == {MemberState.LOST}


def test_settling_during_a_revision_keeps_the_status_correct(
        table, group, monkeypatch):
    """All members were released. A member is added before the status of the
    group changes."""
    table.release([m.hold for m in table.members(group.uuid)], LATER)
    writer, change = table.database.link_writer, revision(
        table, group, *by_path(table, group), 'db/new')

    def revised_first():
        monkeypatch.setattr(table.database, 'link_writer', writer)
        assert revise(table, group, change)
        table.settle(group.uuid, LATER)
        return writer()

    monkeypatch.setattr(table.database, 'link_writer', revised_first)
    table.settle(group.uuid, LATER)
    assert table.get_group(group.uuid).status == GroupStatus.PLANNED


def test_either_all_members_are_vacated_or_none(table, group):
    rows = table.members(group.uuid)
    table.claim(group.uuid, rows[1].member.path, builders.new_uuid(), NOON)
    assert not group_revision.vacate(
        table.database, group.uuid, 'engine-1', rows, LATER)
    assert [str(m.state) for m in table.members(group.uuid)] == [
        'planned', 'claimed', 'planned', 'planned']


@pytest.mark.parametrize('state', [MemberState.LOST, MemberState.CLAIMED])
def test_only_planned_members_can_be_vacated(table, group, state):
    """A lost member has no hold, and a claimed member has a server."""
    row = table.members(group.uuid)[0]
    assert table.change_state(row.id, [MemberState.PLANNED], state, NOON,
                              held=False)
    with pytest.raises(IllegalTransition):
        group_revision.vacate(table.database, group.uuid, 'engine-1',
                              table.members(group.uuid), LATER)
    assert not table.members(group.uuid)[0].held
