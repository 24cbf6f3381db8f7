# SPDX-License-Identifier: Apache-2.0
"""An operator deletes finished groups."""

from datetime import datetime, timedelta, timezone
import json
import pathlib
import re
import shlex

import pytest

from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.engine.world import shop
from tests.unit.table import builders

NOBODY = '5f0c8a52-8a1f-4f0e-9d55-1f6f6bb2f6a1'
MANUAL = pathlib.Path(__file__).parents[3] / 'doc/source/admin/operate.rst'


@pytest.fixture
def purge(run, world):
    """Run the command; returns its exit code, the UUIDs and its error
    output."""
    def purge(*words):
        code, out, err = run('group', 'purge', '--format', 'json', *words)
        groups = json.loads(out) if out else []
        return code, [group['uuid'] for group in groups], (
            err.splitlines() or [''])[-1]

    return purge


@pytest.fixture
def released(world):
    """A released group without holds."""
    group = world.create(lease=0)
    world.lifecycle.release(group.uuid)
    assert world.table.get_group(group.uuid).status == GroupStatus.RELEASED
    world.reconcile_members()
    return group.uuid


@pytest.fixture
def unplaceable(world):
    group = world.create(shop(3), lease=0)
    assert group.status == GroupStatus.UNPLACEABLE
    return group.uuid


def age(world, group, days):
    """Set the last change of the group to a number of days ago, by the real
    clock."""
    world.table.update_group(
        group, list(GroupStatus),
        updated_at=datetime.now(timezone.utc).replace(tzinfo=None)
        - timedelta(days=days))


def uuids(world):
    return {group.uuid for group in world.table.list_groups()}


def test_groups_of_a_certain_age_are_deleted(
        world, purge, released, unplaceable):
    age(world, released, 31)
    age(world, unplaceable, 29)
    assert purge() == (0, [released], '')
    assert uuids(world) == {unplaceable}
    assert purge('--older-than', '30') == (0, [], '')
    assert purge('--older-than', '29') == (0, [unplaceable], '')
    assert uuids(world) == set()


def test_a_dry_run_deletes_nothing(world, purge, released, unplaceable):
    age(world, released, 1)
    age(world, unplaceable, 1)
    code, found, _ = purge('--older-than', '0', '--dry-run')
    assert (code, set(found)) == (0, {released, unplaceable})
    assert purge(released, '--dry-run') == (0, [released], '')
    assert uuids(world) == {released, unplaceable}


def test_some_statuses_and_some_groups(world, purge, released, unplaceable):
    """The options ``--status`` and ``--limit`` select the groups to delete."""
    age(world, released, 1)
    age(world, unplaceable, 1)
    words = '--older-than', '0', '--status', 'unplaceable', '--status', 'error'
    assert purge(*words) == (0, [unplaceable], '')
    assert purge(*words) == (0, [], '')
    again = world.create(shop(3), lease=0).uuid
    age(world, again, 1)
    assert len(purge('--older-than', '0', '--limit', '1')[1]) == 1
    assert len(uuids(world)) == 1


def test_one_group_of_any_age(world, purge, released, unplaceable):
    """A group that the command names is deleted at any age."""
    assert purge(released) == (0, [released], '')
    assert uuids(world) == {unplaceable}
    assert purge(released) == (
        2, [], f'nova-holistic-manage: there is no group {released}')
    assert purge(NOBODY)[0] == 2


def test_a_group_with_places_or_servers_is_kept(world, purge):
    planned = world.create(shop(1), lease=0)
    code, found, complaint = purge(planned.uuid)
    assert (code, found) == (1, [])
    assert complaint == (
        f'nova-holistic-manage: group {planned.uuid} is planned: only groups '
        f'that are released, unplaceable, error, without servers and holds, '
        f'are purged')
    world.build(planned, 'web')
    world.lifecycle.release(planned.uuid)
    world.reconcile_members()
    age(world, planned.uuid, 99)
    assert purge()[1] == []
    # This also holds if its status is wrong.
    builders.force_status(world.table, planned.uuid, GroupStatus.RELEASED)
    age(world, planned.uuid, 99)
    assert purge()[1] == []
    assert "has member 'web', which is built" in purge(planned.uuid)[2]
    assert uuids(world) == {planned.uuid}


def test_a_hold_that_is_left_to_the_reconciler_keeps_its_group(
        world, purge):
    """The rows are released, but the holds still exist in Placement."""
    group = world.create(lease=0)
    world.table.release(
        [m.hold for m in world.table.members(group.uuid)], world.now)
    world.table.settle(group.uuid, world.now)
    age(world, group.uuid, 99)
    assert purge()[1] == []
    assert purge(group.uuid)[2].count('which is released and held') == 1
    world.reconcile_members()
    age(world, group.uuid, 99)
    assert purge()[1] == [group.uuid]
    world.assert_agreement()


def test_a_group_whose_servers_are_all_deleted(world, purge):
    group = world.create(shop(1), lease=0)
    for path in world.states(group):
        row = world.build(group, path)
        del world.instances.views[row.instance_uuid]
        world.placement.adapter.delete(
            f'/allocations/{row.instance_uuid}', microversion='1.38')
        builders.force_state(world.table, row.id, MemberState.RELEASED)
    world.table.settle(group.uuid, world.now)
    age(world, group.uuid, 99)
    assert purge()[1] == [group.uuid]


def test_a_table_in_words(run, world, released):
    """Without ``--format json``, the command prints a table."""
    code, out, _ = run('group', 'purge', released)
    head, line = out.splitlines()
    assert (code, head.split()[0]) == (0, 'UUID')
    assert line.split()[:4] == [released, 'shop', 'blue', 'released']


def test_a_purge_without_finished_groups_deletes_nothing(run, world):
    assert run('group', 'purge') == (0, '', '')


@pytest.mark.parametrize('words', [
    ('--older-than', '-1'), ('--older-than', 'long'), ('--limit', '0'),
    ('--status', 'planned'), ('--status', 'old'), ('a', 'b'),
    ('odd\udcffname',)])
def test_wrong_usage_exits_with_2(purge, words):
    with pytest.raises(SystemExit) as stop:
        purge(*words)
    assert stop.value.code == 2


def test_the_commands_of_the_manual(run, world, released):
    commands = re.findall(
        r'^  nova-holistic-manage (group purge.*)$', MANUAL.read_text(),
        re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command.replace('UUID', released))
        assert run(*words)[0] == 0, command
    assert uuids(world) == set()
