# SPDX-License-Identifier: Apache-2.0
"""The members that stay, move, come and go when a group is revised."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.update import revised_members
from nova_holistic.table.records import MemberRecord, MemberState, Place
from tests.unit.table.builders import a_group

SMALL, LARGE = {'VCPU': 1}, {'VCPU': 2}
SERVER = 'server'


def document(**members):
    """A group whose members request these resources."""
    return {'name': 'shop', 'members': [
        {'name': name, 'resources': resources}
        for name, resources in members.items()]}


def row(path, state, number=1, instance=None):
    (member,) = parse_group(document(**{path: SMALL}), {}).all_members()
    return MemberRecord(number, 'group', member, Place('h1', 'h1', 'p1'),
                        f'hold-{path}', True, state, instance)


def stands(rows, revised, *, before=None, earlier=()):
    record = a_group(document=before or document(web=SMALL))
    return record, revised_members.revised_members(
        record, parse_group(revised, {}), rows, earlier)


@pytest.mark.parametrize('state, instance, revised, expected', [
    (MemberState.PLANNED, None, SMALL, 'movable'),
    (MemberState.PLANNED, None, LARGE, 'to_plan'),
    (MemberState.CLAIMED, SERVER, SMALL, 'fixed'),
    (MemberState.CLAIMED, SERVER, LARGE, 'fixed'),
    (MemberState.BUILT, SERVER, SMALL, 'fixed'),
    (MemberState.LOST, None, SMALL, 'to_plan'),
    (MemberState.FAILED, None, SMALL, 'to_plan'),
    (MemberState.FAILED, SERVER, SMALL, 'fixed'),
    (MemberState.FAILED, SERVER, LARGE, 'to_plan'),
])
def test_a_member_with_a_server_stays_and_an_unchanged_plan_may(
        state, instance, revised, expected):
    _, found = stands([row('web', state, instance=instance)],
                      document(web=revised))
    assert [name for name in ('fixed', 'movable', 'to_plan')
            if 'web' in getattr(found, name)] == [expected]
    assert not found.removed and not found.left_out


@pytest.mark.parametrize('earlier, wanted', [((1,), ['web']), ((), [])])
def test_a_member_released_since_the_request_is_left_out(earlier, wanted):
    record, found = stands([row('web', MemberState.RELEASED)],
                           document(web=SMALL), earlier=earlier)
    request = found.request(record, 'spread')
    assert [m.path for m in request.group.all_members()] == wanted


def test_members_released_before_the_update_are_in_its_task():
    rows = [row('web', MemberState.RELEASED, 1),
            row('db', MemberState.RELEASED, 2)]
    shown = a_group(pending={'released': [2]})
    assert revised_members.released(shown, rows) == {2}
    assert revised_members.released(a_group(), rows) == {1, 2}


@pytest.mark.parametrize('state, instance, extra_servers', [
    (MemberState.CLAIMED, SERVER, ['h1']),
    (MemberState.BUILT, SERVER, ['h1']),
    (MemberState.FAILED, SERVER, ['h1']),
    (MemberState.FAILED, None, []),
    (MemberState.PLANNED, None, []),
    (MemberState.RELEASED, None, []),
])
def test_servers_of_removed_members_are_not_outside_servers(
        state, instance, extra_servers):
    record, found = stands([row('web', state, instance=instance)],
                           document(db=SMALL))
    assert [m.member.path for m in found.removed] == ['web']
    assert found.request(record, 'spread').extra_servers == extra_servers


def test_only_planned_members_that_leave_or_move_lose_holds():
    rows = [row('web', MemberState.PLANNED, 1),
            row('db', MemberState.PLANNED, 2),
            row('old', MemberState.PLANNED, 3),
            row('built', MemberState.BUILT, 4, SERVER),
            row('lost', MemberState.LOST, 5)]
    before = document(**{r.member.path: SMALL for r in rows})
    record, found = stands(rows, document(
        web=SMALL, db=SMALL, lost=SMALL), before=before)
    request = found.request(record, 'spread', {'db'})
    assert {m.member.path for m in request.vacated} == {'db', 'old'}
    assert request.placed == {'web': 'h1'}


def test_a_server_that_would_have_to_be_replaced_is_named():
    record, found = stands(
        [row('web', MemberState.CLAIMED), row('db', MemberState.PLANNED, 2)],
        document(web=LARGE, db=LARGE),
        before=document(web=SMALL, db=SMALL))
    changed = revised_members.changed_servers(record, found)
    assert [r.at for r in changed] == ['web']
