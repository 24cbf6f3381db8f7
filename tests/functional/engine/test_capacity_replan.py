# SPDX-License-Identifier: Apache-2.0
"""Other servers take capacity between the plan of a group and its holds.

The engine receives no notification of any change. Each host has capacity for
one member, and each request writes two holds.
"""

import math

import pytest

from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.use_tracking_adapter import UseTrackingAdapter
from nova_holistic.table.records import GroupStatus
from tests.functional.engine.member_losses import lose
from tests.functional.engine.test_cached_snapshot import KeptWorld, WHOLE
from tests.functional.engine.test_holds_in_parts import Watched
from tests.functional.engine.test_performer import ask, take
from tests.functional.engine.updates import hosts, rows

RACKS = {f'{rack}{number}': rack for rack in 'abc' for number in range(1, 5)}
PLACES = [f'node-{number}' for number in range(6)]


def six(**policy):
    """A group of six members. At most two of them may be in one rack."""
    return {'group': {
        'name': 'six', 'policies': [
            policy or {'type': 'anti-affinity', 'level': 'rack',
                       'max_per_domain': 2}],
        'members': [{'name': 'node', 'count': 6, 'resources': WHOLE}]}}


class RoomWorld(KeptWorld):
    """Three racks of four hosts.

    :ivar wire: Watched, the connection to Placement
    :ivar planned: host of each member when the first other server was created
    """

    def _start_parts(self):
        super()._start_parts()
        self.wire = Watched(self)
        self.planned = {}
        self.slow = self.planner_with(self.table, HoldClient(
            UseTrackingAdapter(self.wire, self.inventory),
            part_size=2))

    def make(self, document, **acts):
        """:param acts: functions that are called before a request, see
            Watched"""
        self.inventory.cached_snapshot()
        self.wire.acts = {int(name.strip('_')): act
                          for name, act in acts.items()}
        return self.slow.create(document, project_id='blue', user_id='ann')

    def take(self, *paths):
        """A function that creates other servers on the hosts of these
        members."""
        def other_servers():
            group, = self.table.list_groups()
            now = hosts(self, group)
            self.planned = self.planned or now
            self.fill(*(now[path] for path in paths))

        return other_servers

    def moved(self, group):
        """Paths of members that are not on their first planned hosts."""
        now = hosts(self, group)
        return {path for path in now if now[path] != self.planned[path]}


@pytest.fixture
def world(tmp_path):
    with RoomWorld(tmp_path, RACKS) as world:
        yield world


@pytest.fixture
def reads(world, monkeypatch):
    """Names of the hosts that were marked to be read again, for each call of
    ``cached_snapshot`` that finds such hosts."""
    found, kept = [], world.inventory.cached_snapshot

    def watched():
        names = {name for name, uuid in world.hosts.items()
                 if uuid in world.inventory._marked}
        if names:
            found.append(names)
        return kept()

    monkeypatch.setattr(world.inventory, 'cached_snapshot', watched)
    return found


@pytest.fixture
def decisions(monkeypatch):
    """The plans whose places were held."""
    found, objections = [], SnapshotPlanner.objections

    def watched(self, question, decision, held):
        found.append(decision.plan)
        return objections(self, question, decision, held)

    monkeypatch.setattr(SnapshotPlanner, 'objections', watched)
    return found


def racks(world, group):
    return sorted(RACKS[host] for host in hosts(world, group).values())


def test_only_the_members_whose_hosts_are_taken_move(
        world, reads, decisions):
    group = world.make(six(), _2=world.take('node-2', 'node-3'))
    assert group.status == GroupStatus.PLANNED
    assert world.moved(group) == {'node-2', 'node-3'}
    assert racks(world, group) == sorted('aabbcc')
    # The second part is refused once; the first one stays.
    assert world.wire.shown == [0, 2, 2, 4]
    # Hosts of the refused part are read again, and nothing else.
    assert reads[0] == {world.planned[path] for path in PLACES[2:4]}
    assert world.inventory.complete == 1
    plan, = decisions
    assert plan.hosts() == hosts(world, group)
    assert (plan.objective.bound, plan.objective.gap) == (
        -math.inf, math.inf)
    shown = group.objective_value
    assert shown['value'] == plan.objective.value
    assert (shown['bound'], shown['gap'], shown['kept']) == (None, None, 0)


def test_one_of_two_members_of_a_refused_part_stays(world):
    group = world.make(six(), _1=world.take('node-1'))
    assert world.moved(group) == {'node-1'}
    assert world.wire.shown == [0, 0, 2, 4]


def test_after_a_second_refusal_all_hosts_to_hold_are_read(world):
    """Other servers are on the hosts of the second and of the third part."""
    group = world.make(
        six(), _1=world.take('node-1'),
        _3=world.take('node-2', 'node-4'))
    assert world.moved(group) == {'node-1', 'node-2', 'node-4'}
    # The third part is not refused, because its hosts are known by then.
    assert world.wire.shown == [0, 0, 2, 2, 4]


@pytest.mark.parametrize('policy', [
    {'type': 'affinity', 'level': 'rack'},
    {'type': 'affinity', 'level': 'rack', 'weight': 1}],
    ids=['hard', 'preference'])
def test_a_group_that_needs_another_rack_is_planned_as_a_whole(
        world, policy):
    document = six(**policy)
    document['group']['members'][0]['count'] = 3

    def fill_rack():
        world.take('node-2')()
        first = RACKS[world.planned['node-0']]
        free = {name for name, rack in RACKS.items() if rack == first}
        world.fill(*sorted(free - {*world.planned.values()}))

    # The first part is held. The third member finds no capacity in the rack.
    group = world.make(document, _2=fill_rack)
    assert group.status == GroupStatus.PLANNED
    assert len(set(racks(world, group))) == 1
    assert world.moved(group) == {'node-0', 'node-1', 'node-2'}
    # Two holds are written, one is refused, two are dropped, and then all are
    # written.
    assert world.wire.shown == [0, 2, 2, 2, 0, 2]


def test_the_number_of_attempts_is_bounded(world):
    world.conf.set_override('attempts', 2, group='planner')
    document = six(type='anti-affinity', level='host')
    document['group']['members'][0]['count'] = 3
    last = world.take('node-2')
    # A drop of two holds is a request, too.
    acts = {f'_{number}': last for number in (2, 3, 4, 7, 8, 9)}
    group = world.make(document, **acts)
    # Finally, one request ensures that no hold exists.
    assert world.wire.shown == [0, 2, 2, 2, 2, 0, 2, 2, 2, 2, None]
    assert group.status == GroupStatus.ERROR
    assert 'was outdated 2 times' in group.reasons[0]['message']
    assert not any(row.held for row in rows(world, group).values())


def test_an_engine_that_lost_its_group_moves_no_member(world, monkeypatch):
    group = ask(world, six())
    world.inventory.cached_snapshot()
    record = take(world, group, 'slow')
    others = []

    def another_engine():
        world.take('node-0')()
        world.wait(601)
        others.append(take(world, group, 'quick'))

    decide, asked = SnapshotPlanner.decide, []

    def watched(self, question, *args, **options):
        asked.append(len(question.group.all_members()) - len(question.placed))
        return decide(self, question, *args, **options)

    monkeypatch.setattr(SnapshotPlanner, 'decide', watched)
    world.wire.acts = {1: another_engine}
    with pytest.raises(OwnershipLost):
        world.slow.perform(record)
    # The engine plans the group and then another host for one member, and
    # stops.
    assert asked == [6, 1]
    # The first part is refused. Three requests delete the holds that may
    # exist: six holds, and the hold on the other host. Only the allocation of
    # the other server remains.
    assert world.wire.shown == [0, 0, 0, 0]
    assert world.vcpus_used() == 2
    assert world.moved(world.table.get_group(group)) == set()
    world.planner.perform(*others)
    assert world.table.get_group(group).status == GroupStatus.PLANNED


def test_a_lost_member_whose_new_host_is_taken_moves_alone(world):
    group = world.create(six())
    before = hosts(world, group)
    lost = ['node-0', 'node-1', 'node-2']
    for path in lost:
        row = lose(world, group, path)
        world.fill(row.place.host)
    world.inventory.snapshot()
    world.wire.acts = {2: world.take('node-2')}
    assert world.slow.replan(group.uuid).reasons == ()
    assert set(world.states(group).values()) == {'planned'}
    assert world.moved(group) == {'node-2'}
    now = hosts(world, group)
    assert all(now[path] == before[path] for path in PLACES[3:])
    assert racks(world, group) == sorted('aabbcc')
