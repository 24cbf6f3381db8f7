# SPDX-License-Identifier: Apache-2.0
"""The API of a parent, over clouds in memory."""

from dataclasses import replace
import functools

import pytest
import sqlalchemy as sa

from nova_holistic.federation.child import ChildGroup, ChildMember
from nova_holistic.federation.credentials.user import User
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging.errors import StaleRevision
from nova_holistic.table.records import GroupStatus, Task
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import (
    ADMIN, MEMBER, OTHER_PROJECT, READER, refusal, Service)
from tests.unit.federation.clouds import Lost, member, small
from tests.unit.federation.parent import LATEST, Parent
from tests.unit.table import builders

SHOP = {'name': 'shop', 'members': [member('web', 2), {
    **member('node', 2), 'count': 3}]}
SPLIT = {'name': 'shop', 'members': [{**member('node', 2), 'count': 2}],
         'policies': [{'type': 'anti-affinity', 'level': 'cloud'}]}

COLLEAGUE = replace(MEMBER, user='ben')

IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'


@pytest.fixture
def table(tmp_path):
    return PlacementTable(new_table(tmp_path))


@pytest.fixture
def parent(table):
    """A parent of two clouds."""
    found = Parent(table, {'ams': small('a1', 'a2'), 'dfw': small('b1')})
    yield found
    found.engines.stop()


def test_a_group_is_placed_whole_in_one_cloud(parent):
    group = parent.post(SHOP)
    assert (group['status'], group['members']) == ('planned', {'planned': 4})
    members = parent.members(group['id'])
    (cloud,) = {each['cloud'] for each in members.values()}
    (child_group,) = parent.clouds.children[cloud].cloud.groups
    assert {path: each['pointer'] for path, each in members.items()} == {
        path: {'holistic_group': child_group, 'holistic_member': path}
        for path in ('web', 'node-0', 'node-1', 'node-2')}
    assert parent.clouds.held() == {cloud: 8}


def test_a_policy_of_the_level_cloud_splits_a_group(parent):
    group = parent.post(SPLIT)
    members = parent.members(group['id'], ADMIN)
    assert {each['cloud'] for each in members.values()} == {'ams', 'dfw'}
    assert all(each['location'] == [each['cloud']]
               for each in members.values())
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2}


def test_a_group_that_fits_nowhere_is_refused_with_reasons(parent):
    group = parent.post({'name': 'big', 'members': [member('web', 17)]})
    assert group['status'] == 'unplaceable'
    assert {cloud for cloud in ('ams', 'dfw') if any(
        f'cloud {cloud}' in each['message'] for each in group['reasons'])} == {
            'ams', 'dfw'}
    assert parent.clouds.held() == {}
    assert parent.members(group['id']) == {}


def test_a_cloud_that_does_not_answer_leaves_the_question_open(parent):
    for child in parent.clouds.children.values():
        child.fault = lost
    group = parent.post(SHOP)
    assert group['status'] == 'error'
    for child in parent.clouds.children.values():
        child.fault = lambda method, when: None
    again = parent.ask('POST', f'/v1/groups/{group["id"]}/replan',
                       {'replan': {}})
    assert again.status_int == 202
    assert parent.settled(group['id'])['status'] == 'planned'


def lost(method, when):
    raise Lost


def test_a_repeated_create_places_the_group_once(parent):
    body, headers = {'group': SHOP}, {'Idempotency-Key': 'once'}
    first, again = (parent.ask('POST', '/v1/groups', body, headers=headers)
                    .json['group']['id'] for _ in range(2))
    assert first == again
    parent.settled(first)
    assert sum(parent.clouds.held().values()) == 8


def test_a_plan_holds_nothing(parent):
    plan = parent.planned(SPLIT)
    assert plan['status'] == 'planned'
    assert {each['member'] for each in plan['placements']} == {
        'node-0', 'node-1'}
    assert parent.clouds.held() == {}


def test_a_group_without_a_lease_shows_no_end(parent):
    parent.conf.set_override('lease', 0, group='planner')
    group = parent.post(SPLIT)['id']
    parent.clouds.time.sleep(3600)
    for _ in range(2):
        assert parent.get(group)['lease_expires_at'] is None
    # A user of one cloud gives its part a lease.
    child = parent.clouds.children['ams']
    (uuid,) = child.cloud.groups
    child.cloud.extend(uuid, 7200)
    end = child.cloud.groups[uuid].lease_end
    parent.get(group)
    assert parent.get(group)['lease_expires_at'] == f'{end.isoformat()}Z'


def test_an_extended_lease_is_extended_in_every_cloud(parent):
    group = parent.post(SPLIT)['id']
    answer = parent.ask('POST', f'/v1/groups/{group}/extend',
                        {'extend': {'seconds': 7200}})
    assert answer.status_int == 200
    ends = {each.lease_end for child in parent.clouds.children.values()
            for each in child.cloud.groups.values()}
    assert {f'{end.isoformat()}Z' for end in ends} == {
        parent.get(group)['lease_expires_at']}


def test_a_deleted_group_is_deleted_in_every_cloud(parent, table):
    group = parent.post(SPLIT)['id']
    assert parent.ask('DELETE', f'/v1/groups/{group}').status_int == 204
    assert parent.clouds.held() == {}
    assert table.get_group(group) is None


def test_a_group_is_kept_if_a_cloud_does_not_delete_its_part(parent, table):
    group = parent.post(SPLIT)['id']
    parent.clouds.children['dfw'].fault = lost
    status, code, detail = refusal(parent.ask(
        'DELETE', f'/v1/groups/{group}'))
    assert (status, code) == (503, 'holistic.child_failed')
    assert 'dfw' in detail and 'ams' not in detail
    assert parent.clouds.held() == {'dfw': 2}
    parent.clouds.children['dfw'].fault = lambda method, when: None
    assert parent.ask('DELETE', f'/v1/groups/{group}').status_int == 204
    assert parent.clouds.held() == {}


def test_a_location_is_checked_by_the_cloud_that_has_it(parent):
    """The number of levels above a host is different in each cloud."""
    group = parent.post({'name': 'shop', 'members': [{
        **member('web', 2), 'location': 'dfw/b/b1'}]})
    assert group['status'] == 'planned', group
    assert {each['cloud'] for each in parent.members(
        group['id']).values()} == {'dfw'}


def test_the_key_in_a_cloud_names_the_parent_and_the_group(parent):
    group = parent.post(SPLIT)['id']
    keys = [each.key for child in parent.clouds.children.values()
            for each in child.cloud.groups.values()]
    assert len(keys) == 2
    assert all(key.startswith(f'parent-{group}-') for key in keys)


@pytest.mark.parametrize('method, path, body', [
    ('POST', '/adopt', {'adopt': {'web': 'x'}}),
    ('GET', '/bindings', None)])
def test_what_a_parent_does_not_offer_is_refused(parent, method, path, body):
    group = parent.post(SHOP)['id']
    answer = parent.ask(method, f'/v1/groups/{group}{path}', body,
                        token=ADMIN, headers=LATEST)
    assert refusal(answer)[:2] == (400, 'holistic.not_offered')
    assert parent.get(group)['status'] == 'planned'


def test_adopted_servers_are_refused(parent):
    answer = parent.ask('POST', '/v1/groups', {'group': {
        **SHOP, 'adopt': {'web': '0d4f2c1e-5b7a-4c3d-9e60-1f2a3b4c5d6e'}}},
        headers=LATEST)
    assert refusal(answer)[:2] == (400, 'holistic.not_offered')


def test_volumes_are_refused(parent):
    document = {'name': 'shop', 'members': [
        {'name': 'data', 'kind': 'volume', 'size': 5}]}
    for path in '/v1/groups', '/v1/plans':
        answer = parent.ask('POST', path, {'group': document}, headers=LATEST)
        assert refusal(answer)[:2] == (400, 'holistic.not_offered')
    assert parent.clouds.held() == {}


def test_servers_are_not_changed_by_an_update(parent):
    group = parent.post(SHOP)['id']
    answer = parent.ask(
        'PUT', f'/v1/groups/{group}', {'group': SHOP, 'apply': True}, ADMIN,
        headers={**LATEST, 'If-Match': '"1"'})
    assert refusal(answer)[:2] == (400, 'holistic.not_offered')
    assert parent.get(group)['revision'] == 1


def test_servers_are_not_created_even_if_the_parent_has_keys(parent):
    """A parent encrypts application credentials with the keys of [boot]."""
    class Rights:
        def grant(self, *arguments):
            raise AssertionError('no right is granted')
    parent.user_rights = Rights()
    parent.renew()
    document = {'name': 'shop', 'members': [
        {'name': 'web', 'flavor': 'small', 'server': {'imageRef': IMAGE}}]}
    answer = parent.ask('POST', '/v1/groups', {'boot': {}, 'group': document},
                        headers=LATEST)
    assert refusal(answer)[:2] == (400, 'holistic.boot_unavailable')
    assert parent.clouds.held() == {}


@pytest.mark.parametrize('name, more', [
    ('extend', (60,)), ('release', (None,)), ('detach', ('web',)),
    ('delete', ())])
def test_a_group_with_another_revision_is_not_changed(parent, name, more):
    """The group was updated after the API had read it."""
    group = parent.post(SHOP)['id']
    before, held = parent.get(group), parent.clouds.held()
    with pytest.raises(StaleRevision, match='at revision 1, not 2'):
        getattr(parent.engines, name)(
            RequestContext('req-1', 'blue', 'ann'), group, *more, 2)
    assert (parent.get(group), parent.clouds.held()) == (before, held)


def test_another_project_does_not_see_the_group(parent):
    group = parent.post(SHOP)['id']
    assert parent.ask('GET', f'/v1/groups/{group}/placements',
                      token=OTHER_PROJECT).status_int == 404


def test_a_group_that_no_process_works_on_is_continued(parent, table):
    """The process that accepted the request has ended."""
    engines = parent.engines
    parent.engines.plan_group = lambda *words: None
    answer = parent.ask('POST', '/v1/groups', {'group': SHOP})
    del engines.plan_group
    assert parent.settled(answer.json['group']['id'])['status'] == 'planned'


def work_of(parent):
    """Perform no work in the background; returns the list that gets it."""
    work = []
    parent.engines._submit = lambda *words: work.append(words)
    return work


def performed(work):
    """Perform all work, as the threads of the parent do."""
    while work:
        perform, context, uuid = work.pop(0)
        perform(context, uuid)


@pytest.mark.parametrize('token', [READER, ADMIN, COLLEAGUE])
def test_only_the_user_of_a_task_lets_a_parent_continue_it(parent, token):
    """The process that accepted the request has ended. Another user only
    reads the group."""
    work = work_of(parent)
    group = parent.ask('POST', '/v1/groups', {'group': SHOP}).json['group'][
        'id']
    work.clear()
    for path in '', '/placements':
        assert parent.ask('GET', f'/v1/groups/{group}{path}',
                          token=token).status_int == 200
        performed(work)
    assert parent.get(group)['status'] == 'planning'
    assert parent.clouds.requests() == 0
    # The user of the task asks.
    performed(work)
    assert parent.get(group)['status'] == 'planned'


def test_a_task_is_continued_for_its_user_not_for_the_owner(parent):
    """A colleague has requested the replan of the group."""
    group = parent.post({'name': 'big', 'members': [member('web', 17)]})['id']
    work = work_of(parent)
    assert parent.ask('POST', f'/v1/groups/{group}/replan', {'replan': {}},
                      COLLEAGUE).status_int == 202
    work.clear()
    parent.get(group)
    assert work == []
    parent.ask('GET', f'/v1/groups/{group}', token=COLLEAGUE)
    performed(work)
    assert parent.get(group)['task'] is None


def test_late_work_does_not_perform_the_task_of_another_user(parent, table):
    """The task of the user has ended in another process before a thread of
    this process begins."""
    work = work_of(parent)
    group = parent.ask('POST', '/v1/groups', {'group': SHOP}).json['group'][
        'id']
    late = work.pop()
    now = parent.clouds.time.now()
    assert table.tasks.take(group, 'another', now, now)
    assert table.tasks.finish(group, 'another', {'status': 'unplaceable'})
    assert parent.ask('POST', f'/v1/groups/{group}/replan', {'replan': {}},
                      COLLEAGUE).status_int == 202
    performed([late])
    record = table.get_group(group)
    assert (record.task, record.engine, record.attempts) == (
        'replanning', None, 0)
    assert parent.clouds.requests() == 0
    performed(work)
    assert parent.get(group)['status'] == 'planned'


def test_a_task_without_its_user_belongs_to_the_owner_of_the_group(
        parent, table):
    """An earlier version has written the task."""
    group = builders.a_group(
        GroupStatus.PLANNING, document={'group': SHOP}, project_id='blue',
        user_id='ann', task=Task.PLANNING, pending={})
    table.create_group(group)
    work = work_of(parent)
    parent.ask('GET', f'/v1/groups/{group.uuid}', token=COLLEAGUE)
    assert work == []
    parent.get(group.uuid)
    performed(work)
    assert parent.get(group.uuid)['status'] == 'planned'


@pytest.mark.parametrize('method', ['write_members', 'finish'])
def test_a_stalled_process_deletes_only_the_parts_that_it_created(
        parent, table, monkeypatch, method):
    """It stalls for longer than task_timeout, before it writes its placement.
    Another process places the group in the meantime."""
    owner = table if method == 'write_members' else table.tasks
    write, created = getattr(owner, method), []

    def late(group_uuid, *words):
        monkeypatch.undo()
        created.extend(part.child_group
                       for part in table.parts.of_group(group_uuid))
        parent.clouds.time.sleep(parent.conf.federation.task_timeout + 1)
        now = parent.clouds.time.now()
        record = table.tasks.take(group_uuid, 'another', now, now)
        parent.engines._tasks.perform(record, User('ann', 'blue'))
        return write(group_uuid, *words)

    work = work_of(parent)
    group = parent.ask('POST', '/v1/groups', {'group': SPLIT}).json['group'][
        'id']
    monkeypatch.setattr(owner, method, late)
    performed(work)
    assert parent.get(group)['members'] == {'planned': 2}
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2}
    assert len(created) == 2
    assert {part.child_group for part in table.parts.of_group(group)} == {
        uuid for child in parent.clouds.children.values()
        for uuid in child.cloud.groups}
    assert not {part.child_group for part
                in table.parts.of_group(group)}.intersection(created)


def test_the_parts_of_a_group_that_is_gone_are_deleted(
        parent, table, monkeypatch):
    write = table.write_members

    def late(group_uuid, *words):
        table.delete_group(group_uuid)
        return write(group_uuid, *words)

    work = work_of(parent)
    parent.ask('POST', '/v1/groups', {'group': SPLIT})
    monkeypatch.setattr(table, 'write_members', late)
    performed(work)
    assert parent.clouds.held() == {}


@pytest.mark.parametrize('token', [READER, ADMIN, COLLEAGUE])
def test_only_the_user_of_a_plan_lets_a_parent_make_it(parent, token):
    work = work_of(parent)
    plan = parent.ask('POST', '/v1/plans', {'group': SHOP}).json['plan']['id']
    work.clear()
    path = f'/v1/plans/{plan}'
    assert parent.ask('GET', path, token=token).status_int == 200
    performed(work)
    assert parent.clouds.requests() == 0
    assert parent.ask('GET', path).json['plan']['status'] == 'planning'
    performed(work)
    assert parent.ask('GET', path).json['plan']['status'] == 'planned'


def test_the_list_of_children_is_in_the_order_of_the_file(parent):
    answer = parent.ask('GET', '/v1/children', headers=LATEST)
    assert answer.json == {'children': [
        {'name': name, 'keystone': None, 'registered_at': None}
        for name in ('ams', 'dfw')]}


def test_other_services_have_no_children(table):
    answer = Service(table).ask('GET', '/v1/children', headers=LATEST)
    assert refusal(answer)[:2] == (404, 'holistic.not_found')


def test_a_child_reports_only_about_its_own_part(parent):
    group = parent.post(SPLIT)['id']
    before = parent.members(group)
    (own,) = [path for path in before if before[path]['cloud'] == 'dfw']
    (other,) = [path for path in before if path != own]
    child = parent.clouds.children['dfw']
    (uuid,) = child.cloud.groups

    def lying(*members):
        child.show = lambda group_uuid: ChildGroup(
            'dfw', uuid, 'planned', True, {}, None, tuple(
                ChildMember(path, state, 'a-server')
                for path, state in members))
        return parent.members(group)

    after = lying((other, 'built'), (own, 'exploded'), ('unknown', 'built'))
    assert after == before
    after = lying((other, 'built'), (own, 'built'))
    assert after[other] == before[other]
    assert (after[own]['state'], after[own]['instance_uuid']) == (
        'built', 'a-server')


def test_a_child_proposes_repairs_of_its_own_part_only(parent):
    group = parent.post(SPLIT)['id']
    paths = {each['cloud']: path
             for path, each in parent.members(group).items()}
    moves = [{'member': path, 'instance_uuid': IMAGE, 'source': 'b1',
              'destination': 'b2'} for path in paths.values()]
    for name, child in parent.clouds.children.items():
        child.propose_repair = lambda uuid, name=name: {
            'moves': moves, 'planned_again': [*paths.values()],
            'reasons': [{'at': '', 'message': f'from {name}'}]}
    answer = parent.ask('POST', f'/v1/groups/{group}/repair',
                        {'repair': {}}, ADMIN)
    assert answer.status_int == 200, answer.text
    repair = answer.json['repair']
    # Each child names the members of both.
    assert sorted(each['member'] for each in repair['moves']) == [
        'node-0', 'node-1']
    assert sorted(repair['planned_again']) == ['node-0', 'node-1']
    assert len(repair['reasons']) == 2


def test_the_pointer_names_the_cloud_below_another_parent(parent):
    group = parent.post(SPLIT)['id']
    before = parent.members(group)
    (own,) = [path for path in before if before[path]['cloud'] == 'dfw']
    (other,) = [path for path in before if path != own]
    child = parent.clouds.children['dfw']
    (uuid,) = child.cloud.groups
    below = '11111111-2222-3333-4444-555555555555'

    def shown(*members):
        child.show = lambda group_uuid: ChildGroup(
            'dfw', uuid, 'planned', True, {}, None, members)
        return parent.members(group)

    pointed = ChildMember(own, 'planned', pointer=('eu/ams', below))
    after = shown(pointed, ChildMember(
        other, 'planned', pointer=('eu/ams', below)))
    assert after[own] == {**before[own], 'cloud': 'dfw/eu/ams', 'pointer': {
        'holistic_group': below, 'holistic_member': own}}
    assert after[other] == before[other]
    # The rows do not change while the child is unavailable.
    child.fault = lost
    del child.show
    assert parent.members(group) == after


def test_two_children_may_report_the_same_server(parent):
    """The report of one child must not prevent reading the report of the
    other."""
    group = parent.post(SPLIT)['id']
    for path, each in parent.members(group).items():
        child = parent.clouds.children[each['cloud']]
        child.show = functools.partial(
            lambda name, member, uuid: ChildGroup(
                name, uuid, 'building', True, {}, None,
                (ChildMember(member, 'built', 'a-server'),)),
            each['cloud'], path)
    assert {each['instance_uuid'] for each
            in parent.members(group).values()} == {'a-server'}
    assert parent.get(group)['status'] == 'complete'


def test_members_of_a_group_that_its_child_deleted_are_lost(parent):
    group = parent.post(SPLIT)['id']
    parent.clouds.children['dfw'].cloud.groups.clear()
    states = {each['cloud']: each['state']
              for each in parent.members(group).values()}
    assert states == {'ams': 'planned', 'dfw': 'lost'}


def test_an_extension_is_refused_if_the_group_is_updated_meanwhile(
        parent, table):
    group = parent.post(SPLIT)['id']
    revision = parent.ask('GET', f'/v1/groups/{group}').headers['ETag']
    lease = table.get_group(group).lease_expires_at
    child = parent.clouds.children['ams']

    def update(method, when):
        if (method, when) == ('extend', 'after'):
            number = table.get_group(group).revision
            with table.database.writer() as session:
                session.execute(sa.update(GroupRow).where(
                    GroupRow.uuid == group).values(revision=number + 1))

    child.fault = update
    answer = parent.ask('POST', f'/v1/groups/{group}/extend',
                        {'extend': {'seconds': 7200}},
                        headers={'If-Match': revision})
    assert answer.status_int == 412
    assert table.get_group(group).lease_expires_at == lease
