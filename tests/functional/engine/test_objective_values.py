# SPDX-License-Identifier: Apache-2.0
"""Each plan writes its value, its bound and its gap to its group.

Each host of the cloud has capacity for two members, so every plan of three
members uses at least two hosts.
"""

from tests.functional.engine.member_losses import lose
from tests.functional.engine.updates import hosts, revised, update
from tests.functional.engine.world import SMALL

EXTRA = [{'name': 'web', 'resources': SMALL},
         {'name': 'cache', 'resources': SMALL}]


def created(world):
    return world.create(objective='fewest-hosts')


def value(world, group):
    return world.table.get_group(group.uuid).objective_value


def proved(number, kept):
    """A result that proves this number of hosts as the minimum."""
    return {'name': 'fewest-hosts', 'value': number, 'bound': number,
            'gap': 0, 'kept': kept}


def test_a_new_group_has_the_value_of_its_plan(world):
    group = created(world)
    assert len(set(hosts(world, group).values())) == 2
    assert value(world, group) == proved(2, kept=0)


def test_a_group_without_a_plan_has_none(world):
    group = world.create({'group': {'name': 'giant', 'members': [
        {'name': 'node', 'resources': {'VCPU': 100}}]}})
    assert group.status == 'unplaceable'
    assert value(world, group) is None


def test_a_group_that_grows_shows_how_many_members_were_kept(world):
    group = created(world)
    update(world, group, revised() | {'members': EXTRA})
    number = len(set(hosts(world, group).values()))
    assert value(world, group) == proved(number, kept=3)


def test_a_group_that_shrinks_has_the_value_of_what_remains(world):
    group = created(world)
    update(world, group, revised(nodes=1))
    number = len(set(hosts(world, group).values()))
    assert value(world, group) == proved(number, kept=2)


def test_a_plan_that_is_kept_keeps_its_value(world):
    """A plan that keeps every member proves no bound, so the group keeps the
    earlier value."""
    group = created(world)
    update(world, group, revised() | {'name': 'store'})
    assert world.table.get_group(group.uuid).name == 'store'
    assert value(world, group) == proved(2, kept=0)


def test_an_update_without_a_plan_keeps_it_too(world):
    """An unplaceable update leaves the value of the earlier plan."""
    group = created(world)
    record = update(world, group, revised(node={'VCPU': 100}))
    assert record.reasons
    assert value(world, group) == proved(2, kept=0)


def test_another_objective_has_another_value(world):
    group = created(world)
    update(world, group, revised(), objective='network')
    found = value(world, group)
    assert (found['name'], found['kept']) == ('network', 3)


def test_a_replan_of_lost_members_writes_the_new_value(world):
    group = created(world)
    lose(world, group, 'db/node-1')
    world.planner.replan(group.uuid)
    assert world.states(group)['db/node-1'] == 'planned'
    number = len(set(hosts(world, group).values()))
    assert value(world, group) == proved(number, kept=2)
