# SPDX-License-Identifier: Apache-2.0
"""All calls of services and commands to the placement table, each made once
for a group of four members."""

from dataclasses import replace
from datetime import timedelta
import itertools

import pytest

from nova_holistic.model.action import Action, ActionKind, ActionState
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.stack_rules import StackRule
from nova_holistic.table.boot_records import (
    BootRequest, BootServerState, BootStatus)
from nova_holistic.table.changes.alternates import Seen
from nova_holistic.table.changes.claim import SeenRows
from nova_holistic.table.changes import (
    alternates, detaching, group_degradation, group_deletion, group_growth,
    group_purge, group_revision, held_places, member_moves, member_release,
    member_replan, mirrored_members, recovered_groups)
from nova_holistic.table.changes.detaching import Detached
from nova_holistic.table.changes.first_change import FirstChange
from nova_holistic.table.changes.group_revision import Revision
from nova_holistic.table.changes.held_places import Handover
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.coordination.bindings import (
    Binding, BindingKind, Hinted, stack_target)
from nova_holistic.table.coordination import delayed_work
from nova_holistic.table.coordination.parts import GroupPart, PartReport
from nova_holistic.table.coordination.refusals import Refusal
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.created_volumes import (
    CreatedVolumeState, CreationStatus, VolumeRequest)
from nova_holistic.table import errors
from nova_holistic.table import group_reasons
from nova_holistic.table.history import deletions
from nova_holistic.table.history.pages import Page as EventPage
from nova_holistic.table.queries import consumers, memberships, overview
from nova_holistic.table.queries.group_page import Page, SORT_KEYS
from nova_holistic.table.queries.pointer_target import pointed_at
from nova_holistic.table.queries.totals import (
    any_group_uses_all_hosts, totals)
from nova_holistic.table.records import (
    GroupStatus, MemberState, PlanRecord, PlanStatus, Task)
from tests.unit.table import builders
from tests.unit.table.filling import LONG_AGO

NOON = builders.NOON
LATER = NOON + timedelta(hours=1)
ENGINE = 'one'


def call_everything(table):
    group = plan(table)
    read(table, group)
    list_pages(table, group)
    find_alternates(table, group)
    bind(table, group)
    act(table, group)
    claim(table, group)
    move_and_release(table, group)
    grow(table)
    hand_over(table)
    share_links(table)
    create_volumes(table)
    create_volumes_at_plan_time(table)
    adopt_and_detach(table)
    boot(table)
    federate(table)
    update(table, group)
    degrade(table)
    settle(table)
    expire(table)
    delete(table)
    run_plans(table)
    run_jobs(table)


def plan(table):
    """Plan a new group, as an engine does."""
    group = builders.a_group(
        GroupStatus.PLANNING, task=Task.PLANNING, idempotency_key='once',
        exclusive=True)
    table.create_group(group)
    tasks = table.tasks
    assert tasks.waiting(NOON, 4) == (group.uuid,)
    assert tasks.take(group.uuid, ENGINE, NOON, NOON)
    assert tasks.pending([group.uuid, 'unknown']) == {group.uuid}
    tasks.write_heartbeat([group.uuid], ENGINE, NOON)
    assert tasks.interrupt(group.uuid, 1)
    assert tasks.take(group.uuid, ENGINE, NOON, NOON)
    assert table.write_members(group.uuid, builders.members_of(
        group, {'web': None, 'node': 3}), ENGINE)
    assert tasks.change(group.uuid, ENGINE, NOON, {'holds_written': 2})
    for _ in range(2):
        delayed_work.note(table.database, group.uuid, {
            'at': '', 'message': 'it failed'}, NOON, ENGINE)
    assert tasks.finish(group.uuid, ENGINE, {'status': GroupStatus.PLANNED})
    assert table.update_group(
        group.uuid, [GroupStatus.PLANNED], lease_expires_at=LATER)
    return table.get_group(group.uuid)


def read(table, group):
    """Read groups and members in every way."""
    database, listing = table.database, table.listing
    server, numbers = builders.new_uuid(), [1, 2]
    table.group_with_members(group.uuid)
    table.member_of_instance(server)
    table.alternates(numbers)
    table.standing(numbers)
    table.standing(numbers[:1])
    table.hosts_of_members(['cmp-3'], group.uuid)
    table.list_groups('blue', [GroupStatus.PLANNED])
    table.find_members([MemberState.LOST])
    table.find_members([MemberState.RELEASED, MemberState.LOST], held=True)
    # The second read returns the changes since the first.
    for _ in range(2):
        table.group_cache.read(group.uuid)
        table.outlines.read()
    table.outlines.compare_some()
    overview.members_of_servers(database, [server])
    overview.groups(database, [group.uuid])
    overview.member_records(database, table.outlines.read().members(
        group.uuid, [MemberState.PLANNED], overview.ACTIVE)[:9])
    consumers.known_consumers(database, [server])
    consumers.any_group(database)
    consumers.unfinished_updates(database)
    for path in 'db/web', 'db/node':
        pointed_at(database, group.uuid, path)
    totals(database)
    any_group_uses_all_hosts(database)
    listing.by_idempotency_key('blue', 'once')
    listing.number('blue')
    listing.number_of_members('blue')
    listing.number_of_plans('blue')
    listing.member_counts([group.uuid])
    listing.live_paths(group.uuid)


def list_pages(table, group):
    """Read the pages of groups and of events that the API shows."""
    for key in SORT_KEYS:
        for marker in None, group.uuid:
            for project in None, 'blue':
                for descending in False, True:
                    table.listing.groups(Page(
                        10, project, marker=marker, sort_key=key,
                        descending=descending))
    for key, project, statuses in itertools.product(
            SORT_KEYS, (None, 'blue'),
            ([GroupStatus.PLANNED], [GroupStatus.PLANNED, GroupStatus.ERROR])):
        for page in (Page(10, project, name='shop'),
                     Page(10, project, name='shop', statuses=statuses),
                     Page(10, project, statuses=statuses)):
            table.listing.groups(replace(page, sort_key=key))
    for descending in False, True:
        for page in (EventPage(group.uuid, 10),
                     EventPage(group.uuid, 10, marker=10),
                     EventPage(group.uuid, 10, since=NOON),
                     EventPage(group.uuid, 10, member='db/web'),
                     EventPage(group.uuid, 10, kind='plan.written'),
                     EventPage(group.uuid, 10, member='db/web',
                               kind='member.state')):
            table.history.read(replace(page, descending=descending))


def find_alternates(table, group):
    due, uuid = table.due_alternates, group.uuid
    assert table.update_group(
        uuid, tuple(GroupStatus), **alternates.due_since(NOON))
    assert due.waiting(NOON, NOON, 4) == (uuid,)
    assert due.take(uuid, ENGINE, NOON, NOON)
    due.write_heartbeat([uuid], ENGINE, NOON)
    due.return_work(ENGINE, uuid)
    due.return_work(ENGINE)
    due.return_work(ENGINE, uuid, True)
    assert due.take(uuid, ENGINE, NOON, NOON)
    rows = table.members(uuid)
    due.write(Seen(uuid, table.get_group(uuid).revision, rows), ENGINE,
              {row.id: row.alternates for row in rows})
    assert table.update_group(
        uuid, tuple(GroupStatus), **alternates.due_since(NOON))
    assert due.take(uuid, ENGINE, NOON, NOON)
    due.give_up(uuid, ENGINE, 'too many attempts', NOON)


def bind(table, group):
    """Bind a server group, replace it, and unbind it."""
    bindings, uuid = table.bindings, group.uuid
    first, second = builders.new_uuid(), builders.new_uuid()
    assert bindings.add(Binding(
        BindingKind.SERVER_GROUP, first, uuid, 'db/node', NOON))
    assert bindings.add(Binding(
        BindingKind.SERVER_GROUP, second, uuid, 'db/node', NOON), [first])
    assert bindings.find(BindingKind.SERVER_GROUP, second).path == 'db/node'
    assert [each.target for each in bindings.of_group(uuid)] == [second]
    assert bindings.server_groups(uuid) == {'db/node': second}
    assert not bindings.pointed(
        Hinted(second), [builders.new_uuid()]).is_member
    assert bindings.pointed(Hinted(first)) is None
    assert bindings.is_described(uuid, 'db/node-0', 'db/node')
    stack = stack_target(group.project_id, 'shop')
    assert bindings.add(Binding(
        BindingKind.HEAT_STACK, stack, uuid, '', NOON, 'shop',
        (StackRule('asg/*', 'db/node'),)))
    assert bindings.pointed(Hinted(first, (second, stack), ('asg', 'x')), [
        builders.new_uuid()]).path == 'db/node'
    assert bindings.remove(uuid, [second], NOON)


def act(table, group):
    """Write the actions on servers that a group requires."""
    actions, uuid, server = table.actions, group.uuid, builders.new_uuid()
    assert table.tasks.request(
        uuid, NewTask(Task.UPDATING, {}, [group.status]), NOON)
    assert table.tasks.take(uuid, ENGINE, NOON, NOON)
    assert not actions.replace(uuid, 'two', ())
    assert actions.replace(uuid, ENGINE, [Action(
        'db/web', server, ActionKind.RESIZE, ActionState.REQUIRED, 'cmp-1',
        'cmp-2', 'small', 'big')])
    assert actions.change(uuid, ENGINE, 0, ActionState.STARTED)
    assert not actions.change(uuid, 'two', 0, ActionState.DONE)
    assert actions.destination(server) == 'cmp-2'
    (found,) = actions.of_group(uuid)
    assert (found.state, found.to_flavor) == (ActionState.STARTED, 'big')
    assert actions.change(uuid, ENGINE, 0, ActionState.FAILED, [
        {'at': 'db/web', 'message': 'no'}])
    assert actions.destination(server) is None
    assert table.tasks.finish(uuid, ENGINE, {})


def claim(table, group):
    """Claim members for two servers. One claim is repeated, and one is
    refused."""
    uuid = group.uuid
    first, second = builders.new_uuid(), builders.new_uuid()
    web = table.claim(uuid, 'db/web', first, NOON)
    table.claim(uuid, 'db/web', first, NOON)
    _, seen, *_ = table.members(uuid)
    table.take(uuid, 'db/node', second, NOON,
               SeenRows([replace(seen, alternates=())]))
    # The first server has a member, so it gets no other.
    _, _, seen, _ = table.members(uuid)
    try:
        table.take(uuid, 'db/node', first, NOON, SeenRows([seen]))
    except errors.ClaimRefused:
        pass
    try:
        table.claim(uuid, 'db/none', builders.new_uuid(), NOON)
    except errors.ClaimRefused:
        pass
    # The second read returns the changes since the first.
    for state in MemberState.BUILT, MemberState.CLAIMED:
        assert table.exclusive_groups()
        table.change_state(web.id, [MemberState.CLAIMED, MemberState.BUILT],
                           state, NOON)
    assert table.exclusive_groups()
    table.refusals.add(web, [Refusal('cmp-1', 'filter')], {
        'at': 'db', 'message': 'refused'}, NOON)
    table.refusals.remember(web, [Refusal('cmp-1', 'providers')], NOON)
    table.refusals.of_group(uuid, NOON)
    for choice in {}, {'group_uuid': uuid}, {'host': 'cmp-1'}:
        table.refusals.known(**choice)
        table.refusals.clear(**choice)


def move_and_release(table, group):
    """Move members, and release members that are not needed."""
    web, built, lost, free = rows = table.members(group.uuid)
    moved = replace(web, hold=builders.new_uuid())
    assert member_moves.move(table.database, moved, web.hold, rows,
                             NOON) is member_moves.Move.WRITTEN
    assert table.change_state(
        built.id, [MemberState.CLAIMED], MemberState.BUILT, NOON, held=False,
        of_hold=built.hold, of_instance=built.instance_uuid)
    rows = table.members(group.uuid)
    assert member_moves.write_destination(
        table.database, replace(rows[1], destination=built.place), rows,
        NOON) is member_moves.Move.WRITTEN
    assert member_moves.correct(
        table.database, table.members(group.uuid)[1], NOON, destination=None)
    assert table.change_state(
        lost.id, [MemberState.PLANNED], MemberState.LOST, NOON, held=False)
    new_row = replace(lost, hold=builders.new_uuid(), state=MemberState.LOST)
    assert table.offer_places([new_row])
    elsewhere = replace(new_row, hold=builders.new_uuid(), held=True)
    assert member_replan.move(table.database, {new_row.hold: elsewhere})
    new_row = elsewhere
    table.accept_places([new_row.hold], NOON)
    table.group_cache.read(group.uuid)
    table.forget_holds([new_row.hold])
    assert not table.release(
        [free.hold], NOON, first=FirstChange(group.uuid, 77))
    assert table.release([free.hold], NOON, first=FirstChange(
        group.uuid, 1, group_reasons.without_missing))
    assert not table.release(
        [built.hold], NOON, True, FirstChange(group.uuid, 77))
    table.release([built.hold], NOON, with_servers=True)
    assert table.change_state(
        built.id, [MemberState.BUILT], MemberState.CLAIMED, NOON)
    built = table.member_of_instance(built.instance_uuid)
    assert table.release_unleased(built, NOON)
    assert member_release.released(table.database, group)


def grow(table):
    """Add servers beyond the plan: in a new row, and in the row of another
    member."""
    group = builders.planned(table, web=None)
    (first,) = rows = table.members(group.uuid)
    wanted = replace(
        first, hold=builders.new_uuid(), state=MemberState.CLAIMED,
        held=False, instance_uuid=builders.new_uuid(), member=replace(
            first.member, path='db/more', description='db/more'))
    number = group_growth.grow(
        table.database, group_growth.Growth(
            group, wanted, reasons=group_reasons.without_missing), rows, NOON)
    row = next(row for row in table.members(group.uuid) if row.id == number)
    assert table.release_unleased(row, NOON, lambda live: True)
    rows = table.members(group.uuid)
    assert group_growth.grow(table.database, group_growth.Growth(
        table.get_group(group.uuid), replace(
            wanted, hold=builders.new_uuid()), rows[-1]), rows, NOON)


def share_links(table):
    """Two groups use one uplink."""
    rack = Domain('rack', ('a',))
    first, second = [builders.planned(table, web=None).uuid for _ in range(2)]
    assert table.links.reserve(first, {rack: 600}, {rack: 1000}) is None
    assert table.links.reserve(second, {rack: 600}, {rack: 1000}) == rack
    assert {each.group_uuid for each in table.links.changed()} == {first}
    assert table.links.settle(table.links.version(first), {rack: 500})
    assert table.links.demand_of_others(second) == {rack: 500}
    table.delete_group(first)
    assert table.links.demand_of_others(None) == {}


def create_volumes_at_plan_time(table):
    """Create and delete volumes of a group, as an engine does."""
    group, creations = builders.a_group(created_at=NOON), (
        table.volumes.creations)
    table.create_group(group, None, VolumeRequest('encrypted', ['data']))
    assert creations.waiting(NOON, NOON, 4) == (group.uuid,)
    record = creations.take(group.uuid, ENGINE, NOON, NOON)
    creations.write_heartbeat([group.uuid], ENGINE, NOON)
    creations.return_work(ENGINE, group.uuid)
    assert not creations.finish(record, CreationStatus.FAILED, NOON, NOON)
    record = creations.take(group.uuid, ENGINE, NOON, NOON)
    (row,) = creations.volumes(group.uuid)
    row = replace(row, state=CreatedVolumeState.AVAILABLE, tries=1,
                  attempt=builders.new_uuid(), attempted_at=NOON,
                  refused_pools=('disks@lvm#1',))
    assert creations.change_volume(record, row, NOON)
    assert creations.volumes(group.uuid) == (row,)
    creations.note_failure(record, {'at': '', 'message': 'it failed'}, NOON)
    assert creations.finish(record, CreationStatus.COMPLETE, NOON, LATER)
    assert creations.get(group.uuid).credential is None
    assert creations.take(group.uuid, ENGINE, NOON, NOON) is None
    table.delete_group(group.uuid)
    record = creations.take(group.uuid, ENGINE, LATER, NOON)
    assert creations.close(record)
    assert creations.get(group.uuid) is None


def create_volumes(table):
    """Plan, create, delete and release the volumes of a group."""
    group = builders.planned(table, builders.a_group(
        lease_expires_at=NOON, engine=ENGINE), web=None)
    volumes, uuid = table.volumes, builders.new_uuid()
    assert not volumes.write(group.uuid, (), 'another')
    assert volumes.write(group.uuid, builders.volumes_of(group, 3), ENGINE)
    assert volumes.find(group.uuid, 'data', 'blue').path == 'data-0'
    row = volumes.claim(group.uuid, 'data', uuid, NOON, 'blue').row
    assert volumes.claim(group.uuid, 'data-0', uuid, NOON).repeated
    with pytest.raises(errors.MemberTaken):
        volumes.claim(group.uuid, 'data-0', builders.new_uuid(), NOON)
    assert volumes.built(row, NOON)
    assert volumes.planned_gb(group.uuid) == {}
    assert volumes.planned_gb(built_since=NOON) == {'disks@lvm#1': 20}
    assert volumes.placed(group.uuid).keys() == {'data-0', 'data-1', 'data-2'}
    assert volumes.of_volume(uuid) in volumes.in_states([MemberState.BUILT])
    assert volumes.deleted(volumes.of_volume(uuid), NOON)
    assert volumes.release(group.uuid, NOON, ['data-1'], True) == 1
    for revision, done in (1, True), (77, False):
        assert done == volumes.release_at(
            FirstChange(group.uuid, revision), NOON, ['data-1'], True)
    before = NOON - timedelta(hours=1)
    for refused in False, True:
        row = volumes.claim(
            group.uuid, 'data-2', builders.new_uuid(), before).row
        assert volumes.undo(row, before, refused)
    (row,) = volumes.in_states([MemberState.LOST])
    row = volumes.replan(row, replace(row, pool='disks@lvm#2'), before)
    assert volumes.of_group(group.uuid)[2] == row
    assert volumes.lose(row, before)
    assert group.uuid in {each.uuid for each in table.expired_groups(LATER)}
    assert volumes.expire(group.uuid, LATER) == 1
    assert table.write_members(
        group.uuid, (), ENGINE, volumes=builders.volumes_of(group, 3))
    assert volumes.placed(group.uuid).keys() == {'data-0', 'data-1', 'data-2'}
    assert table.update_group(group.uuid, [group.status], task=None,
                              status=GroupStatus.RELEASED)
    assert volumes.release_unplanned(LATER) == 3
    table.delete_group(group.uuid)


def hand_over(table):
    """Give a held place to a server with another path, and then to the first
    one."""
    group = builders.planned(table, one=None)
    (held,) = table.members(group.uuid)
    for path in 'db/other', 'db/one':
        row = held_places.hand_over(
            table.database, Handover(group, held, path), NOON)
        assert (row.member.path, row.hold, row.place, row.held) == (
            path, held.hold, held.place, True)
        # The other place is released.
        found = {each.member.path: each
                 for each in table.members(group.uuid)}
        assert found[path] == row
        former = found[held.member.path]
        assert (former.state, former.held) == (MemberState.RELEASED, False)
        assert held_places.hand_over(
            table.database, Handover(group, held, path), NOON) is None
        held = row
    assert len(found) == 2
    table.delete_group(group.uuid)


def adopt_and_detach(table):
    """Remove a server from its group, and add it again while it has its
    pointer."""
    database, server = table.database, builders.new_uuid()
    group = builders.planned(table, one=None)
    row = table.claim(group.uuid, 'db/one', server, NOON)
    assert detaching.detach(
        database, group.uuid, 'db/one', NOON, 77) == Detached.STALE
    assert detaching.detach(
        database, group.uuid, 'db/one', NOON) == Detached.NOT_BUILT
    assert table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.BUILT, NOON)
    (found,) = memberships.memberships(database, [server])
    assert memberships.group_of(database, found) == group.uuid
    assert detaching.detach(
        database, group.uuid, 'db/one', NOON) == Detached.DONE
    assert memberships.is_detached(database, group.uuid, server)
    assert table.delete_group(group.uuid, 77) is None
    assert table.delete_group(group.uuid, 1) is not None


def boot(table):
    """Create the servers of a group by an engine; another engine ends the
    boot."""
    group = builders.a_group(GroupStatus.PLANNED)
    table.create_group(group, BootRequest('encrypted', True, 1))
    assert table.write_members(group.uuid, builders.members_of(
        group, {'web': None}))
    boots, uuid = table.boots, group.uuid
    assert boots.waiting(NOON, 4) == (uuid,)
    record = boots.take(uuid, ENGINE, NOON, NOON)
    boots.write_heartbeat([uuid], ENGINE, NOON)
    assert boots.begin(record, ['db/web'], NOON)
    assert boots.member(uuid, 'db/web').state == MemberState.PLANNED
    (server,) = boots.servers(uuid)
    assert boots.change_server(record, server, replace(
        server, state=BootServerState.FAILED, fault='it failed'), NOON)
    boots.return_work(ENGINE, uuid, True)
    boots.return_work(ENGINE, uuid)
    boots.return_work(ENGINE)
    assert boots.stop(uuid)
    assert boots.stop(uuid, 1)
    assert boots.stop(uuid, 77)
    boots.note_failure(record, {'at': '', 'message': 'it failed'}, NOON)
    record = boots.take(uuid, 'two', NOON, NOON)
    assert boots.change(record, BootStatus.ROLLING_BACK, [], NOON)
    assert boots.change(record, BootStatus.FAILED, [
        {'at': 'db/web', 'message': 'it failed'}], NOON)
    assert boots.close(record)
    assert not boots.stop(uuid)
    table.delete_group(uuid)


def federate(table):
    """The calls of a parent of a federation."""
    group = builders.a_group(GroupStatus.PLANNING, task=Task.PLANNING)
    table.create_group(group)
    assert table.tasks.take(group.uuid, ENGINE, NOON, NOON)
    for state in ('creating', 'created'):
        assert table.parts.write(GroupPart(
            'p-1', group.uuid, 'dfw', 'shop', ['web'], state, NOON), ENGINE)
    assert len(table.parts.of_group(group.uuid)) == 1
    assert table.write_members(group.uuid, builders.members_of(
        group, {'web': None}), ENGINE)
    mirrored_members.lose_members_elsewhere(
        table.database, group.uuid, ['dfw'], NOON, 1)
    mirrored_members.write(table.database, group.uuid,
                           {'db/web': MemberState.BUILT}, NOON)
    mirrored_members.write(
        table.database, group.uuid, {'db/web': MemberState.LOST}, NOON,
        mirrored_members.Seen(1, {'db/web': MemberState.BUILT}))
    mirrored_members.write(
        table.database, group.uuid, {'db/web': MemberState.PLANNED}, NOON,
        mirrored_members.Seen(1, {'db/web': MemberState.LOST}, engine=ENGINE))
    report = PartReport(LATER, {'web': builders.new_uuid()},
                        {'web': ('ams', builders.new_uuid())}, 'blue')
    (part,) = table.parts.of_group(group.uuid)
    assert not table.parts.observe(part, report, NOON)
    assert table.parts.observe(part, report, NOON, 1, ENGINE)
    assert not table.parts.forget(group.uuid, 'dfw', NOON)
    table.parts.remove(['p-1'])
    assert table.parts.of_group(group.uuid) == ()
    lost = builders.a_group(GroupStatus.PLANNED)
    assert not table.parts.write(GroupPart(
        'p-1', lost.uuid, 'dfw', 'shop', ['web'], 'undoing', NOON), None, 1)
    for new in (True, False):
        assert recovered_groups.write(
            table.database, lost, builders.members_of(lost, {'web': None}),
            [GroupPart('p-2', lost.uuid, 'dfw', 'shop', ['web'], 'committed',
                       NOON)]) is new
    assert not group_deletion.delete_without_parts(
        table.database, lost.uuid)
    (part,) = table.parts.of_group(lost.uuid)
    assert table.parts.observe(part, report, NOON)
    assert not table.parts.observe(part, report, NOON)
    for end in (None, LATER):
        assert mirrored_members.write_lease(
            table.database, lost.uuid, LATER,
            mirrored_members.Seen(1, lease_expires_at=end))
    assert table.parts.forget(lost.uuid, 'dfw', NOON)
    assert group_deletion.delete_without_parts(table.database, lost.uuid)
    user = ('ann', 'blue', 'dfw')
    for text in ('first', 'second'):
        table.child_credentials.put(*user, text, NOON)
    assert table.child_credentials.get(*user) == 'second'
    assert table.child_credentials.of_user('ann', 'blue') == {'dfw': NOON}
    assert table.child_credentials.delete(*user)


def update(table, group):
    """A task that replaces, removes and adds members, and reorders
    volumes."""
    tasks, uuid, database = table.tasks, group.uuid, table.database
    assert table.volumes.write(uuid, builders.volumes_of(group, 2))
    for statement in tasks.return_work, table.plans.return_work:
        statement(ENGINE, uuid, True)
        statement(ENGINE, uuid)
    assert tasks.request(
        uuid, NewTask(
            Task.UPDATING, {}, [GroupStatus.BUILDING],
            table.get_group(uuid).revision, 5), NOON)
    assert tasks.take(uuid, ENGINE, NOON, NOON)
    consumers.unfinished_updates(database)
    web, _, node, free = table.members(uuid)
    member_replan.move(database, {web.hold: web}, ENGINE)
    assert group_revision.vacate(database, uuid, ENGINE, [node], NOON)
    assert group_revision.occupy(database, uuid, ENGINE, [node.hold], NOON)
    node = table.members(uuid)[2]
    more = replace(node, hold=builders.new_uuid(), member=replace(
        node.member, path='db/more', description='db/more'))
    assert group_revision.revise(database, uuid, ENGINE, Revision(
        {}, {'db/more': 'db/more', 'db/web': 'db/web',
             node.member.path: 'db/node'},
        [(node, replace(node, hold=builders.new_uuid()))], [free], [more],
        outdated=True, wanted_again=[web.id], seen=frozenset(
            row.id for row in table.members(uuid)),
        volumes=['data-1', 'data-0']), NOON)
    tasks.return_work(ENGINE)


def degrade(table):
    """Two servers violate a policy, and later they satisfy it."""
    group = builders.planned(table, builders.a_group(GroupStatus.BUILDING),
                             web=None)
    assert group_degradation.degrade(table.database, group, [], NOON)
    assert group_degradation.recover(
        table.database, group, table.members(group.uuid), NOON)


def settle(table):
    """One server is built, and another is deleted after its release."""
    group = builders.planned(table, web=None, node=1)
    row = table.claim(group.uuid, 'db/node', builders.new_uuid(), NOON)
    table.release([row.hold], NOON, with_servers=True)
    assert table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.PLANNED, NOON,
        instance_uuid=None)
    row = table.claim(group.uuid, 'db/web', builders.new_uuid(), NOON)
    assert table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.BUILT, NOON)
    table.settle(group.uuid, NOON)
    assert table.get_group(group.uuid).status is GroupStatus.COMPLETE


def expire(table):
    """The lease of a group ends, and the group is deleted."""
    group = builders.planned(
        table, builders.a_group(lease_expires_at=NOON), node=20)
    for _ in range(3):
        # The third search follows the changes since the second.
        assert [each.uuid
                for each in table.expired_groups(NOON)] == [group.uuid]
    assert table.extend_lease(group.uuid, None, LATER, NOON)
    table.expire(group.uuid, LATER)
    table.forget_holds([row.hold for row in table.members(group.uuid)])
    choice = group_purge.Choice(unchanged_since=LATER)
    list(group_purge.finished(table.database, choice, limit=3))
    assert group_purge.obstacle(table.database, group.uuid, choice) is None
    assert group_purge.purge(table.database, group.uuid, choice)


def delete(table):
    """Delete a group with its history, and the events of any group."""
    table.delete_group(builders.planned(table, web=None).uuid)
    assert table.history.prune(NOON + timedelta(seconds=10))


def run_plans(table):
    """Calls for dry runs."""
    plans, new = table.plans, PlanRecord(
        builders.new_uuid(), 'blue', 'ann', 'shop', PlanStatus.PLANNING, {},
        'spread', created_at=NOON)
    plans.create(new)
    assert plans.waiting(NOON, 4) == (new.uuid,)
    assert plans.take(new.uuid, ENGINE, NOON, NOON)
    plans.write_heartbeat([new.uuid], ENGINE, NOON)
    plans.return_work(ENGINE)
    assert plans.take(new.uuid, ENGINE, NOON, NOON)
    assert plans.finish(new.uuid, ENGINE, PlanStatus.PLANNED, {}, NOON)
    assert plans.get(new.uuid).status is PlanStatus.PLANNED
    plans.forget(NOON)
    # Keep the deletions of others: a database may read a table of a few rows
    # completely.
    deletions.forget(table.database, LONG_AGO)


def run_jobs(table):
    """Calls for periodic jobs, outages, statistics and the clock."""
    jobs, outages, statistics = table.jobs, table.outages, table.statistics
    for _ in range(2):
        jobs.take('reconcile', ENGINE, NOON, due_before=NOON,
                  stale_before=NOON)
    jobs.write_heartbeat(['reconcile'], ENGINE, NOON)
    jobs.finish('reconcile', ENGINE, NOON)
    jobs.return_work(ENGINE)
    outages.observe(['cmp-1', 'cmp-2'], NOON)
    outages.give_up(['cmp-1'])
    outages.observe([], NOON)
    outages.given_up()
    outages.returned()
    statistics.put('cmp-1', {'load': 1.0}, LATER)
    statistics.since(LATER, hosts=['cmp-1'], names=['load'])
    statistics.since(LATER)
    statistics.forget(NOON - timedelta(days=1))
    clock = DatabaseClock(table.database)
    clock()
