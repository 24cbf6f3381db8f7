# SPDX-License-Identifier: Apache-2.0
"""A group is deleted while another process changes it, or while one of its
clouds does not answer."""

import pytest

from nova_holistic.federation import group_changes
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from tests.unit.api.service import refusal
from tests.unit.federation.test_updates import (
    AWAY, HOME, keep_answers, lose_answers, nested, parent, parts, states,
    updated)
from tests.unit.federation.clouds import member

__all__ = ['parent']

MORE = nested('more', member('d', 1, location='lon'))


def delete(parent, group):
    return parent.ask('DELETE', f'/v1/groups/{group["id"]}')


def test_a_delete_does_not_forget_the_new_part_of_an_update(parent):
    """The update begins and ends while the delete waits for a cloud."""
    group = parent.post(parts(HOME, AWAY))
    child = parent.clouds.children['ams']

    def slow(method, when):
        if (method, when) == ('delete', 'before'):
            child.fault = keep_answers
            assert updated(parent, group, parts(
                HOME, AWAY, MORE))['reasons'] == []

    child.fault = slow
    assert refusal(delete(parent, group))[:2] == (409, 'holistic.conflict')
    parent.get(group['id'])
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2, 'lon': 1}
    assert set(states(parent, group).values()) == {'committed'}
    assert delete(parent, group).status_int == 204
    assert parent.clouds.held() == {}


@pytest.mark.parametrize('ends', [True, False])
def test_a_delete_leaves_a_group_whose_update_begins_at_its_end(
        parent, monkeypatch, ends):
    """The delete has deleted all parts, and the update creates new ones."""
    group = parent.post(parts(HOME))
    now = parent.clouds.time.now()

    def begin(point):
        monkeypatch.undo()
        if ends:
            assert updated(parent, group, parts(HOME))['reasons'] == []
        else:
            assert parent.table.tasks.request(group['id'], NewTask(
                Task.UPDATING, {}, [GroupStatus.PLANNED]), now)

    monkeypatch.setattr(group_changes.crash_points, 'reached', begin)
    assert refusal(delete(parent, group))[:2] == (409, 'holistic.conflict')
    assert parent.table.get_group(group['id']) is not None
    assert parent.clouds.held() == ({'ams': 2} if ends else {})


def test_members_are_lost_whose_part_a_delete_has_deleted(parent):
    """A cloud does not answer, so that the group remains. It no longer holds
    capacity in the other cloud, and soon in none."""
    group = parent.post(parts(HOME, AWAY))
    child = parent.clouds.children['dfw']
    child.fault = lose_answers
    assert refusal(delete(parent, group))[:2] == (
        503, 'holistic.child_failed')
    child.fault = keep_answers
    assert parent.get(group['id'])['members'] == {'lost': 2}
    assert parent.clouds.held() == {}
    assert parent.ask('POST', f'/v1/groups/{group["id"]}/replan',
                      {'replan': {}}).status_int == 202
    after = parent.settled(group['id'])
    assert (after['reasons'], after['members']) == ([], {'planned': 2})
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2}
