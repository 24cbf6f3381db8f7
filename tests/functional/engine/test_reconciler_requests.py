# SPDX-License-Identifier: Apache-2.0
"""The number of requests for servers in a pass, and what it learns from
them."""

from dataclasses import replace

import pytest

from nova_holistic.reconcile.instances import FEW, NovaInstances
from nova_holistic.reconcile.observed_servers import MAX_AGE, OVERLAP
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.table.records import GroupStatus, MemberState, Place
from tests.functional.engine.world import shop
from tests.unit.reconcile.nova import CHANGES, Nova
from tests.unit.table import builders

built_rows_alone = pytest.mark.leaves('built rows without their servers')
LOOSE = {'name': 'shop', 'groups': [{'name': 'db', 'members': [
    {'name': 'node', 'count': 20, 'resources': {'VCPU': 1}}]}]}
"""Its members may all be on one host."""
PLACE = Place('a1', 'a1', 'provider', ('a',))


@pytest.fixture
def nova(world):
    return Nova(world.clock)


@pytest.fixture
def engine(world, nova):
    """A reconciler that uses this Nova."""
    return Reconciler(world.components(
        instances=NovaInstances(nova.adapter)))


def built(world, nova, groups, size, project='blue'):
    """Build groups of the given size whose leases have expired; return the
    UUIDs of their servers."""
    made = []
    for _ in range(groups):
        group = builders.a_group(
            GroupStatus.COMPLETE, document=LOOSE, created_at=world.now,
            project_id=project, lease_expires_at=world.now)
        rows = [replace(row, place=PLACE, state=MemberState.BUILT, held=False,
                        instance_uuid=builders.new_uuid())
                for row in builders.members_of(group, {'node': size})]
        world.table.create_group(group)
        world.table.write_members(group.uuid, rows)
        made.extend(row.instance_uuid for row in rows)
    for uuid in made:
        nova.set(uuid, project=project)
    return made


def quiet(world, nova, engine):
    """Run two passes, so that later passes do not read earlier changes
    again."""
    engine.reconcile()
    world.wait(OVERLAP.total_seconds() + 1)
    engine.reconcile()
    nova.requests()


@built_rows_alone
def test_servers_of_a_project_are_read_from_one_list(world, nova, engine):
    built(world, nova, 60, 20)
    assert engine.reconcile() == {}
    assert nova.requests() == 2
    quiet(world, nova, engine)
    engine.reconcile()
    # Nothing has changed.
    assert nova.requests() == 1


@built_rows_alone
def test_each_project_uses_the_cheaper_kind_of_request(world, nova, engine):
    for number in range(5):
        built(world, nova, 1, 2, f'few-{number}')
        built(world, nova, 5, 2, f'more-{number}')
    engine.reconcile()
    assert nova.requests() == 5 * 2 + 5


@built_rows_alone
def test_few_members_in_a_large_project_cost_few_requests(world, nova, engine):
    members = built(world, nova, 1, FEW + 1)
    for _ in range(12_000):
        nova.set(builders.new_uuid())
    engine.reconcile()
    # The pass reads one page per member of the 13 pages, and then each server.
    assert nova.requests() == 2 * len(members)
    # All those servers are new, so the pass reads at most one page per member.
    engine.reconcile()
    assert nova.requests() <= 3 * len(members)


@built_rows_alone
def test_changed_servers_are_found_in_one_list(world, nova, engine):
    moved, gone, *rest = built(world, nova, 40, 5)
    quiet(world, nova, engine)
    nova.set(moved, 'b2')
    nova.delete(gone)
    nova.set(builders.new_uuid(), project='red')
    assert engine.reconcile() == {'moved': 1, 'gone': 1}
    # The pass reads the list and its last page, each of the two servers, and
    # another list, because one server is missing.
    assert nova.requests() == 5
    quiet(world, nova, engine)
    assert engine.reconcile() == {}
    assert nova.requests() == 1


@built_rows_alone
def test_a_server_missing_from_a_list_is_not_deleted(world, nova, engine):
    members = built(world, nova, 1, FEW + 1)
    nova.unlisted.add(members[0])
    assert engine.reconcile() == {}
    quiet(world, nova, engine)
    nova.delete(members[0])
    # The list does not show the deletion either.
    assert engine.reconcile() == {}
    world.wait(MAX_AGE.total_seconds())
    assert engine.reconcile() == {'gone': 1}


@built_rows_alone
def test_a_pass_does_not_act_on_an_outdated_view(world, nova, engine):
    (uuid,) = built(world, nova, 1, 1)
    quiet(world, nova, engine)
    # The scheduler writes the move, and no list shows it.
    nova.unlisted.add(uuid)
    nova.set(uuid, 'b2')
    (row,) = world.table.members(world.table.list_groups()[0].uuid)
    world.table.change_state(
        row.id, [MemberState.BUILT], MemberState.BUILT, world.now,
        place=replace(PLACE, host='b2'))
    assert engine.reconcile() == {}


def test_an_error_for_one_server_does_not_affect_others(
        world, nova, engine):
    broken, gone = built(world, nova, 1, 2)
    nova.broken.add(broken)
    nova.delete(gone)
    assert engine.reconcile() == {'gone': 1}
    nova.delete(broken)
    nova.broken.clear()
    assert engine.reconcile() == {'gone': 1}


def test_changes_are_handled_if_the_list_of_changes_fails(world, nova, engine):
    (gone,) = built(world, nova, 1, 1)
    quiet(world, nova, engine)
    nova.broken.add(CHANGES)
    nova.delete(gone)
    group = world.create(shop(1))
    row = world.claim(group, 'web')
    world.swap(row)
    nova.set(row.instance_uuid, row.place.host)
    assert engine.reconcile() == {'built': 1}
    world.wait(2 * OVERLAP.total_seconds())
    nova.broken.clear()
    assert engine.reconcile() == {'gone': 1}


def test_the_server_of_a_claim_is_read_in_each_pass(world, nova, engine):
    group = world.create(shop(1))
    row = world.claim(group, 'web')
    world.swap(row)
    nova.set(row.instance_uuid, row.place.host, 'BUILD')
    quiet(world, nova, engine)
    nova.unlisted.add(row.instance_uuid)
    nova.set(row.instance_uuid, row.place.host)
    assert engine.reconcile() == {'built': 1}
