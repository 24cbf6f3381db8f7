# SPDX-License-Identifier: Apache-2.0
"""The work of an engine is counted, timed and written to the history."""

import pytest

from nova_holistic.metrics import exporter, instruments
from nova_holistic.table.history.pages import Page
from nova_holistic.table.records import MemberState
from tests.functional.engine.world import shop


@pytest.fixture
def registry(world):
    world.table.database.listen(exporter.count)
    yield exporter.bind()
    exporter.unbind()


def value(registry, name, **labels):
    return registry.get_sample_value(instruments.PREFIX + name, labels)


def log_lines(world, group, **wanted):
    return [(str(e.kind), e.member, e.to_state) for e in
            world.table.history.read(Page(group.uuid, 100, **wanted))]


def test_plans_holds_and_snapshots_are_measured(world, registry):
    assert world.create().status == 'planned'
    assert world.create(shop(nodes=3)).status == 'unplaceable'
    assert value(registry, 'plans_total', outcome='planned') == 1
    assert value(registry, 'plans_total', outcome='unplaceable') == 1
    assert value(registry, 'solve_seconds_count', outcome='planned') == 1
    assert value(registry, 'snapshot_seconds_count') >= 2
    assert value(registry, 'hold_seconds_count', operation='put') == 1
    assert value(registry, 'changes_total', kind='group.status',
                 to_state='unplaceable') == 1


def test_the_history_contains_the_changes_of_a_group(world, registry):
    group = world.create()
    world.lifecycle.extend(group.uuid, 7200)
    world.lifecycle.release(group.uuid)
    assert log_lines(world, group) == [
        ('group.status', None, 'planning'), ('plan.written', None, None),
        ('group.status', None, 'planned'), ('lease.changed', None, None),
        ('lease.changed', None, None), ('member.state', 'web', 'released'),
        ('member.state', 'db/node-0', 'released'),
        ('member.state', 'db/node-1', 'released'),
        ('group.status', None, 'released')]
    world.lifecycle.delete(group.uuid)
    assert log_lines(world, group) == []


def test_a_lost_member_and_its_new_place_are_reported(world, registry):
    group = world.create()
    web = next(m for m in world.table.members(group.uuid)
               if m.member.path == 'web')
    world.holds.drop([web.hold])
    world.table.change_state(web.id, {MemberState.PLANNED}, MemberState.LOST,
                             world.now, held=False)
    world.planner.replan(group.uuid)
    assert log_lines(world, group, member='web') == [
        ('member.state', 'web', 'lost'), ('member.state', 'web', 'planned')]
    assert value(registry, 'changes_total', kind='member.state',
                 to_state='lost') == 1
