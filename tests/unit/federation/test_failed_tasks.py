# SPDX-License-Identifier: Apache-2.0
"""Unexpected errors end the tasks and plans of a parent."""

import pytest

from nova_holistic.table import errors as table_errors
from tests.unit.federation.clouds import small
from tests.unit.federation.parent import LATEST, Parent
from tests.unit.federation.test_parent_api import (
    performed, SHOP, SPLIT, table, work_of)

__all__ = ['table']

ATTEMPTS = 2


@pytest.fixture
def parent(table):
    """A parent of two clouds."""
    found = Parent(table, {'ams': small('a1', 'a2'), 'dfw': small('b1')})
    found.conf.set_override('attempts', ATTEMPTS, 'engine')
    found.renew()
    yield found
    found.engines.stop()


def fail(method, when):
    if method == 'show':
        raise ZeroDivisionError('an error in the code')


def killed(*words):
    raise SystemExit


def test_an_unexpected_error_ends_a_replan(parent):
    group = parent.post(SPLIT)['id']
    parent.clouds.children['ams'].fault = fail
    work = work_of(parent)
    assert parent.ask('POST', f'/v1/groups/{group}/replan',
                      {'replan': {}}).status_int == 202
    with pytest.raises(ZeroDivisionError):
        performed(work)
    record = parent.table.get_group(group)
    assert (record.task, record.engine, record.status) == (
        None, None, 'planned')
    (why,) = record.reasons
    assert 'ZeroDivisionError' in why['message']
    assert 'ZeroDivisionError' not in why['public']


@pytest.mark.parametrize('task', ['create', 'replan', 'update'])
def test_the_attempts_of_processes_that_stop_are_limited(
        parent, monkeypatch, task):
    """Each process that begins the task stops. A group that has a plan keeps
    it."""
    work = work_of(parent)
    group = parent.ask('POST', '/v1/groups', {'group': SPLIT}).json['group'][
        'id']
    if task != 'create':
        performed(work)
    if task == 'replan':
        parent.ask('POST', f'/v1/groups/{group}/replan', {'replan': {}})
    elif task == 'update':
        parent.ask('PUT', f'/v1/groups/{group}', {
            'group': {**SPLIT, 'name': 'other'}},
            headers={**LATEST, 'If-Match': '"1"'})
    monkeypatch.setattr(parent.engines._tasks, '_perform', killed)
    for _ in range(ATTEMPTS):
        with pytest.raises(SystemExit):
            performed(work)
        parent.clouds.time.sleep(parent.conf.federation.task_timeout + 1)
        parent.get(group)
    performed(work)
    found = parent.get(group)
    assert (found['task'], found['status']) == (
        None, 'error' if task == 'create' else 'planned')
    (why,) = found['reasons']
    assert f'{ATTEMPTS} attempts' in why['message']
    assert parent.ask('DELETE', f'/v1/groups/{group}').status_int == 204
    assert parent.clouds.held() == {}


def test_the_attempts_of_a_plan_are_limited(parent, monkeypatch):
    work = work_of(parent)
    plan = parent.ask('POST', '/v1/plans', {'group': SHOP}).json['plan']['id']
    monkeypatch.setattr(parent.engines._planners, 'of', killed)
    for _ in range(ATTEMPTS):
        with pytest.raises(SystemExit):
            performed(work)
        parent.clouds.time.sleep(parent.conf.federation.task_timeout + 1)
        parent.ask('GET', f'/v1/plans/{plan}')
    performed(work)
    found = parent.ask('GET', f'/v1/plans/{plan}').json['plan']
    assert found['status'] == 'error'
    assert f'{ATTEMPTS} attempts' in found['reasons'][0]['message']


@pytest.mark.parametrize('ends', [False, True])
@pytest.mark.parametrize('method', ['write_members', 'finish'])
def test_a_task_waits_while_the_table_does_not_respond(
        parent, monkeypatch, method, ends):
    """The next request of the user begins it again."""
    work = work_of(parent)
    group = parent.ask('POST', '/v1/groups', {'group': SPLIT}).json['group'][
        'id']
    for _ in range(ATTEMPTS):
        monkeypatch.setattr(
            parent.table if method == 'write_members' else parent.table.tasks,
            method, without_table)
        with pytest.raises(table_errors.TableError):
            performed(work)
        monkeypatch.undo()
        record = parent.table.get_group(group)
        assert (record.task, record.engine, record.status) == (
            'planning', None, 'planning')
        parent.get(group)
        if not ends:
            break
    performed(work)
    found = parent.get(group)
    assert (found['task'], found['status']) == (
        None, 'error' if ends else 'planned')
    # A request of the user undoes the parts of a group without a placement.
    parent.get(group)
    assert parent.clouds.held() == ({} if ends else {'ams': 2, 'dfw': 2})


def without_table(*words):
    raise table_errors.TableError('the database does not respond')
