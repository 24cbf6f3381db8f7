# SPDX-License-Identifier: Apache-2.0
"""No hold is lost because of a short outage of its host."""

import logging

from keystoneauth1 import exceptions as ks_exceptions
import pytest

from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.table.store import PlacementTable
from tests.functional.engine.world import World

RACKS = {f'{rack}{number}': rack for rack in 'abcd' for number in (1, 2)}
WHOLE = {'VCPU': 2, 'MEMORY_MB': 1024}
FOUR = {'group': {'name': 'four', 'members': [
    {'name': 'node', 'count': 4, 'resources': WHOLE}]}}


@pytest.fixture
def world(tmp_path):
    """Eight hosts, each with capacity for one member."""
    with World(tmp_path, RACKS) as world:
        yield world


@pytest.fixture
def group(world):
    return world.create(FOUR, lease=0)


def hosts(world, group):
    return {row.place.host for row in world.table.members(group.uuid)}


def states(world, group):
    return set(world.states(group).values())


def reconcile(world):
    """A pass that does not plan lost members again."""
    world.conf.set_override('replans', 0, group='reconciler')
    return world.reconciler.reconcile()


def other_engine(world):
    """A new reconciler with its own connection."""
    table = PlacementTable(world.table_url)
    return table, Reconciler(world.components(table=table))


def assert_full(world, hosts):
    """No other server gets capacity on any of the hosts."""
    for host in hosts:
        with pytest.raises(ks_exceptions.Conflict):
            world.placement.allocate(world.hosts[host], {'VCPU': 1})


@pytest.mark.parametrize('kind', ['down', 'gone'])
def test_an_outage_of_half_of_the_hosts_for_one_pass_drops_no_hold(
        world, group, kind):
    away = hosts(world, group)
    setattr(world.inventory, kind, away)
    assert world.reconciler.reconcile() == {}
    assert_full(world, away)
    for host in RACKS.keys() - away:
        world.placement.allocate(world.hosts[host], {'VCPU': 2})
    setattr(world.inventory, kind, set())
    assert world.reconciler.reconcile() == {}
    assert states(world, group) == {'planned'}
    assert hosts(world, group) == away
    for number in range(4):
        world.build(group, f'node-{number}')


def test_a_hold_is_kept_until_the_grace_period_ends(world, group):
    away = sorted(hosts(world, group))[0]
    world.inventory.down = {away}
    assert reconcile(world) == {}
    world.wait(world.conf.reconciler.host_grace - 1)
    assert reconcile(world) == {}
    assert_full(world, [away])
    world.wait(1)
    assert reconcile(world) == {'stranded': 1}
    assert sorted(world.states(group).values()) == [
        'lost', 'planned', 'planned', 'planned']


def test_the_grace_period_begins_when_any_engine_sees_the_outage(
        world, group):
    world.inventory.down = {sorted(hosts(world, group))[0]}
    table, first = other_engine(world)
    assert first.reconcile() == {}
    table.database.close()
    world.wait(world.conf.reconciler.host_grace)
    assert reconcile(world) == {'stranded': 1}


def test_the_grace_period_begins_again_after_the_host_was_available(
        world, group):
    away = {sorted(hosts(world, group))[0]}
    grace = world.conf.reconciler.host_grace
    for seconds in (grace - 1, 1, grace - 1):
        world.inventory.down = away
        assert reconcile(world) == {}
        world.wait(seconds)
        world.inventory.down = set()
        assert reconcile(world) == {}
    world.inventory.down = away
    assert reconcile(world) == {}
    world.wait(grace)
    assert reconcile(world) == {'stranded': 1}


def test_an_earlier_outage_does_not_count_against_new_members(world, group):
    away = hosts(world, group)
    world.inventory.down = away
    assert reconcile(world) == {}
    world.lifecycle.delete(group.uuid)
    world.inventory.down = set()
    assert reconcile(world) == {}
    world.wait(world.conf.reconciler.host_grace)
    again = world.create(FOUR, lease=0)
    world.inventory.down = {sorted(hosts(world, again))[0]}
    assert reconcile(world) == {}


def test_without_a_grace_period_one_pass_is_enough(world, group):
    world.conf.set_override('host_grace', 0, group='reconciler')
    world.inventory.down = {sorted(hosts(world, group))[0]}
    assert reconcile(world) == {'stranded': 1}


@pytest.mark.parametrize('kind', ['down', 'gone'])
def test_too_many_hosts_are_not_given_up_and_an_error_is_logged(
        world, group, caplog, kind):
    away = hosts(world, group)
    setattr(world.inventory, kind, away)
    world.wait_out_host_grace()
    with caplog.at_level(logging.ERROR):
        assert reconcile(world) == {}
    (shown,) = [record.getMessage() for record in caplog.records
                if record.levelno == logging.ERROR]
    assert '4 of 8 hosts' in shown and 'only 25 %' in shown
    assert all(host in shown for host in away)
    assert_full(world, away)
    assert states(world, group) == {'planned'}


@pytest.mark.parametrize('number, percent, expected', [
    (2, 25, 2), (2, 24, 0), (4, 50, 4), (4, 49, 0), (1, 0, 1)])
def test_the_share_of_hosts_that_are_given_up_is_limited(
        world, group, number, percent, expected):
    world.conf.set_override('host_percent', percent, group='reconciler')
    world.inventory.down = set(sorted(hosts(world, group))[:number])
    world.wait_out_host_grace()
    assert reconcile(world).get('stranded', 0) == expected


def test_hosts_that_were_given_up_before_do_not_count(world, group):
    first, second, third, fourth = sorted(hosts(world, group))
    world.inventory.down = {first, second}
    world.wait_out_host_grace()
    assert reconcile(world) == {'stranded': 2}
    world.inventory.down = {first, second, third, fourth}
    world.wait_out_host_grace()
    assert reconcile(world) == {'stranded': 2}


def test_a_group_can_be_replanned_while_a_host_is_gone(world, group):
    """A member on the missing host keeps its place."""
    first, second = world.table.members(group.uuid)[:2]
    world.inventory.down = {second.place.host}
    world.wait_out_host_grace()
    world.inventory.gone = {first.place.host}
    assert reconcile(world) == {'stranded': 1}
    assert world.planner.replan(group.uuid).reasons == ()
    assert states(world, group) == {'planned'}
    assert world.table.members(group.uuid)[0].place == first.place
