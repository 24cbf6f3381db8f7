# SPDX-License-Identifier: Apache-2.0
"""A process loses a group during an update, and continues late."""

from nova_holistic.federation.credentials.user import User
from tests.unit.federation.clouds import member
from tests.unit.federation.parent import LATEST
from tests.unit.federation.test_parent_api import performed, work_of
from tests.unit.federation.test_updates import (
    keep_answers, nested, parent, parts, states)

__all__ = ['parent']


def both(*names):
    """A group with members of these names in each of two clouds."""
    return parts(*(nested(cloud, *(member(each, 1, location=cloud)
                                   for each in names))
                   for cloud in ('ams', 'dfw')))


def test_a_stalled_update_does_not_revert_the_update_of_its_successor(parent):
    """The process stalls for longer than task_timeout, after it has changed
    the part in the first cloud. Another process finishes the update."""
    group = parent.post(both('a'))
    child = parent.clouds.children['ams']

    def stall(method, when):
        if (method, when) == ('extend', 'after'):
            child.fault = keep_answers
            parent.clouds.time.sleep(parent.conf.federation.task_timeout + 1)
            now = parent.clouds.time.now()
            record = parent.table.tasks.take(group['id'], 'another', now, now)
            parent.engines._tasks.perform(record, User('ann', 'blue'))

    work = work_of(parent)
    answer = parent.ask('PUT', f'/v1/groups/{group["id"]}', {
        'group': both('a', 'b')}, headers={**LATEST, 'If-Match': '"1"'})
    assert answer.status_int == 202
    child.fault = stall
    performed(work)
    after = parent.get(group['id'])
    assert (after['reasons'], after['task'], after['revision']) == (
        [], None, 2)
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2}
    assert set(states(parent, group).values()) == {'committed'}
