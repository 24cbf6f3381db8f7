# SPDX-License-Identifier: Apache-2.0
"""Holds in Placement that no row knows are found and given back."""

from dataclasses import replace
import uuid

import pytest

from nova_holistic.engine.errors import TurnLost
from nova_holistic.engine import journal
from nova_holistic.engine.orphans import Orphans
from nova_holistic.holds.client import HoldClient
from nova_holistic.table.records import GroupStatus, Task
from tests.functional.engine.mortal import Death
from tests.functional.engine.test_performer import ask, take
from tests.functional.engine.world import shop


class Counted:
    """Placement's adapter; counts requests, and tells of each before it is
    made."""

    def __init__(self, adapter):
        self._adapter = adapter
        self.made = []
        self.before = lambda path, method: None

    def request(self, path, method, **kwargs):
        self.before(path, method)
        self.made.append((method, path))
        return self._adapter.request(path, method, **kwargs)


@pytest.fixture
def wire(world):
    return Counted(world.placement.adapter)


@pytest.fixture
def orphans(world, wire):
    return Orphans(world.conf, world.table, HoldClient(wire), world.clock)


def rowless(world):
    """A hold that no row knows; its consumer's UUID."""
    group = world.create(shop(1), lease=0)
    row = replace(world.table.members(group.uuid)[0], hold=str(uuid.uuid4()))
    world.lifecycle.delete(group.uuid)
    world.holds.put([row], 'blue', 'ann')
    return row.hold


def test_what_an_engine_left_that_was_overtaken_and_then_died(world):
    group = ask(world, shop(1))

    class Slow:
        """A put is on the way, while another engine takes this one for dead
        and plans the group."""

        def put(self, *args):
            world.wait(601)
            world.planner.perform(take(world, group, 'two'))
            world.holds.put(*args)
            raise Death

        def drop(self, holds, *args):
            if holds:
                raise Death

    first = take(world, group, 'one')
    with pytest.raises((Death, TurnLost)):
        world.planner_with(world.table, Slow()).perform(first)
    world.table.update_group(group, [GroupStatus.PLANNED],
                             lease_expires_at=None)
    assert world.vcpus_used() == 4
    world.mend()
    assert world.vcpus_used() == 2
    world.assert_agreement()


def test_a_hold_is_dropped_once_it_was_seen_for_the_grace(world):
    hold = rowless(world)
    assert world.reconciler.reconcile() == {}
    world.wait(world.conf.reconciler.grace - 1)
    assert world.reconciler.reconcile() == {}
    assert world.holds.exists(hold)
    world.wait(1)
    assert world.reconciler.reconcile() == {'orphaned': 1}
    assert world.holds.exists(hold) is None
    assert world.reconciler.reconcile() == {}


def test_others_are_left_alone(world):
    """Servers that Nova placed, and members planned, claimed and built."""
    stranger = world.placement.allocate(world.hosts['b2'], {'VCPU': 1})
    group = world.create(lease=0)
    world.build(group, 'web')
    claimed = world.claim(group, 'db/node')
    world.instances.set(claimed.instance_uuid, 'BUILD')
    before = world.vcpus_used()
    world.mend()
    assert world.holds.exists(stranger)
    assert world.holds.exists(claimed.hold)
    assert world.vcpus_used() == before


def test_what_an_update_notes_is_left_to_whoever_finishes_it(world, orphans):
    hold = rowless(world)
    group = world.create(shop(1), lease=0)
    world.table.tasks.ask(group.uuid, Task.UPDATING, {'put': [hold]},
                          [GroupStatus.PLANNED], None, world.now)
    assert hold in journal.all_holds(world.table.get_group(
        group.uuid).pending)
    for _ in range(3):
        assert orphans.sweep() == 0
        world.wait_out_grace()
    assert list(orphans.audit()) == []
    assert world.holds.exists(hold)


def test_a_hold_that_changes_in_that_moment_is_not_dropped(
        world, wire, orphans):
    hold = rowless(world)
    found = world.holds.exists(hold)

    def changed(path, method):
        if method == 'POST':
            wire.before = lambda *_: None
            world.placement.adapter.put(
                f'/allocations/{hold}', json=found, microversion='1.38')

    orphans.sweep()
    world.wait_out_grace()
    wire.before = changed
    assert orphans.sweep() == 0
    assert world.holds.exists(hold)['allocations'].keys() == (
        found['allocations'].keys())


def test_a_hold_whose_row_comes_back_is_not_dropped(world, orphans):
    """The database was away for a while, and an older one in its place."""
    group = world.create(shop(1), lease=0)
    members = world.table.members(group.uuid)
    world.table.delete_group(group.uuid)
    orphans.sweep()
    world.table.create_group(group)
    world.table.write_members(group.uuid, members)
    world.wait_out_grace()
    assert orphans.sweep() == 0
    world.assert_agreement()


@pytest.mark.parametrize('most', [1, 4, 7])
def test_a_pass_asks_placement_no_more_than_it_may(
        world, wire, orphans, most):
    for name in world.hosts:
        for _ in range(2):
            world.placement.allocate(world.hosts[name], {'VCPU': 1})
    world.conf.set_override('scan_requests', most, group='reconciler')
    looked, passes = set(), 0
    while len(looked) < 8 and passes < 50:
        wire.made.clear()
        orphans.sweep()
        passes += 1
        # To get on at all it takes one for the list of hosts, one for who is
        # on a host, and one to look at somebody there.
        assert len(wire.made) <= max(most, 3)
        looked |= {path for _, path in wire.made
                   if path.startswith('/allocations/')}
    assert len(looked) == 8


def test_strangers_are_asked_about_once(world, wire, orphans):
    for _ in range(2):
        world.placement.allocate(world.hosts['a1'], {'VCPU': 1})
    orphans.sweep()
    assert sum('/allocations/' in path for _, path in wire.made) == 2
    wire.made.clear()
    world.placement.allocate(world.hosts['a2'], {'VCPU': 1})
    orphans.sweep()
    assert sum('/allocations/' in path for _, path in wire.made) == 1
    # One for the list of hosts, and one for each of them.
    assert len(wire.made) == 1 + 1 + len(world.hosts)


def test_looking_can_be_switched_off(world, wire, orphans):
    rowless(world)
    world.conf.set_override('scan_requests', 0, group='reconciler')
    assert orphans.sweep() == 0
    assert wire.made == []


def test_an_operator_finds_them_and_drops_them_at_once(run, world):
    hold = rowless(world)
    kept = world.create(shop(1), lease=0)
    code, output, _ = run('hold', 'audit', placement=world.endpoint)
    (line,) = output.splitlines()
    assert code == 1
    assert line.startswith(f'{hold} of project blue on ')
    assert line.endswith(': MEMORY_MB 512, VCPU 1')
    assert world.holds.exists(hold)
    code, output, _ = run('hold', 'audit', '--delete',
                          placement=world.endpoint)
    assert (code, output) == (0, f'{line}, dropped\n')
    assert world.holds.exists(hold) is None
    assert run('hold', 'audit', placement=world.endpoint)[:2] == (0, '')
    assert world.vcpus_used() == len(world.table.members(kept.uuid))
    world.assert_agreement()
