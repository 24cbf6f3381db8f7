# SPDX-License-Identifier: Apache-2.0
"""Another request changes a group after a cloud has answered a refresh, and
before the refresh writes the answer."""

from datetime import timedelta

import pytest

from nova_holistic.federation.child import ChildGroup, ChildMember
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.federation.test_updates import HOME, parent, parts

__all__ = ['parent']

SERVER = '11111111-2222-3333-4444-555555555555'


@pytest.fixture
def group(parent):
    """A group with the member ``home/a`` in one cloud."""
    return parent.post(parts(HOME))['id']


def report(parent, state, server=None, hours=1):
    """Return what the cloud reports about its part."""
    child = parent.clouds.children['ams']
    return ChildGroup(
        'ams', [*child.cloud.groups][0], 'planned', True, {},
        parent.clouds.time.now() + timedelta(hours=hours),
        (ChildMember('home/a', state, server),))


def refresh_during(parent, group, first, work):
    """Refresh the group. The first answer of the cloud is ``first``, and
    ``work`` is done before it is written."""
    child = parent.clouds.children['ams']

    def show(group_uuid):
        del child.show
        work()
        return first

    child.show = show
    parent.get(group)


def refresh_with(parent, group, answer):
    """Refresh the group in another request, with this answer of the cloud."""
    child = parent.clouds.children['ams']
    child.show = lambda group_uuid: answer
    parent.get(group)
    del child.show


def test_a_late_answer_does_not_replace_the_server_of_a_newer_one(
        parent, group):
    later = report(parent, 'built', SERVER)
    refresh_during(parent, group, report(parent, 'planned'),
                   lambda: refresh_with(parent, group, later))
    (part,) = parent.table.parts.of_group(group)
    assert dict(part.instances) == {'home/a': SERVER}
    (row,) = parent.table.members(group)
    assert row.state == MemberState.BUILT


def test_a_late_answer_does_not_revert_a_release(parent, group):
    (row,) = parent.table.members(group)

    def release():
        parent.table.release([row.hold], parent.clouds.time.now())

    refresh_during(parent, group, report(parent, 'claimed'), release)
    (row,) = parent.table.members(group)
    assert row.state == MemberState.RELEASED


def test_a_late_answer_does_not_shorten_an_extended_lease(parent, group):
    seconds = 10 * 3600
    refresh_during(parent, group, report(parent, 'planned'), lambda: ask(
        parent, group, 'extend', {'seconds': seconds}))
    assert parent.table.get_group(group).lease_expires_at == (
        parent.clouds.time.now() + timedelta(seconds=seconds))


def test_an_answer_is_not_written_while_a_task_changes_the_group(
        parent, group):
    (before,) = parent.table.parts.of_group(group)
    lease = parent.table.get_group(group).lease_expires_at
    refresh_during(
        parent, group, report(parent, 'built', SERVER, hours=9),
        lambda: parent.table.tasks.request(group, NewTask(
            Task.UPDATING, {'user_id': 'another'}, [GroupStatus.PLANNED]),
            parent.clouds.time.now()))
    assert parent.table.parts.of_group(group) == (before,)
    assert parent.table.get_group(group).lease_expires_at == lease


def ask(parent, group, name, body):
    answer = parent.ask('POST', f'/v1/groups/{group}/{name}', {name: body})
    assert answer.status_int == 200, answer.text
