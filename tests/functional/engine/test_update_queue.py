# SPDX-License-Identifier: Apache-2.0
"""Changes of a group between the request of an update and its end."""

import pytest

from nova_holistic.engine import errors
from nova_holistic.holds.errors import HoldsError
from nova_holistic.table.errors import ClaimRefused
from tests.functional.engine.updates import (
    ask, assert_settled, fill, held, revised, Silent, take)
from tests.functional.engine.world import SMALL
from tests.unit.api.service import Service
from tests.unit.table import builders


def put(world, group, document):
    """Request an update that no engine begins yet."""
    assert Service(world.table).ask(
        'PUT', f'/v1/groups/{group.uuid}', {'group': document},
        headers={'If-Match': '"1"'}).status_int == 202


def with_cache(nodes=2):
    document = revised(nodes=nodes)
    document['members'].append({'name': 'cache', 'resources': SMALL})
    return document


def test_members_released_before_an_update_starts_stay_released(world):
    group = world.create()
    put(world, group, with_cache())
    world.lifecycle.release(group.uuid, ['db/node'])
    world.planner.perform(take(world, group))
    assert_settled(world, group, 2)
    assert world.states(group) == {
        'web': 'planned', 'cache': 'planned',
        'db/node-0': 'released', 'db/node-1': 'released'}
    world.assert_agreement()


def test_a_group_released_before_an_update_starts_stays_released(world):
    group = world.create()
    put(world, group, revised())
    world.lifecycle.release(group.uuid)
    world.planner.perform(take(world, group))
    record = assert_settled(world, group, 2)
    assert (record.status, record.reasons) == ('released', ())
    assert set(world.states(group).values()) == {'released'}
    assert world.vcpus_used() == 0


def test_members_released_between_two_attempts_stay_released(world):
    group = world.create()
    put(world, group, with_cache())
    deaf = Silent(world.holds, 'put', 'drop')
    with pytest.raises(errors.HoldsNotDropped):
        world.planner_with(world.table, deaf).perform(take(world, group))
    world.lifecycle.release(group.uuid, ['db/node-1'])
    world.planner.perform(take(world, group))
    assert_settled(world, group, 2)
    assert world.states(group) == {
        'web': 'planned', 'cache': 'planned',
        'db/node-0': 'planned', 'db/node-1': 'released'}


def test_an_update_renews_a_lease_that_expired_before_it_started(world):
    """All engines may have been unavailable."""
    group = world.create()
    put(world, group, with_cache())
    world.wait(4000)
    assert world.lifecycle.expire() == []
    world.planner.perform(take(world, group))
    record = assert_settled(world, group, 2)
    assert set(world.states(group).values()) == {'planned'}
    assert record.lease_expires_at > world.now
    world.assert_agreement()


def test_an_update_that_places_nothing_does_not_renew_the_lease(world):
    group = world.create()
    put(world, group, revised() | {'name': 'renamed'})
    world.wait(4000)
    world.planner.perform(take(world, group))
    assert world.lifecycle.expire() == [group.uuid]
    assert set(world.states(group).values()) == {'released'}
    assert world.vcpus_used() == 0


def test_an_update_plans_members_released_before_its_request(world):
    group = world.create()
    world.lifecycle.release(group.uuid)
    put(world, group, revised())
    world.planner.perform(take(world, group))
    assert set(world.states(group).values()) == {'planned'}
    world.assert_agreement()


def test_an_update_plans_members_of_a_group_in_error(world):
    """The group has no plan before its members are released."""
    group = world.create()
    builders.force_status(world.table, group.uuid, 'error')
    put(world, group, revised())
    world.table.release(
        [m.hold for m in world.table.members(group.uuid)], world.now)
    world.planner.perform(take(world, group))
    assert set(world.states(group).values()) == {'planned'}


def test_a_replaced_engine_takes_no_capacity_of_its_successor(world):
    """Its successor has given the capacity of the group's members to
    others."""
    group = world.create()
    fill(world)
    document = revised() | {'members': [{'name': 'front',
                                         'resources': SMALL}]}

    class Slow:
        """An engine that is replaced after it has exchanged the capacity."""

        def exchange(self, *words):
            world.holds.exchange(*words)
            with pytest.raises(errors.HoldsNotDropped):
                world.planner_with(world.table, Successor()).perform(
                    take(world, group))
            raise HoldsError('timed out')

        def __getattr__(self, name):
            return getattr(world.holds, name)

    class Successor:
        """Takes the capacity back. The response to its own exchange is
        lost."""

        def __init__(self):
            self._left = 2

        def exchange(self, *words):
            world.holds.exchange(*words)
            self._left -= 1
            self.must_hear()

        def must_hear(self):
            if self._left == 0:
                raise HoldsError('timed out')

        def __getattr__(self, name):
            self.must_hear()
            return getattr(world.holds, name)

    ask(world, group, document)
    with pytest.raises(errors.OwnershipLost):
        world.planner_with(world.table, Slow()).perform(take(world, group))
    with pytest.raises(ClaimRefused):
        world.claim(group, 'web')
    world.planner.perform(take(world, group))
    assert_settled(world, group, 2)
    assert held(world, group) == 3


def test_an_update_succeeds_if_the_final_check_cannot_read_hosts(world):
    """The inventory does not respond after the group is revised."""
    alone = {'name': 'alone', 'policies': [{'type': 'exclusive'}],
             'members': [{'name': 'node', 'count': 2, 'resources': SMALL}]}
    group = world.create({'group': alone})
    more = alone | {'members': [
        {'name': 'node', 'count': 3, 'resources': SMALL}]}

    def away(_number):
        if world.table.get_group(group.uuid).revision == 2:
            raise HoldsError('no answer')

    world.inventory.stale = away
    ask(world, group, more)
    world.planner.perform(take(world, group))
    assert assert_settled(world, group, 2).reasons == ()
    assert held(world, group) == 3
