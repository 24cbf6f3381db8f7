# SPDX-License-Identifier: Apache-2.0
"""A pass that restores missing holds takes no capacity for members that no
longer need it."""

import pytest

from nova_holistic.table.records import MemberState
from tests.functional.engine.interleaving import Interleaved, reconcile
from tests.functional.engine.world import SMALL

PAIR = {'group': {
    'name': 'pair', 'policies': [{'type': 'affinity', 'level': 'host'}],
    'members': [{'name': name, 'resources': SMALL}
                for name in ('one', 'two')]}}
SINGLE = {'group': {
    'name': 'single', 'members': [{'name': 'one', 'resources': SMALL}]}}


def without_holds(world, document):
    """A planned group whose holds an audit of Placement has removed."""
    group = world.create(document)
    world.holds.drop([m.hold for m in world.table.members(group.uuid)])
    assert world.vcpus_used() == 0
    return group


def test_a_member_released_while_its_neighbour_is_restored_is_not_restored(
        world):
    """Both holds were missing when the pass looked at the host."""
    group = without_holds(world, PAIR)
    restored = []

    class Holds:
        def put(self, members, *owner):
            (member,) = members
            restored.append(member.member.path)
            if len(restored) == 1:
                (other,) = {'one', 'two'} - set(restored)
                world.lifecycle.release(group.uuid, [other])
            world.holds.put(members, *owner)

        def __getattr__(self, name):
            return getattr(world.holds, name)

    assert reconcile(world, holds=Holds()) == {'vanished': 1}
    assert len(restored) == 1
    assert sorted(world.states(group).values()) == ['planned', 'released']
    world.assert_agreement()


@pytest.mark.parametrize('end', ['release', 'delete'])
def test_a_group_given_back_just_before_its_hold_is_restored_holds_nothing(
        world, end):
    """The process that dropped the hold searched for it before it existed."""
    group = without_holds(world, SINGLE)
    reconcile(world, holds=Interleaved(
        world.holds, 'put',
        before=lambda: getattr(world.lifecycle, end)(group.uuid)))
    assert world.vcpus_used() == 0
    world.assert_agreement()


@pytest.mark.parametrize('state', [MemberState.CLAIMED, MemberState.BUILT])
def test_a_member_claimed_again_before_its_hold_is_restored_has_no_hold(
        world, state):
    """While a claim is undone, a pass finds the hold missing. When the pass
    restores it, another server has the member and its capacity."""
    group = world.create(SINGLE)
    first, second = [], []

    def claim():
        first.append(world.claim(group, 'one'))
        world.swap(first[0])

    def undo():
        (row,) = first
        world.holds.unswap(row, row.instance_uuid, 'blue', 'ann')
        assert world.table.change_state(
            row.id, [MemberState.CLAIMED], MemberState.PLANNED, world.now,
            instance_uuid=None, held=True)

    def claim_again():
        second.append(world.build(group, 'one'))
        assert world.table.change_state(
            second[0].id, [MemberState.BUILT], state, world.now)

    looking = Interleaved(
        world.holds, 'consumers', before=claim, after=undo)
    reconcile(world, holds=Interleaved(looking, 'put', before=claim_again))
    (row,) = second
    assert world.holds.has(row.instance_uuid, row)
    assert world.holds.exists(row.hold) is None
    assert world.vcpus_used() == 1
