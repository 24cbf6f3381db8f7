# SPDX-License-Identifier: Apache-2.0
"""Every change of a status or a state writes its event in the same
transaction."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.messaging.context import RequestContext
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.changes.group_purge import Choice, purge
from nova_holistic.table.changes import group_revision
from nova_holistic.table.changes.group_revision import Revision
from nova_holistic.table.coordination.refusals import Refusal
from nova_holistic.table.database import Database
from nova_holistic.table import errors
from nova_holistic.table.history import events
from nova_holistic.table.history.events import Kind
from nova_holistic.table.history.pages import Page
from nova_holistic.table.records import GroupStatus, MemberState, Task
from nova_holistic.table import states
from nova_holistic.table.store import PlacementTable
from tests.statements import recorded
from tests.unit.table import builders
from tests.unit.table.builders import NOON
from tests.unit.table.test_races import at_once

LATER = NOON + timedelta(hours=1)
MANY = events.INDIVIDUAL + 1


def history(table, group, **wanted):
    return table.history.read(Page(group.uuid, 1000, **wanted))


def shown(table, group, **wanted):
    """The history as kind, member, state before and state after."""
    return [(str(e.kind), e.member, e.from_state, e.to_state)
            for e in history(table, group, **wanted)]


def after(table, group, change):
    """The events that a change adds to the history."""
    before = len(history(table, group))
    change()
    return shown(table, group)[before:]


def member(path, before, to):
    return 'member.state', path, before, to


def status(before, to):
    return 'group.status', None, before, to


@pytest.fixture
def large(table):
    return builders.planned(table, node=MANY)


def test_creation_and_plan_are_one_event_each(table, large):
    assert shown(table, large) == [
        status(None, 'planned'), ('plan.written', None, None, None)]
    assert history(table, large)[1].details == {'members': MANY}


def test_a_claim_writes_the_events_of_member_and_group_in_one_statement(
        table, shop):
    with recorded(table.database.engine) as sent:
        found = after(table, shop, lambda: table.claim(
            shop.uuid, 'db/web', 'server-1', NOON))
    assert found == [member('db/web', 'planned', 'claimed'),
                     status('planned', 'building')]
    assert len([each for each in sent.statements
                if each.startswith('INSERT INTO holistic_events')]) == 1
    assert after(table, shop, lambda: table.claim(
        shop.uuid, 'db/node', 'server-2', NOON)) == [
            member('db/node-0', 'planned', 'claimed')]


def test_a_refused_claim_leaves_no_event(table, shop):
    table.claim(shop.uuid, 'db/web', 'server-1', NOON)

    def refused():
        with pytest.raises(errors.MemberTaken):
            table.claim(shop.uuid, 'db/web', 'server-2', NOON)

    assert after(table, shop, refused) == []


def test_a_change_of_state_names_the_state_that_it_found(table, shop):
    row = table.claim(shop.uuid, 'db/web', 'server-1', NOON)
    expected = {MemberState.CLAIMED, MemberState.FAILED}
    change = {'of_instance': 'server-1', 'held': False}
    assert after(table, shop, lambda: table.change_state(
        row.id, expected, MemberState.BUILT, NOON, **change)) == [
            member('db/web', 'claimed', 'built')]
    assert after(table, shop, lambda: table.change_state(
        row.id, expected, MemberState.BUILT, NOON, **change)) == []


def test_a_moved_member_is_listed_with_its_new_host(table, shop):
    row = table.claim(shop.uuid, 'db/web', 'server-1', NOON)
    assert after(table, shop, lambda: table.change_state(
        row.id, {MemberState.CLAIMED}, MemberState.CLAIMED, NOON,
        place=replace(row.place, host='cmp-9'))) == [
            ('place.moved', 'db/web', None, None)]
    assert history(table, shop)[-1].host == 'cmp-9'


def test_settling_writes_one_event_of_the_status(table, shop):
    rows = table.members(shop.uuid)

    def settle():
        table.release([row.hold for row in rows], NOON)
        table.settle(shop.uuid, NOON)
        table.settle(shop.uuid, NOON)

    assert after(table, shop, settle) == [
        *(member(row.member.path, 'planned', 'released') for row in rows),
        status('planned', 'released')]


def test_many_released_members_are_one_event(table, large):
    holds = [row.hold for row in table.members(large.uuid)]
    assert after(table, large, lambda: table.release(holds, LATER)) == [
        member(None, 'planned', 'released')]
    last = history(table, large)[-1]
    assert (last.details, last.at) == ({'members': MANY}, LATER)
    assert after(table, large, lambda: table.release(holds, LATER)) == []


@pytest.mark.parametrize('count', [3, 300])
def test_the_statements_of_a_release_do_not_grow_with_the_group(
        table, count):
    group = builders.planned(table, node=count)
    holds = [row.hold for row in table.members(group.uuid)]
    with recorded(table.database.engine) as sent:
        table.release(holds, NOON)
    # The lock, the read, the change and the events.
    assert len(sent.statements) == 4


def test_former_states_are_counted_apart(table, large):
    first = table.members(large.uuid)[0]
    table.change_state(first.id, {MemberState.PLANNED}, MemberState.LOST,
                       NOON)
    holds = [row.hold for row in table.members(large.uuid)]
    assert after(table, large, lambda: table.release(holds, NOON)) == [
        member(None, 'lost', 'released'),
        member(None, 'planned', 'released')]
    assert [e.details['members'] for e in history(table, large)[-2:]] == [
        1, MANY - 1]


def test_an_expired_lease_has_its_reason(table):
    group = builders.planned(
        table, builders.a_group(lease_expires_at=NOON), web=None)
    assert after(table, group, lambda: table.expire(group.uuid, NOON)) == [
        member('db/web', 'planned', 'released'),
        ('group.status', None, 'planned', 'released')]
    (reason,) = history(table, group)[-2].reasons
    assert 'lease' in reason['public']


def test_a_renewed_lease_is_listed_with_its_end(table, shop):
    assert after(table, shop, lambda: table.update_group(
        shop.uuid, CLAIMABLE, lease_expires_at=LATER)) == [
            ('lease.changed', None, None, None)]
    assert history(table, shop)[-1].details == {
        'lease_expires_at': '2030-01-01T13:00:00Z'}
    assert after(table, shop, lambda: table.update_group(
        shop.uuid, CLAIMABLE, lease_expires_at=LATER)) == []


def test_a_task_that_ends_records_status_and_reasons(table):
    group = builders.planned(table, builders.a_group(
        GroupStatus.PLANNING, task=Task.PLANNING))
    table.tasks.take(group.uuid, 'engine-1', NOON, NOON)
    why = ({'at': 'db', 'message': 'no room'},)

    def finish(engine):
        return table.tasks.finish(group.uuid, engine, {
            'status': GroupStatus.UNPLACEABLE, 'reasons': why,
            'updated_at': LATER})

    assert after(table, group, lambda: finish('engine-2')) == []
    assert after(table, group, lambda: finish('engine-1')) == [
        status('planning', 'unplaceable')]
    assert history(table, group)[-1].reasons == why
    assert history(table, group)[-1].at == LATER


def test_a_refused_host_is_listed_with_the_member(table, shop):
    web = table.members(shop.uuid)[0]
    reason = {'at': 'db/web', 'message': 'cmp-0 was refused'}
    assert after(table, shop, lambda: table.refusals.add(
        web, [Refusal('cmp-0', 'AFilter')], reason, NOON)) == [
            ('host.refused', 'db/web', None, None)]
    last = history(table, shop)[-1]
    assert (last.host, last.reasons) == ('cmp-0', (reason,))


def test_a_revision_lists_its_changes(table):
    group = builders.planned(
        table, builders.a_group(task=Task.UPDATING), web=None, node=2)
    table.tasks.take(group.uuid, 'engine-1', NOON, NOON)
    web, first, second = table.members(group.uuid)
    moved = replace(first, hold=builders.new_uuid(),
                    place=replace(first.place, host='cmp-9'))
    revision = Revision(
        {}, {row.member.path: row.member.description
             for row in (web, first)},
        renewed=[(first, moved)], removed=[second])
    assert after(table, group, lambda: group_revision.revise(
        table.database, group.uuid, 'engine-2', revision, NOON)) == []
    assert after(table, group, lambda: group_revision.revise(
        table.database, group.uuid, 'engine-1', revision, NOON)) == [
            ('group.revised', None, None, None),
            ('place.moved', 'db/node-0', None, None)]
    assert history(table, group)[-2].details == {
        'members': 2, 'added': 0, 'moved': 1, 'removed': 1}


def test_a_revision_that_is_undone_leaves_no_event(table):
    group = builders.planned(
        table, builders.a_group(task=Task.UPDATING), web=None)
    table.tasks.take(group.uuid, 'engine-1', NOON, NOON)
    (web,) = table.members(group.uuid)
    table.claim(group.uuid, 'db/web', 'server-1', NOON)
    received = []
    table.database.listen(received.extend)
    assert after(table, group, lambda: group_revision.revise(
        table.database, group.uuid, 'engine-1',
        Revision({'status': GroupStatus.PLANNED}, {}, removed=[web]),
        NOON)) == []
    assert received == []


def test_members_that_an_update_vacates_return(table):
    group = builders.planned(
        table, builders.a_group(task=Task.UPDATING), web=None)
    table.tasks.take(group.uuid, 'engine-1', NOON, NOON)
    members = table.members(group.uuid)

    def both():
        group_revision.vacate(table.database, group.uuid, 'engine-1', members,
                              NOON)
        group_revision.occupy(table.database, group.uuid, 'engine-1',
                              [members[0].hold], NOON)

    assert after(table, group, both) == [
        member('db/web', 'planned', 'lost'),
        member('db/web', 'lost', 'planned')]


@pytest.mark.parametrize('delete', [
    lambda table, group: table.delete_group(group.uuid),
    lambda table, group: purge(table.database, group.uuid, Choice(
        [GroupStatus.RELEASED]))])
def test_the_history_is_deleted_with_the_group(table, delete):
    group = builders.planned(table, builders.a_group(GroupStatus.RELEASED))
    other = builders.planned(table)
    received = []
    table.database.listen(received.extend)
    delete(table, group)
    assert shown(table, group) == []
    assert shown(table, other) != []
    assert [e.kind for e in received] == [Kind.GROUP_DELETED]


def test_an_event_names_the_user_of_the_change(table_url):
    table = PlacementTable(Database(table_url, service='engine'))
    with RequestContext('req-1', 'blue', 'ann').logged():
        group = builders.planned(table)
    first = history(table, group)[0]
    assert (first.service, first.request_id, first.user_id) == (
        'engine', 'req-1', 'ann')


def test_listeners_receive_events_after_the_commit(table, shop):
    seen = []

    def hear(received):
        # Another connection can read the events already.
        seen.append((list(received), len(history(table, shop))))

    def fail(received):
        raise RuntimeError('the bus is down')

    table.database.listen(fail)
    table.database.listen(hear)
    before = len(history(table, shop))
    table.claim(shop.uuid, 'db/web', 'server-1', NOON)
    ((received, there),) = seen
    assert [str(e.kind) for e in received] == ['member.state', 'group.status']
    assert there == before + 2


def test_events_of_changes_at_once_form_a_chain(table, shop):
    web = table.members(shop.uuid)[0]

    def change(to):
        table.change_state(
            web.id, set(states.MEMBERS.leading_to(to)) - {to}, to, NOON)

    def lose_and_plan(between):
        # After both calls the member was lost and planned at least once. The
        # other threads do not affect this.
        for state in (MemberState.LOST, between, MemberState.PLANNED):
            change(state)

    at_once([lambda state=state: lose_and_plan(state)
             for state in (MemberState.LOST, MemberState.PLANNED) * 4])
    chain = ['planned']
    for event in history(table, shop, member='db/web'):
        assert event.from_state == chain[-1]
        chain.append(event.to_state)
    assert len(chain) > 2
    assert table.members(shop.uuid)[0].state == chain[-1]


def test_pages_filters_and_order(table, shop):
    table.claim(shop.uuid, 'db/web', 'server-1', LATER)
    everything = history(table, shop)
    first = table.history.read(Page(shop.uuid, 2))
    rest = table.history.read(Page(shop.uuid, 9, marker=first[-1].id))
    assert first + rest == everything
    assert history(table, shop, descending=True) == everything[::-1]
    assert table.history.read(Page(
        shop.uuid, 9, marker=everything[1].id, descending=True)) == (
            everything[:1])
    assert shown(table, shop, member='db/web') == [
        member('db/web', 'planned', 'claimed')]
    assert shown(table, shop, kind='plan.written') == [
        ('plan.written', None, None, None)]
    assert history(table, shop, since=LATER) == everything[2:]


def test_old_events_are_pruned_in_batches(table, shop, monkeypatch):
    monkeypatch.setattr('nova_holistic.table.history.pages.MAX_BATCH_SIZE', 1)
    table.claim(shop.uuid, 'db/web', 'server-1', LATER)
    assert table.history.prune(LATER) == 2
    assert shown(table, shop) == [member('db/web', 'planned', 'claimed'),
                                  status('planned', 'building')]
    assert table.history.prune(LATER) == 0
