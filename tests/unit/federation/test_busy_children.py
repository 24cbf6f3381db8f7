# SPDX-License-Identifier: Apache-2.0
"""A child answers 409 because an engine works on the group, and not because
the status of the group does not allow the change."""

import pytest

from nova_holistic.federation.child import (
    ChildDefinition, ChildGroup, Refusal, RefusalKind, UpdateTerms)
from nova_holistic.messaging.errors import GroupBusy
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import ADMIN, NOON, refusal
from tests.unit.federation.http_servers import (
    answering, http_child, serving)
from tests.unit.federation.test_hidden_groups import (
    child, ParentOverHttp, SHOP)
from tests.unit.federation.test_http_child import GROUP, send, UUID

__all__ = ['child']

EXTENSION = {'extend': {'seconds': 7200}}


@pytest.fixture
def parent(tmp_path, child):
    """A parent that has placed a group in a child, as an administrator, whom
    policies allow repairs."""
    with serving(child) as url:
        found = ParentOverHttp(PlacementTable(new_table(tmp_path)), url)
        found.children.token = ADMIN
        yield found
        found.engines.stop()


def begin_task(child, task=Task.UPDATING):
    """Give the child's group a task on which an engine works."""
    (group,) = child.groups()
    table = child.service.table
    assert table.tasks.request(
        group, NewTask(task, {}, [GroupStatus.PLANNED]), NOON)
    assert table.tasks.take(group, 'engine-1', NOON, NOON)


def end_task(child):
    (group,) = child.groups()
    assert child.service.table.tasks.finish(group, 'engine-1', {})


def test_a_replan_names_the_cloud_that_works_on_its_part(parent, child):
    begin_task(child)
    (reason,) = parent.replan()['reasons']
    assert reason['message'] == (
        'cloud dfw: the cloud works on another change of its part; try again')
    end_task(child)
    child.service.engines.acts['plan_group'] = child.service.settle
    assert parent.replan()['reasons'] == []


def test_a_repair_names_the_cloud_that_works_on_its_part(parent, child):
    begin_task(child)
    parent.table.update_group(
        parent.group, [GroupStatus.PLANNED], status=GroupStatus.BUILDING)
    answer = parent.ask('POST', f'/v1/groups/{parent.group}/repair',
                        {'repair': {'apply': True}}, token=ADMIN)
    assert answer.status_int == 202, answer.text
    (reason,) = parent.settled(parent.group)['reasons']
    assert 'cloud dfw: the cloud works on another change' in reason['message']


def extension(uuid, statuses, task):
    """Return the result of an extension, and the methods of the requests.

    :param statuses: statuses of the child's answers to the requests to extend
    :param task: task of the group when the parent reads it
    """
    left, seen = list(statuses), []

    def respond(handler):
        seen.append(handler.command)
        if handler.command == 'GET':
            send(handler, 200, {'group': {**GROUP, 'task': task}})
            return
        status = left.pop(0)
        send(handler, status, {'group': GROUP} if status == 200 else {
            'errors': [{'code': 'holistic.conflict', 'detail': 'no'}]})
    with answering(respond) as url:
        return http_child(url).extend(uuid, 60), seen


def test_a_lease_is_not_extended_while_a_cloud_works_on_its_part():
    """This child is a parent, too: it extends no lease during a task."""
    found, _ = extension(UUID, [409], 'updating')
    assert isinstance(found, Refusal)
    assert found.kind is RefusalKind.UNKNOWN


def test_a_request_is_repeated_if_the_task_has_ended_since():
    found, seen = extension(UUID, [409, 200], None)
    assert isinstance(found, ChildGroup)
    assert seen == ['POST', 'GET', 'POST']


def test_a_status_that_does_not_allow_the_change_is_not_asked_for_ever():
    found, seen = extension(UUID, [409, 409], None)
    assert found is None
    assert seen == ['POST', 'GET', 'POST', 'GET']


def test_an_extension_fails_with_the_name_of_the_busy_cloud(parent, child):
    (group,) = child.groups()
    child.service.engines.acts['extend'] = _refuse_while_busy(child)
    begin_task(child)
    answer = parent.ask(
        'POST', f'/v1/groups/{parent.group}/extend', EXTENSION)
    assert refusal(answer)[:2] == (503, 'holistic.child_failed')
    assert 'cloud dfw' in answer.text
    end_task(child)
    assert parent.ask('POST', f'/v1/groups/{parent.group}/extend',
                      EXTENSION).status_int == 200


def updating(statuses, shown):
    """Return the result of an update, and the methods of the requests.

    :param statuses: statuses of the child's answers to the update
    :param shown: the group whenever the parent reads it
    """
    left, seen, group = list(statuses), [], {**GROUP, **shown}

    def respond(handler):
        seen.append(handler.command)
        if handler.command == 'GET':
            send(handler, 200, {'group': group})
            return
        status = left.pop(0)
        group['revision'] += status == 200
        send(handler, status, {'group': group} if status == 200 else {
            'errors': [{'code': 'holistic.conflict', 'detail': 'no'}]})
    with answering(respond) as url:
        found = http_child(url)
        before = ChildDefinition(
            ChildGroup('dfw', UUID, 'planned', True, {}, None), 1, SHOP)
        return found.update(before, SHOP, UpdateTerms(None, 5.0)), seen


DEFINED = {'revision': 1, 'definition': SHOP}


def test_an_update_is_repeated_if_the_task_of_the_part_has_ended_since():
    found, seen = updating([409, 200], DEFINED)
    assert (found.revision, seen) == (2, ['PUT', 'GET', 'PUT', 'GET'])


def test_an_update_of_a_part_that_has_changed_since_reads_the_part_again():
    found, _ = updating([409, 409], {**DEFINED, 'revision': 2})
    assert found.kind is RefusalKind.CHANGED


def test_a_status_of_a_part_that_does_not_allow_an_update_is_named():
    found, seen = updating([409, 409], {**DEFINED, 'status': 'error'})
    assert (found.kind, [each.message for each in found.reasons]) == (
        RefusalKind.UNKNOWN, ['cloud dfw: its part is error: this status does '
                              'not allow the change'])
    assert seen.count('PUT') == 2


def test_an_update_names_the_cloud_that_works_on_its_part(parent, child):
    """The task begins after the parent has read the part."""
    child.before_put = lambda: begin_task(child)
    document = {**SHOP, 'groups': [{'name': 'db', 'members': [
        {'name': 'node', 'count': 2, 'resources': {'VCPU': 2}}]}]}
    answer = parent.ask('PUT', f'/v1/groups/{parent.group}', {
        'group': document}, headers={'If-Match': '"1"'})
    assert answer.status_int == 202, answer.text
    after = parent.settled(parent.group)
    assert ('cloud dfw: the cloud works on another change of its part; try '
            'again') in [each['message'] for each in after['reasons']]
    assert after['revision'] == 1


def _refuse_while_busy(child):
    extend = child._extend

    def act(group_uuid, seconds, revision):
        if child.service.table.get_group(group_uuid).task is not None:
            raise GroupBusy(f'group {group_uuid} is being placed')
        extend(group_uuid, seconds)
    return act
