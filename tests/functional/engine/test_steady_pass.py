# SPDX-License-Identifier: Apache-2.0
"""The requests of a pass to Placement depend on the changes, not on the size
of the cloud."""

from dataclasses import replace

import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import HoldsError
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.table.records import GroupStatus, Place
from tests.functional.engine.test_orphans import Counted, rowless_beside
from tests.functional.engine.world import World
from tests.unit.table import builders

ONE = Requirements(resources=FrozenMapping({'VCPU': 1}))
DOCUMENT = {'name': 'shop', 'members': [
    {'name': 'web', 'resources': {'VCPU': 1}}]}
FEW, MANY = 30, 60
"""Numbers of hosts; both are larger than ``recheck_requests``."""


@pytest.fixture
def world(tmp_path):
    with World(tmp_path, {f'h{number:02}': f'r{number % 3}'
                          for number in range(MANY)}, vcpus=8) as world:
        yield world


@pytest.fixture
def wire(world):
    """The requests of the reconciler to Placement. The snapshot sends none,
    because the inventory of the tests reads the database."""
    return Counted(world.placement.adapter)


@pytest.fixture
def engine(world, wire):
    return Reconciler(world.components(holds=HoldClient(wire)))


def plan(world, names):
    """One group with one planned and held member on each of these hosts."""
    held = []
    for name in names:
        group = builders.a_group(
            GroupStatus.PLANNED, document=DOCUMENT, created_at=world.now)
        (row,) = builders.members_of(group, {'web': None})
        row = replace(
            row, place=Place(name, name, world.hosts[name], ('r',)),
            member=replace(row.member, requirements=ONE))
        world.table.create_group(group)
        world.table.write_members(group.uuid, [row])
        held.append(row)
    world.holds.put(held, 'blue', 'ann')
    return held


def requests(engine, wire, expected=()):
    """The number of requests of one pass. Asserts the corrections of the
    pass."""
    wire.made.clear()
    assert engine.reconcile() == dict(expected)
    return len(wire.made)


def test_a_steady_pass_sends_the_same_requests_at_30_and_60_hosts(
        world, wire, engine):
    steady = []
    names = sorted(world.hosts)
    for chosen in names[:FEW], names[FEW:]:
        plan(world, chosen)
        # The first pass checks all providers.
        requests(engine, wire)
        steady.append(requests(engine, wire))
    assert steady[0] == steady[1] == (
        1 + 2 * world.conf.reconciler.recheck_requests)
    world.conf.set_override('recheck_requests', 0, group='reconciler')
    assert requests(engine, wire) == 1
    # The pass checks a changed host twice, with one request each time.
    world.placement.allocate(world.hosts[names[0]], {'VCPU': 1})
    assert requests(engine, wire) == 1 + 2 + 1
    assert requests(engine, wire) == 1


def test_one_pass_finds_holds_that_were_deleted(world, wire, engine):
    world.conf.set_override('recheck_requests', 0, group='reconciler')
    held = plan(world, world.hosts)
    requests(engine, wire)
    first, second = held[7], held[-1]
    # A deletion does not change the generation of the provider.
    world.holds.drop([first.hold])
    # The usage does not change here, but the generation does.
    world.holds.drop([second.hold])
    world.placement.allocate(second.place.provider, {'VCPU': 1})
    requests(engine, wire, {'vanished': 2})
    assert world.holds.exists(first.hold) and world.holds.exists(second.hold)
    requests(engine, wire)
    assert requests(engine, wire) == 1


def test_a_hold_that_could_not_be_restored_is_restored_by_the_next_pass(
        world, wire, engine, monkeypatch):
    world.conf.set_override('recheck_requests', 0, group='reconciler')
    held = plan(world, world.hosts)
    requests(engine, wire)
    world.holds.drop([held[7].hold])

    def unavailable(*arguments):
        raise HoldsError('no answer')

    frozen = world.inventory.snapshot()
    monkeypatch.setattr(world.inventory, 'snapshot', lambda: frozen)
    with monkeypatch.context() as patch:
        patch.setattr(HoldClient, 'put', unavailable)
        requests(engine, wire)
    requests(engine, wire, {'vanished': 1})
    assert world.holds.exists(held[7].hold)


def test_a_deleted_hold_that_no_signal_shows_is_found_by_rechecks(
        world, wire, engine):
    """This applies to an inventory that does not read the usage from
    Placement."""
    held = plan(world, world.hosts)
    frozen = world.inventory.snapshot()
    world.inventory.snapshot = lambda: frozen
    requests(engine, wire)
    world.holds.drop([held[0].hold])
    rounds = -(-MANY // world.conf.reconciler.recheck_requests)
    found = [engine.reconcile() for _ in range(rounds)]
    assert sorted(found, key=len) == [{}] * (rounds - 1) + [{'vanished': 1}]


def test_a_pass_without_a_snapshot_looks_at_what_has_changed(
        world, wire, engine, monkeypatch):
    world.conf.set_override('recheck_requests', 0, group='reconciler')
    plan(world, world.hosts)
    requests(engine, wire)

    def unavailable():
        raise ServiceFailed('nova', '/os-hypervisors', 'no answer')

    monkeypatch.setattr(world.inventory, 'snapshot', unavailable)
    assert requests(engine, wire) == 1


def test_a_new_orphan_is_found_in_one_pass(world, wire, engine):
    world.conf.set_override('recheck_requests', 0, group='reconciler')
    held = plan(world, world.hosts)
    requests(engine, wire)
    rowless_beside(world, held[40], 1)
    requests(engine, wire)
    world.wait_out_grace()
    requests(engine, wire, {'orphaned': 1})
    world.assert_agreement()


def test_orphans_are_found_while_most_providers_change(world, wire, engine):
    """Each provider is checked in turn, although others change all the
    time."""
    world.conf.set_override('scan_requests', 8, group='reconciler')
    held = plan(world, sorted(world.hosts)[:12])
    for _ in range(20):
        engine.reconcile()
    rowless_beside(world, held[-1], 1)
    for turn in range(20):
        for row in held[:8]:
            world.placement.allocate(row.place.provider, {'MEMORY_MB': 1})
        world.wait(world.conf.reconciler.grace)
        if engine.reconcile() == {'orphaned': 1}:
            break
    assert turn < 19
