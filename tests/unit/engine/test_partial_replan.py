# SPDX-License-Identifier: Apache-2.0
"""A partial replan finds the members that can be placed in few attempts."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.decision.planning_request import (
    NotPlanned, PlanningRequest)
from nova_holistic.engine.replan import partial_replan
from nova_holistic.engine.replan.partial_replan import PartialPlanner
from nova_holistic.model.elastic.optional_members import optional_units
from nova_holistic.model.plan import Reason
from nova_holistic.policies import load_policy_types
from nova_holistic.table.records import GroupStatus

WHOLE = [Reason('', 'not all of them')]


class Room:
    """Decides by the total of VCPUs. A decision is the list of paths.

    :ivar attempts: the paths of each attempt
    """

    def __init__(self, vcpus):
        self._vcpus = vcpus
        self.attempts = []

    def __call__(self, request, seconds):
        members = request.group.all_members()
        self.attempts.append([member.path for member in members])
        wanted = sum(m.requirements.resources['VCPU'] for m in members)
        if wanted > self._vcpus:
            raise NotPlanned(GroupStatus.UNPLACEABLE, [
                Reason('', f'{wanted} of {self._vcpus}')])
        return self.attempts[-1]


def parsed(*sizes, **more):
    return parse_group({'name': 'g', 'members': [
        {'name': f'm{number}', 'resources': {'VCPU': size}}
        for number, size in enumerate(sizes)], **more}, load_policy_types())


def plan(group, room, placed=(), remaining=lambda: 1.0):
    lost = [m.path for m in group.all_members() if m.path not in placed]
    request = PlanningRequest(group, 'spread',
                              placed=dict.fromkeys(placed, 'h'))
    return PartialPlanner(request, room, partial_replan.kinds(group, lost),
                          remaining).plan(WHOLE)


@pytest.mark.parametrize('sizes, vcpus, accepted', [
    ([1], 0, []),
    ([1, 1, 1], 2, [0, 1]),
    ([3, 1, 2], 3, [0]),
    ([4, 1, 2], 3, [1, 2]),
    ([2, 4, 1, 4, 2], 5, [0, 2, 4]),
    ([5, 5, 5, 1], 4, [3])])
def test_earlier_members_go_first(sizes, vcpus, accepted):
    found = plan(parsed(*sizes), Room(vcpus))
    assert found.accepted == {f'm{number}' for number in accepted}
    assert (found.decision or []) == [f'm{number}' for number in accepted]


def test_a_single_member_is_not_tried_again():
    room = Room(0)
    found = plan(parsed(1), room)
    assert room.attempts == []
    assert found.decision is None
    assert [(r.at, r.message) for r in found.reasons] == [
        ('m0', 'cannot be placed, for the reasons that follow'),
        ('', 'not all of them')]


@pytest.mark.parametrize('vcpus', [0, 1, 500, 998, 999])
def test_a_thousand_equal_members_take_twenty_attempts(vcpus):
    room = Room(vcpus)
    found = plan(parsed(*[1] * 1000), room)
    assert len(found.accepted) == vcpus
    assert len(room.attempts) <= 20


def test_different_members_take_two_attempts_each_at_most():
    room = Room(0)
    assert not plan(parsed(*range(1, 101)), room).accepted
    assert len(room.attempts) <= 200


def test_equal_members_share_a_reason_that_names_them():
    found = plan(parsed(2, 5, 2, 5), Room(4))
    assert [r.at for r in found.reasons] == ['m1, m3', '']
    assert all(r.names == () for r in found.reasons if r.at)


def test_members_that_are_placed_are_part_of_each_question():
    room = Room(3)
    found = plan(parsed(1, 5, 1), room, placed=['m0'])
    assert found.accepted == {'m2'}
    assert all(attempt[0] == 'm0' for attempt in room.attempts)


def test_nothing_is_tried_after_the_time_limit():
    seconds = iter([3.0, 2.0, 1.0])
    room = Room(2)
    found = plan(parsed(*range(1, 9)), room,
                 remaining=lambda: next(seconds, 0.0))
    assert len(room.attempts) == 3
    assert found.accepted == {'m0'}
    (shown,) = [r for r in found.reasons if 'time limit' in r.message]
    assert shown.at == 'm1, m2, m3, m4, m5, m6, m7'


def test_members_on_different_sides_of_a_relationship_are_different():
    group = parsed(1, 1, 1, 1, relationships=[
        {'type': 'anti-affinity', 'between': ['m0', 'm1']},
        {'type': 'affinity', 'between': ['m0', 'm1']}])
    kinds = partial_replan.kinds(group, ['m0', 'm1', 'm2', 'm3'])
    assert kinds['m2'] == kinds['m3']
    assert len(set(kinds.values())) == 3


def test_members_of_different_groups_are_different():
    group = parse_group({'name': 'g', 'groups': [
        {'name': name, 'members': [
            {'name': 'm', 'count': 2, 'resources': {'VCPU': 1}}]}
        for name in ('a', 'b')]}, load_policy_types())
    kinds = partial_replan.kinds(group, [m.path for m in group.all_members()])
    assert kinds['a/m-0'] == kinds['a/m-1'] != kinds['b/m-0']


@pytest.mark.parametrize('vcpus, accepted', [
    (0, []), (1, []), (2, [0]), (3, [0, 1]), (4, [0, 1, 2]), (5, [0, 1, 2]),
    (6, [0, 1, 2, 3]), (8, [0, 1, 2, 3, 4, 5])])
def test_a_replica_gets_as_many_members_as_possible(vcpus, accepted):
    """No server of a replica is planned without the minimum of the
    replica."""
    group = parse_group({'name': 'g', 'groups': [
        {'name': 'shard', 'count': {'min': 0, 'desired': 2}, 'members': [
            {'name': 'first', 'resources': {'VCPU': 1}},
            {'name': 'next', 'count': {'min': 1, 'desired': 3},
             'resources': {'VCPU': 1}}]}]}, load_policy_types())
    units = {unit.path: unit for unit in optional_units(group)}
    found = PartialPlanner(
        PlanningRequest(group, 'spread'), Room(vcpus),
        {path: unit.kind for path, unit in units.items()}, lambda: 1.0,
        units).plan(WHOLE)
    assert found.accepted == {list(units)[number] for number in accepted}
    assert len(found.decision or ()) == (
        len(accepted) + sum(number % 3 == 0 for number in accepted))
