# SPDX-License-Identifier: Apache-2.0
"""Holds in Placement without a row are found and dropped."""

from dataclasses import replace
import uuid

import pytest

from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.engine.tasks import journal
from nova_holistic.holds.client import HoldClient
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.reconcile.orphan_holds import OrphanHolds
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from tests.functional.engine.process_death import ProcessKilled
from tests.functional.engine.test_performer import ask, take
from tests.functional.engine.world import shop


class Counted:
    """Placement's adapter. It records requests, and calls a function before
    each."""

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


class Orphans(OrphanHolds):
    """Reads the list of providers before each sweep, as a pass does."""

    def sweep(self):
        return super().sweep(
            self._holds.providers() if self._conf.reconciler.scan_requests
            else None)


@pytest.fixture
def orphans(world, wire):
    return Orphans(world.conf, world.table, HoldClient(wire), world.clock)


def rowless(world):
    """Create a hold without a row; returns the UUID of its consumer."""
    return rowless_all(world, 1)[0]


def rowless_all(world, count, **wanted):
    """Create several holds without rows on hosts with enough capacity.

    :param wanted: amounts by resource class; empty means those of a member
    """
    group = world.create(shop(1), lease=0)
    row = world.table.members(group.uuid)[0]
    world.lifecycle.delete(group.uuid)
    return rowless_beside(world, row, count, **wanted)


def rowless_beside(world, row, count, **wanted):
    """Create holds without rows on the host of a member."""
    if wanted:
        row = replace(row, member=replace(row.member, requirements=(
            Requirements(resources=FrozenMapping(wanted)))))
    rows = [replace(row, hold=str(uuid.uuid4())) for _ in range(count)]
    world.holds.put(rows, 'blue', 'ann')
    world.placement.other_servers.update(row.hold for row in rows)
    return [row.hold for row in rows]


def orphans_of(world):
    return list(OrphanHolds(
        world.conf, world.table, world.holds, world.clock).audit())


def errors(caplog):
    return [record.getMessage() for record in caplog.records
            if record.levelname == 'ERROR']


def test_the_hold_of_a_replaced_engine_that_died_is_dropped(world):
    group = ask(world, shop(1))

    class Slow:
        """A request is in progress while another engine considers this one
        failed and plans the group."""

        def put(self, *args):
            world.wait(601)
            world.planner.perform(take(world, group, 'two'))
            world.holds.put(*args)
            raise ProcessKilled

        def drop(self, holds, *args):
            if holds:
                raise ProcessKilled

    first = take(world, group, 'one')
    with pytest.raises((ProcessKilled, OwnershipLost)):
        world.planner_with(world.table, Slow()).perform(first)
    world.table.update_group(group, [GroupStatus.PLANNED],
                             lease_expires_at=None)
    assert world.vcpus_used() == 4
    world.reconcile_members()
    assert world.vcpus_used() == 2
    world.assert_agreement()


def test_an_orphaned_hold_is_dropped_after_the_grace_period(world):
    hold = rowless(world)
    world.create(lease=0)
    assert world.reconciler.reconcile() == {}
    world.wait(world.conf.reconciler.grace - 1)
    assert world.reconciler.reconcile() == {}
    assert world.holds.exists(hold)
    world.wait(1)
    assert world.reconciler.reconcile() == {'orphaned': 1}
    assert world.holds.exists(hold) is None
    assert world.reconciler.reconcile() == {}


def test_allocations_that_are_no_orphans_are_kept(world):
    """Servers that Nova placed, and planned, claimed and built members."""
    other_server = world.placement.allocate(world.hosts['b2'], {'VCPU': 1})
    group = world.create(lease=0)
    world.build(group, 'web')
    claimed = world.claim(group, 'db/node')
    world.instances.set(claimed.instance_uuid, 'BUILD')
    before = world.vcpus_used()
    world.reconcile_members()
    assert world.holds.exists(other_server)
    assert world.holds.exists(claimed.hold)
    assert world.vcpus_used() == before


def test_a_hold_in_the_journal_of_an_update_is_kept(world, orphans):
    hold = rowless(world)
    group = world.create(shop(1), lease=0)
    world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'put': [hold]}, [GroupStatus.PLANNED]), world.now)
    assert hold in journal.all_holds(world.table.get_group(
        group.uuid).pending)
    for _ in range(3):
        assert orphans.sweep() == 0
        world.wait_out_grace()
    assert list(orphans.audit()) == []
    assert world.holds.exists(hold)


def test_a_hold_that_changes_before_the_drop_is_kept(
        world, wire, orphans):
    hold = rowless(world)
    world.create(lease=0)
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


def test_a_hold_whose_row_reappears_is_kept(world, orphans):
    """The database was unavailable for a while, and an older copy replaced
    it."""
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
def test_a_pass_sends_at_most_the_configured_requests(
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
        # A pass needs at least one request for the list of hosts, one for the
        # consumers of a host, and one for a consumer.
        assert len(wire.made) <= max(most, 3)
        looked |= {path for _, path in wire.made
                   if path.startswith('/allocations/')}
    assert len(looked) == 8


def test_a_foreign_consumer_is_read_once(world, wire, orphans):
    for _ in range(2):
        world.placement.allocate(world.hosts['a1'], {'VCPU': 1})
    orphans.sweep()
    assert sum('/allocations/' in path for _, path in wire.made) == 2
    wire.made.clear()
    world.placement.allocate(world.hosts['a2'], {'VCPU': 1})
    orphans.sweep()
    assert sum('/allocations/' in path for _, path in wire.made) == 1
    # One request reads the list of hosts, and one reads each host.
    assert len(wire.made) == 1 + 1 + len(world.hosts)


def test_the_search_for_orphans_can_be_disabled(world, wire, orphans):
    rowless(world)
    world.conf.set_override('scan_requests', 0, group='reconciler')
    assert orphans.sweep() == 0
    assert wire.made == []


def test_an_engine_on_an_empty_table_drops_nothing(world, orphans, caplog):
    holds = rowless_all(world, 3, MEMORY_MB=1)
    for _ in range(3):
        caplog.clear()
        assert orphans.sweep() == 0
        (shown,) = errors(caplog)
        assert shown.startswith('3 holds in Placement have no row')
        assert 'nova-holistic-manage hold audit' in shown
        assert '[holistic_database] connection' in shown
        world.wait_out_grace()
    assert all(map(world.holds.exists, holds))


@pytest.mark.leaves('holds of a group whose rows are deleted')
def test_an_engine_whose_table_was_emptied_drops_nothing(world, orphans):
    """A check of the cloud takes many passes. The table is emptied between two
    of them."""
    hold = rowless(world)
    group = world.create(lease=0)
    orphans.sweep()
    world.wait_out_grace()
    world.table.delete_group(group.uuid)
    world.conf.set_override('scan_requests', 3, group='reconciler')
    assert orphans.sweep() == 0
    assert world.holds.exists(hold)


@pytest.mark.leaves('a group of another cloud, without its holds')
def test_an_engine_drops_nothing_with_a_foreign_table(world, orphans, caplog):
    """The table has groups of another cloud."""
    holds = rowless_all(world, 2, MEMORY_MB=1)
    group = world.create(shop(1), lease=0)
    world.holds.drop([m.hold for m in world.table.members(group.uuid)])
    for _ in range(2):
        assert orphans.sweep() == 0
        world.wait_out_grace()
    assert len(errors(caplog)) == 2
    assert all(map(world.holds.exists, holds))


@pytest.mark.parametrize('count, percent, dropped', [
    (1, 50, 1), (5, 50, 5), (6, 50, 0), (6, 75, 6), (7, 75, 0), (7, 100, 7)])
def test_no_hold_is_dropped_above_the_orphan_percentage(
        world, orphans, caplog, count, percent, dropped):
    """The percentage refers to all holds, including the two holds of a
    group."""
    world.conf.set_override('orphan_percent', percent, group='reconciler')
    rowless_all(world, count, MEMORY_MB=1)
    world.create(shop(1), lease=0)
    orphans.sweep()
    world.wait_out_grace()
    caplog.clear()
    assert orphans.sweep() == dropped
    assert bool(errors(caplog)) == (not dropped)
    assert len(orphans_of(world)) == count - dropped
    assert world.vcpus_used() == 2


def test_no_hold_is_dropped_before_all_consumers_were_read(
        world, wire, orphans):
    """The share of orphans is not known before that."""
    group = world.create(shop(1), lease=0)
    rowless_beside(
        world, world.table.members(group.uuid)[0], 8, MEMORY_MB=1)
    world.conf.set_override('grace', 0, group='reconciler')
    world.conf.set_override('scan_requests', 3, group='reconciler')
    for _ in range(40):
        assert orphans.sweep() == 0
    assert len(orphans_of(world)) == 8


def test_orphans_dropped_by_others_are_not_counted(world, orphans, caplog):
    hold, *others = rowless_all(world, 8, MEMORY_MB=1)
    world.create(shop(1), lease=0)
    orphans.sweep()
    assert errors(caplog)
    world.holds.drop(others)
    orphans.sweep()
    world.wait_out_grace()
    assert orphans.sweep() == 1
    assert world.holds.exists(hold) is None


def test_the_hold_audit_command_lists_and_drops_orphans(run, world):
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


def test_a_hold_on_several_providers_is_reported_once(world, wire, orphans):
    """For example, a member with shared storage has such a hold."""
    hold = str(uuid.uuid4())
    world.placement.other_servers.add(hold)
    answer = world.placement.adapter.put(
        f'/allocations/{hold}', microversion='1.38', json={
            'allocations': {world.hosts[name]: {'resources': {'VCPU': 1}}
                            for name in ('a1', 'b1')},
            'project_id': 'blue', 'user_id': 'ann',
            'consumer_generation': None, 'consumer_type': 'HOLISTIC_HOLD'})
    assert answer.status_code == 204
    (orphan,) = orphans.audit()
    assert len(orphan.resources) == 2
    assert sum('/allocations/' in path for _, path in wire.made) == 1
