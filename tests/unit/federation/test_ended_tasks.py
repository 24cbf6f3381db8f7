# SPDX-License-Identifier: Apache-2.0
"""An operator ends a task that waits for a user who does not return."""

import json
import pathlib
import re
import shlex

import pytest

from nova_holistic.cli import manage
from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from tests.unit.federation.test_parent_api import COLLEAGUE
from tests.unit.federation.test_updates import HOME, parent, parts, states

__all__ = ['parent']

LISTING, ENDING = [shlex.split(line) for line in re.findall(
    r'^   \$ nova-holistic-manage (federation end-task.*) [0-9a-f-]{36}$',
    pathlib.Path('doc/source/admin/federation.rst').read_text(),
    re.MULTILINE)]
"""The words of the manual's commands without the UUID of the group."""


@pytest.fixture
def end(tmp_path, parent, capsys):
    """A function that runs a command for a group, and returns its exit code,
    and its outcome or its error output."""
    config = tmp_path / 'end.conf'
    config.write_text(
        f'[holistic_database]\nconnection = '
        f'{parent.table.database.engine.url}\n'
        '[federation]\nchildren = children.yaml\n')

    def end(words, group):
        code = manage.main(['--config-file', str(config), *words, group,
                            '--format', 'json'])
        out, err = capsys.readouterr()
        return code, json.loads(out)[0] if out else err

    return end


@pytest.fixture
def updating(parent):
    """UUID of a group whose update has changed a part, and has no process."""
    group = parent.post(parts(HOME))
    now = parent.clouds.time.now()
    assert parent.table.tasks.request(group['id'], NewTask(
        Task.UPDATING, {'user_id': 'rob', 'project_id': 'blue'},
        [GroupStatus.PLANNED]), now)
    assert parent.table.tasks.take(group['id'], 'gone', now, now)
    (part,) = parent.table.parts.of_group(group['id'])
    assert parent.table.parts.write(GroupPart(
        part.idempotency_key, group['id'], 'ams', part.name, part.paths,
        'changing', now, part.child_group), 'gone')
    return group['id']


def give_up(parent, group):
    """Let the process that performs the task stop."""
    parent.table.tasks.return_work('gone', group)


def outcome(group, task='updating', user='rob', **more):
    return {'group': group, 'task': task, 'project_id': 'blue',
            'user_id': user, **more}


def test_another_user_can_delete_a_group_whose_task_is_ended(
        parent, updating, end):
    give_up(parent, updating)
    url = f'/v1/groups/{updating}'
    assert parent.ask('DELETE', url, token=COLLEAGUE).status_int == 409
    assert end(LISTING, updating) == (0, outcome(updating, result='found'))
    assert parent.table.get_group(updating).task == Task.UPDATING
    assert end(ENDING, updating) == (0, outcome(updating, result='ended'))
    found = parent.get(updating)
    assert (found['status'], found['task'], found['members']) == (
        'planned', None, {'planned': 1})
    (reason,) = found['reasons']
    assert 'an operator has ended the task updating' in reason['message']
    # The request of the user has settled the part.
    assert states(parent, found) == {'ams': 'committed'}
    assert parent.ask('DELETE', url, token=COLLEAGUE).status_int == 204
    assert parent.clouds.held() == {}


def test_a_group_that_was_never_placed_gets_an_error(parent, end):
    parent.engines.plan_group = lambda *words: None
    answer = parent.ask('POST', '/v1/groups', {'group': parts(HOME)})
    group = answer.json['group']['id']
    assert end(ENDING, group) == (
        0, outcome(group, 'planning', 'ann', result='ended'))
    assert parent.get(group)['status'] == 'error'
    del parent.engines.plan_group
    assert parent.ask('POST', f'/v1/groups/{group}/replan', {'replan': {}},
                      token=COLLEAGUE).status_int == 202
    assert parent.settled(group)['status'] == 'planned'


def test_a_task_on_which_a_process_works_is_not_ended(parent, updating, end):
    for words in (LISTING, ENDING):
        assert end(words, updating) == (1, outcome(updating, result='busy'))
    assert parent.table.get_group(updating).engine == 'gone'


def test_a_group_without_a_task_is_not_changed(parent, end):
    group = parent.post(parts(HOME))['id']
    before = parent.table.get_group(group)
    assert end(ENDING, group) == (
        0, outcome(group, None, 'ann', result='no task'))
    assert parent.table.get_group(group) == before


def test_an_unknown_group_and_a_service_without_children_are_refused(
        parent, end, tmp_path):
    code, message = end(ENDING, 'no-such-group')
    assert (code, 'no-such-group' in message) == (2, True)
    (tmp_path / 'end.conf').write_text(
        f'[holistic_database]\nconnection = '
        f'{parent.table.database.engine.url}\n')
    code, message = end(ENDING, parent.post(parts(HOME))['id'])
    assert (code, 'this service is not a parent' in message) == (2, True)
