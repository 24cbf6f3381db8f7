# SPDX-License-Identifier: Apache-2.0
"""The process that performs a task stops, and the task ends without a result.
"""

import functools

import pytest

from nova_holistic import crash_points
from nova_holistic.federation.child import Refusal, RefusalKind
from nova_holistic.federation.http import answers
from nova_holistic.table.records import MemberState
from tests.unit.federation.clouds import member
from tests.unit.federation.parent import LATEST
from tests.unit.federation.test_ended_tasks import end, ENDING
from tests.unit.federation.test_parent_api import performed, SPLIT, work_of
from tests.unit.federation.test_updates import HOME, nested, parent, parts

__all__ = ['end', 'parent']

AWAY = nested('away', member('web', 2, location='dfw'))


@pytest.fixture
def stop(monkeypatch):
    """A function that performs work with a process that stops at a point."""
    def stop(work, point):
        with monkeypatch.context() as patched:
            patched.setattr(crash_points, 'reached',
                            lambda name: name == point and killed())
            with pytest.raises(SystemExit):
                performed(work)
    return stop


def killed():
    raise SystemExit


def ended(parent, end, group):
    """End the task after its process has stopped."""
    parent.table.tasks.return_work(parent.table.get_group(group).engine)
    assert end(ENDING, group)[1]['result'] == 'ended'


@pytest.mark.parametrize('point', [
    'federation.placed', 'federation.members-written'])
def test_a_group_without_a_placement_leaves_no_part(parent, end, stop, point):
    work = work_of(parent)
    group = parent.ask('POST', '/v1/groups', {'group': SPLIT}).json['group'][
        'id']
    stop(work, point)
    assert parent.clouds.held() != {}
    ended(parent, end, group)
    # The request of the user deletes the parts.
    assert parent.get(group)['status'] == 'error'
    assert (parent.members(group), parent.clouds.held()) == ({}, {})
    assert parent.table.parts.of_group(group) == ()


def test_an_update_without_a_result_leaves_no_new_part(parent, end, stop):
    group = parent.post(parts(HOME))['id']
    before = parent.clouds.held()
    work = work_of(parent)
    answer = parent.ask('PUT', f'/v1/groups/{group}', {
        'group': parts(HOME, AWAY)}, headers={**LATEST, 'If-Match': '"1"'})
    assert answer.status_int == 202, answer.text
    stop(work, 'federation.update-committed')
    assert parent.clouds.held() != before
    ended(parent, end, group)
    assert parent.get(group)['members'] == {'planned': 1}
    assert parent.clouds.held() == before


def test_a_placement_that_fails_later_has_no_members(parent, stop):
    """The process stops before it has ended its task. The capacity is no
    longer available when another process performs the task."""
    work = work_of(parent)
    group = parent.ask('POST', '/v1/groups', {'group': SPLIT}).json['group'][
        'id']
    stop(work, 'federation.members-written')
    assert [row.state for row in parent.table.members(group)] == [
        MemberState.PLANNED] * 2
    for child in parent.clouds.children.values():
        child.offer = functools.partial(refuse, child.name)
    parent.clouds.time.sleep(parent.conf.federation.task_timeout + 1)
    parent.get(group)
    performed(work)
    assert parent.get(group)['status'] == 'unplaceable'
    assert (parent.members(group), parent.clouds.held()) == ({}, {})


def refuse(name, *words):
    return Refusal(name, RefusalKind.UNPLACEABLE, (
        answers.reason(name, '', 'no host has capacity'),))
