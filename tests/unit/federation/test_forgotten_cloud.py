# SPDX-License-Identifier: Apache-2.0
"""An operator removes the parts of groups in a cloud that never returns."""

import json
import pathlib
import re
import shlex

import pytest

from nova_holistic.cli import manage
from nova_holistic.table.changes import mirrored_members
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState, Task
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import refusal
from tests.unit.federation.clouds import small
from tests.unit.federation.parent import LATEST, Parent
from tests.unit.federation.test_parent_api import lost, SHOP, SPLIT
from tests.unit.federation.test_updates import (
    AWAY, HOME, parent as changing, parts)

__all__ = ['changing']

FORGET = [shlex.split(line) for line in re.findall(
    r'^   \$ nova-holistic-manage (federation forget .*) [0-9a-f-]{36}$',
    pathlib.Path('doc/source/admin/federation.rst').read_text(),
    re.MULTILINE)]
"""The words of the manual's commands without the UUID of the group: one lists
the parts, one removes them."""


@pytest.fixture
def table(tmp_path):
    return PlacementTable(new_table(tmp_path))


@pytest.fixture
def parent(table):
    """A parent of two clouds."""
    found = Parent(table, {'ams': small('a1', 'a2'), 'dfw': small('b1')})
    yield found
    found.engines.stop()


@pytest.fixture
def forget(tmp_path, table, capsys):
    """A function that runs a command for a group, and returns its exit code,
    and its outcome or its error output."""
    config = tmp_path / 'forget.conf'
    config.write_text(
        f'[holistic_database]\nconnection = {table.database.engine.url}\n')

    def forget(words, group):
        code = manage.main(['--config-file', str(config), *words, group,
                            '--format', 'json'])
        out, err = capsys.readouterr()
        return code, json.loads(out)[0] if out else err

    return forget


def test_a_group_can_be_deleted_after_its_cloud_is_forgotten(
        parent, table, forget):
    listing, removal = FORGET
    group = parent.post(SPLIT)['id']
    parent.clouds.children['ams'].fault = lost
    (part,) = [part for part in table.parts.of_group(group)
               if part.child == 'ams']
    listed = {'group': group, 'child_groups': [part.child_group],
              'members': 1}
    assert forget(listing, group) == (0, {**listed, 'result': 'found'})
    assert len(table.parts.of_group(group)) == 2
    assert forget(removal, group) == (0, {**listed, 'result': 'forgotten'})
    assert {each.get('cloud'): each['state']
            for each in parent.members(group).values()} == {
                None: 'lost', 'dfw': 'planned'}
    assert forget(removal, group) == (0, {
        'group': group, 'child_groups': [], 'members': 0,
        'result': 'no part'})
    assert parent.ask('DELETE', f'/v1/groups/{group}').status_int == 204
    assert table.get_group(group) is None
    # The part remains in the cloud until its lease expires.
    assert parent.clouds.held() == {'ams': 2}


def test_a_released_member_in_the_forgotten_cloud_stays_released(
        parent, table, forget):
    group = parent.post(SPLIT)['id']
    (path,) = [path for path, each in parent.members(group).items()
               if each['cloud'] == 'ams']
    mirrored_members.write(table.database, group,
                           {path: MemberState.RELEASED},
                           parent.clouds.time.now())
    code, found = forget(FORGET[1], group)
    assert (code, found['members'], found['result']) == (0, 0, 'forgotten')
    assert parent.members(group)[path]['state'] == 'released'


def test_lost_members_are_placed_again_in_another_cloud(parent, forget):
    group = parent.post(SHOP)
    (cloud,) = {each['cloud']
                for each in parent.members(group['id']).values()}
    parent.clouds.children[cloud].fault = lost
    words = [cloud if word == 'ams' else word for word in FORGET[1]]
    assert forget(words, group['id'])[1]['result'] == 'forgotten'
    answer = parent.ask('POST', f'/v1/groups/{group["id"]}/replan',
                        {'replan': {}})
    assert answer.status_int == 202
    parent.settled(group['id'])
    (other,) = {'ams', 'dfw'} - {cloud}
    assert {(each['cloud'], each['state'])
            for each in parent.members(group['id']).values()} == {
                (other, 'planned')}


def test_a_cloud_of_a_group_with_a_task_is_not_forgotten(
        parent, table, forget):
    group = parent.post(SPLIT)['id']
    parent.engines.stop()
    assert table.tasks.request(
        group, NewTask(Task.REPLANNING, {}, [GroupStatus.PLANNED]),
        parent.clouds.time.now())
    code, found = forget(FORGET[1], group)
    assert (code, found['result']) == (1, 'busy')
    assert len(table.parts.of_group(group)) == 2


def test_a_cloud_of_an_unknown_group_is_not_forgotten(forget):
    code, message = forget(FORGET[1], 'no-such-group')
    assert (code, 'no-such-group' in message) == (2, True)


def test_a_location_in_a_forgotten_cloud_can_be_removed(changing):
    """The operator has removed the cloud from the file of children."""
    group = changing.post(parts(HOME, AWAY))['id']
    assert changing.table.parts.forget(
        group, 'dfw', changing.clouds.time.now())
    del changing.clouds.children['dfw']
    changing.renew()
    assert changing.get(group)['members'] == {'planned': 1, 'lost': 1}
    answer = changing.ask('PUT', f'/v1/groups/{group}', {
        'group': parts(HOME)}, headers={**LATEST, 'If-Match': '"1"'})
    assert answer.status_int == 202, answer.text
    found = changing.settled(group)
    assert (found['members'], found['revision'], found['reasons']) == (
        {'planned': 1}, 2, [])


def test_an_update_in_a_removed_cloud_names_what_the_operator_can_do(parent):
    """The parent still has the part of the group in this cloud."""
    group = parent.post(SPLIT)['id']
    del parent.clouds.children['dfw']
    parent.renew()
    answer = parent.ask('PUT', f'/v1/groups/{group}', {'group': SPLIT},
                        headers={**LATEST, 'If-Match': '"1"'})
    status, _, message = refusal(answer)
    assert status == 400
    assert 'is in cloud dfw, which this parent no longer has' in message
