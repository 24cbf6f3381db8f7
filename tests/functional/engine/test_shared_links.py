# SPDX-License-Identifier: Apache-2.0
"""All groups together use no more of an uplink than its capacity.

The two members of each pair are in different racks, and their traffic uses the
uplinks of both racks. The tests add the traffic of all members from the rows
of the table.
"""

from collections import Counter
from dataclasses import replace
import random

import pytest

from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.table.records import GroupStatus, MemberState
from tests.effort import times
from tests.functional.engine.interleaving import Interleaved
from tests.functional.engine.updates import hosts, update
from tests.functional.engine.world import SMALL, World
from tests.statements import recorded
from tests.world.inventory import RackInventory

RACKS = {f'{rack}{number}': rack for rack in 'abcd' for number in (1, 2)}
CAPACITY = 1000


class LinkedInventory(RackInventory):
    """The uplink of each rack has 1000 Mbit/s.

    :ivar linked: names of the racks with an uplink
    """

    linked = 'abcd'

    def snapshot(self):
        return replace(super().snapshot(), links=tuple(
            Link((rack,), CAPACITY) for rack in self.linked))


class LinkedWorld(World):
    """A world whose racks have uplinks."""
    inventory_type = LinkedInventory

    def loads(self):
        """Mbit/s on the uplink of each rack, by the places of all pairs."""
        found = Counter()
        for group in self.table.list_groups():
            places = {m.member.path: m.place.location[0]
                      for m in self.table.members(group.uuid)
                      if m.state in ('planned', 'claimed', 'built')}
            for rule in group.document.get('group', group.document).get(
                    'relationships', ()):
                sides = [places.get(path) for path in rule['between']]
                if rule['type'] == 'bandwidth' and None not in sides and (
                        sides[0] != sides[1]):
                    found.update({rack: rule['mbps'] for rack in sides})
        return found

    def recorded_loads(self):
        return Counter({domain.path[0]: mbps for domain, mbps
                        in self.table.links.demand_of_others(None).items()})

    def only(self, *racks):
        """Mark the hosts of all other racks as down."""
        self.inventory.down = {host for host, rack in RACKS.items()
                               if rack not in racks}

    def racks_of(self, group):
        return {RACKS[host] for host in hosts(self, group).values()}


@pytest.fixture
def world(tmp_path):
    with LinkedWorld(tmp_path, RACKS, vcpus=8) as world:
        yield world


def pair(mbps, name='pair', **more):
    """Two members in different racks."""
    return {'group': {
        'name': name, 'members': [
            {'name': 'left', 'resources': SMALL},
            {'name': 'right', 'resources': SMALL}],
        'relationships': [
            {'type': 'anti-affinity', 'between': ['left', 'right'],
             'level': 'rack'},
            {'type': 'bandwidth', 'between': ['left', 'right'],
             'level': 'rack', 'mbps': mbps}], **more}}


def test_the_second_group_gets_other_links(world):
    first, second = [world.create(pair(600)) for _ in range(2)]
    assert second.status == GroupStatus.PLANNED
    assert not world.racks_of(first) & world.racks_of(second)
    assert world.recorded_loads() == world.loads() == dict.fromkeys(
        'abcd', 600)


def test_a_group_that_exceeds_the_links_is_unplaceable(world):
    world.only('a', 'b')
    assert world.create(pair(600)).status == GroupStatus.PLANNED
    refused = world.create(pair(401))
    assert refused.status == GroupStatus.UNPLACEABLE
    assert world.create(pair(400)).status == GroupStatus.PLANNED
    assert world.recorded_loads() == world.loads() == {'a': 1000, 'b': 1000}
    assert world.create(pair(1)).status == GroupStatus.UNPLACEABLE


def test_a_plan_without_holds_counts_other_groups(world):
    world.only('a', 'b')
    world.create(pair(600))
    plan = world.planner.plan(pair(401))
    assert any('bandwidth' in reason.message for reason in plan.reasons)
    assert world.planner.plan(pair(400)).hosts()
    assert world.recorded_loads() == {'a': 600, 'b': 600}


@pytest.mark.parametrize('end', [
    lambda world, group: world.lifecycle.release(group.uuid),
    lambda world, group: world.lifecycle.delete(group.uuid),
    lambda world, group: (world.wait(10**6), world.lifecycle.expire())])
def test_a_group_that_ends_frees_the_links(world, end):
    world.only('a', 'b')
    group = world.create(pair(600), lease=60)
    end(world, group)
    assert world.create(pair(1000)).status == GroupStatus.PLANNED
    assert world.recorded_loads() == world.loads() == {'a': 1000, 'b': 1000}


def test_built_servers_use_the_links_after_the_release(world):
    world.only('a', 'b')
    group = world.create(pair(600))
    for path in 'left', 'right':
        world.build(group, path)
    world.lifecycle.release(group.uuid)
    assert world.create(pair(401)).status == GroupStatus.UNPLACEABLE
    assert world.recorded_loads() == {'a': 600, 'b': 600}


def test_a_server_that_moves_is_counted_where_it_is(world):
    world.only('a', 'b')
    group = world.create(pair(600))
    left = world.build(group, 'left')
    world.build(group, 'right')
    new = next(host for host, rack in RACKS.items() if rack == 'c')
    world.instances.set(left.instance_uuid, 'ACTIVE', new)
    world.inventory.down = set()
    world.holds.drop([left.instance_uuid])
    world.placement.allocate(
        world.hosts[new], SMALL, consumer=left.instance_uuid)
    world.reconciler.reconcile()
    assert world.loads()['c'] == 600
    assert world.recorded_loads() == world.loads()


def test_an_update_counts_its_own_traffic_once(world):
    world.only('a', 'b')
    group = world.create(pair(600))
    update(world, group, pair(900)['group'])
    assert world.recorded_loads() == {'a': 900, 'b': 900}
    record = update(world, group, pair(1001)['group'])
    assert record.reasons
    assert world.recorded_loads() == {'a': 900, 'b': 900}
    without = pair(1)['group'] | {'relationships': []}
    assert update(world, group, without).reasons == ()
    assert world.create(pair(1000)).status == GroupStatus.PLANNED
    assert world.recorded_loads() == {'a': 1000, 'b': 1000}


def test_a_preference_reserves_nothing(world):
    document = pair(600)
    document['group']['relationships'][1]['weight'] = 1
    world.create(document)
    assert world.recorded_loads() == {}


@pytest.mark.parametrize('racks, status', [
    ('ab', GroupStatus.UNPLACEABLE), ('abcd', GroupStatus.PLANNED)])
def test_two_engines_at_the_same_time_do_not_exceed_a_link(
        world, racks, status):
    """The other engine plans, holds and accepts its group after the first one
    has planned on the same links, before it holds its places."""
    world.only(*racks)
    rival = []
    slow = world.planner_with(world.table, Interleaved(
        world.holds, 'put',
        before=lambda: rival.append(world.create(pair(600, name='rival')))))
    group = slow.create(pair(600), project_id='blue', user_id='ann')
    assert rival[0].status == GroupStatus.PLANNED
    assert group.status == status
    assert world.recorded_loads() == world.loads()
    assert max(world.loads().values()) == 600
    world.assert_agreement()


def test_the_same_for_an_update(world):
    """Another engine places a group on the links before the update reserves
    its traffic."""
    world.only('a', 'b')
    group = world.create(pair(300))
    links, rival = world.table.links, []
    world.table.links = Interleaved(links, 'reserve', before=lambda: rival
                                    .append(world.create(pair(600))))
    record = update(world, group, pair(500)['group'])
    world.table.links = links
    assert rival[0].status == GroupStatus.PLANNED
    assert record.reasons and record.document == pair(300)
    assert world.loads() == {'a': 900, 'b': 900}
    world.reconciler.reconcile()
    assert world.recorded_loads() == world.loads()


def test_a_reservation_without_a_plan_ends(world):
    """An engine is killed after it has reserved the traffic of an update."""
    world.only('a', 'b')
    group = world.create(pair(300))
    world.table.links.reserve(group.uuid, {
        next(iter(world.table.links.demand_of_others(None))): 900}, {})
    assert max(world.recorded_loads().values()) == 900
    assert world.create(pair(700)).status == GroupStatus.PLANNED
    assert world.recorded_loads() == world.loads() == {'a': 1000, 'b': 1000}


def test_a_plan_reads_no_members_of_other_groups(world):
    """The number of statements does not depend on the number of other
    groups."""
    sent = []
    for _ in range(3):
        world.create(pair(1))
        with recorded(world.table.database.engine) as recorder:
            world.planner.plan(pair(1))
        sent.append(recorder.statements)
    assert sent[0] == sent[1] == sent[2]


def test_a_plan_on_a_rack_without_a_link_has_a_warning(world):
    world.only('a', 'b')
    world.inventory.linked = 'b'
    warning, = world.planner.plan(pair(500)).warnings
    assert 'not limited in 1 of the 2 domains of level rack' in (
        warning.message)
    world.inventory.linked = 'ab'
    assert world.planner.plan(pair(500)).warnings == ()


def test_any_sequence_of_changes_keeps_the_limits(world):
    chance = random.Random(19)
    groups = []
    for _ in range(times(40)):
        act = chance.random()
        if act < 0.5 or not groups:
            group = world.create(pair(chance.randint(50, 700)))
            if group.status == GroupStatus.PLANNED:
                groups.append(group)
        elif act < 0.7:
            update(world, chance.choice(groups),
                   pair(chance.randint(50, 700))['group'])
        elif act < 0.85:
            world.lifecycle.delete(groups.pop(
                chance.randrange(len(groups))).uuid)
        else:
            lose(world, chance.choice(groups))
        world.reconciler.reconcile()
        assert world.recorded_loads() == world.loads()
        assert max(world.loads().values(), default=0) <= CAPACITY


def lose(world, group):
    """A member loses its place; the reconciler plans it again."""
    row = world.table.members(group.uuid)[0]
    if row.state == MemberState.PLANNED:
        world.holds.drop([row.hold])
        world.table.change_state(row.id, [MemberState.PLANNED],
                                 MemberState.LOST, world.now, held=False)
