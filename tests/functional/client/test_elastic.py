# SPDX-License-Identifier: Apache-2.0
"""Commands about members whose number may change, on two racks."""

import pytest

from nova_holistic.table.records import MemberState
from tests.functional.engine.world import shop


@pytest.fixture
def created(read, written):
    """A group with two of its three desired nodes, because the policy allows
    one node per rack."""
    return read('group', 'create', '--wait', '-f', written(
        shop(nodes={'min': 1, 'desired': 3, 'max': 5})))


def test_a_group_with_fewer_servers_than_desired_states_what_is_missing(
        world, created, read, type_):
    """The minimum permits it, so the command succeeds."""
    assert created['status'] == 'planned'
    assert created['members'] == {'planned': 3}
    assert created['counts'] == [{
        'path': 'db/node', 'min': 1, 'desired': 3, 'max': 5, 'number': 2,
        'missing': 1}]
    assert [(reason['at'], reason['message'])
            for reason in created['reasons']] == [
        ('db/node-2', 'cannot be placed, for the reasons that follow'),
        ('db', 'anti-affinity rack needs 3 racks; there are too few')]
    assert world.vcpus_used() == 3
    assert read('group', 'show', 'shop')['counts'] == created['counts']
    assert ('db/node: 2 (min: 1, desired: 3, max: 5), 1 missing'
            in type_('group', 'show', 'shop'))


def test_a_member_is_scaled(world, created, read):
    group = read('member', 'scale', 'shop', 'db/node', '--desired', 1,
                 '--wait')
    assert group['counts'] == [{
        'path': 'db/node', 'min': 1, 'desired': 1, 'max': 5, 'number': 1,
        'missing': 0}]
    assert group['reasons'] == []
    assert world.vcpus_used() == 2
    group = read('member', 'scale', 'shop', 'db/node', '--desired', 4,
                 '--max', 7, '--wait')
    (count,) = group['counts']
    assert (count['number'], count['missing'], count['max']) == (2, 2, 7)
    assert world.vcpus_used() == 3


def test_places_that_a_change_added_expire_with_the_lease(
        world, created, read):
    for desired, used in ((1, 2), (2, 3)):
        read('member', 'scale', 'shop', 'db/node', '--desired', desired,
             '--wait')
        assert world.vcpus_used() == used
    (group,) = world.table.list_groups()
    world.wait((group.lease_expires_at - world.now).total_seconds())
    assert world.lifecycle.expire() == [group.uuid]
    assert world.vcpus_used() == 0
    (count,) = read('group', 'show', 'shop')['counts']
    assert (count['number'], count['missing']) == (0, 2)


def test_a_minimum_without_room_leaves_the_group_unchanged(
        world, created, read, failed):
    before = read('group', 'show', 'shop')
    line = failed('member', 'scale', 'shop', 'db/node', '--min', 3,
                  '--wait')
    assert 'stays planned: db: anti-affinity rack needs 3 racks' in line
    after = read('group', 'show', 'shop')
    assert (after['counts'], after['definition']) == (
        before['counts'], before['definition'])
    assert world.vcpus_used() == 3


def test_other_changes_are_possible_while_servers_are_missing(
        world, created, read):
    group = read('member', 'add', 'shop', 'cache', '--resource', 'VCPU=1',
                 '--wait')
    assert group['members'] == {'planned': 4}
    assert [count['missing'] for count in group['counts']] == [1]
    assert world.vcpus_used() == 4


def test_a_replan_succeeds_although_a_server_is_missing(
        world, created, read):
    (group,) = world.table.list_groups()
    (web,) = [row for row in world.table.members(group.uuid)
              if row.member.path == 'web']
    world.holds.drop([web.hold])
    assert world.table.change_state(
        web.id, [web.state], MemberState.LOST, world.now, held=False)
    replanned = read('group', 'replan', 'shop', '--wait')
    assert replanned['members'] == {'planned': 3}
    assert replanned['reasons'] == created['reasons']


@pytest.mark.parametrize('path,options,words', [
    ('db/node', (), 'At least one of --min, --desired and --max is required'),
    ('db/disk', ('--desired', 2),
     "group shop has no member or nested group 'db/disk'"),
    ('db/node', ('--max', 2, '--desired', 3), 'is less than desired')])
def test_an_impossible_change_is_refused(created, refused, path, options,
                                         words):
    assert words in refused('member', 'scale', 'shop', path, *options)
