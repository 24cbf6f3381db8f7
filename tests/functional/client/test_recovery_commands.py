# SPDX-License-Identifier: Apache-2.0
"""The command that the manual names for a state ends this state. The tests run
the commands as printed."""

import os
import pathlib
import re
import shlex
import signal
import threading
import time

import pytest
import yaml

from nova_holistic.cli import engine
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.engine import test_transitions as walks
from tests.functional.engine.world import shop, SMALL
from tests.unit.api.service import ADMIN, Service

MANUAL = pathlib.Path(__file__).parents[3] / 'doc/source/user/states.rst'
ENGINE = '''
[DEFAULT]
transport_url = fake://
[holistic_database]
connection = {table}
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
[nova]
auth_type = admin_token
endpoint = http://nova.example.org
token = admin
[inventory]
driver = file
path = {inventory}
'''
LONGEST = 300
"""Timeout in seconds for an engine to start and to plan."""


def commands(of):
    """The command of each state, from one of the two tables of the manual."""
    text = MANUAL.read_text().split('.. _way-out:')[1].split('\nTasks\n')[0]
    table = text.split(f' of a {of}\n')[1].split('.. list-table::')[0]
    return dict(re.findall(r'\* - ``([a-z]+)``\n +- ``([^`]+)``', table))


GROUPS, MEMBERS = commands('group'), commands('member')


@pytest.fixture
def type_out(type_, tmp_path, monkeypatch):
    """Runs a command of the manual, in a folder with ``shop.yaml``."""
    def type_out(command, document, user=None):
        (tmp_path / 'shop.yaml').write_text(yaml.safe_dump(document))
        monkeypatch.chdir(tmp_path)
        openstack, holistic, *words = shlex.split(command)
        assert (openstack, holistic) == ('openstack', 'holistic')
        type_(*words, **({'user': user} if user else {}))
    return type_out


def group_in(world, status):
    """A group in that status, and a definition that can be planned."""
    size = 3 if status == 'unplaceable' else 1
    if status == 'error':
        return walks.broken_off(world)
    group = world.create(shop(size), lease=0)
    if status == 'degraded':
        return degraded(world)
    if status in ('building', 'complete'):
        walks.serve(world, group)
    if status in ('complete', 'released'):
        world.lifecycle.release(group.uuid)
    return group


def degraded(world):
    group = world.create({'name': 'shop', 'members': [
        {'name': 'node', 'count': 2, 'resources': SMALL}], 'policies': [
            {'type': 'anti-affinity', 'level': 'rack'}]}, lease=0)
    first, second = [world.build(group, path) for path in ('node-0', 'node-1')]
    world.instances.set(second.instance_uuid, 'ACTIVE', first.place.host)
    world.reconciler.reconcile()
    return group


STATUSES = [
    pytest.param(status, marks=pytest.mark.leaves(
        'servers that move past Placement'))
    if status == 'degraded' else status
    for status in sorted(GROUPS.keys() - {'planning'})]


@pytest.mark.parametrize('status', STATUSES)
def test_the_command_of_the_manual_ends_a_group_status(world, type_out,
                                                       status):
    group = group_in(world, status)
    assert world.table.get_group(group.uuid).status == status
    type_out(GROUPS[status].replace('UUID', group.uuid), shop(2),
             user=ADMIN if status == 'degraded' else None)
    after = world.table.get_group(group.uuid)
    assert after is None or after.status != status


@pytest.fixture
def own_signals():
    """The handlers of signals are restored at the end."""
    before = {number: signal.getsignal(number)
              for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_command_of_the_manual_ends_planning(
        world, tmp_path, own_logging, own_signals):
    """The group was created while no engine was running."""
    created = Service(world.table).ask('POST', '/v1/groups', shop(1))
    assert created.json['group']['status'] == 'planning'
    inventory = tmp_path / 'inventory.yaml'
    inventory.write_text(yaml.safe_dump({
        'levels': ['rack', 'host'], 'hosts': [{
            'name': host.name, 'node': host.node, 'uuid': host.uuid,
            'location': list(host.location), 'resources': {
                name: {'total': room.total}
                for name, room in host.inventories.items()}}
            for host in world.inventory.snapshot().hosts]}))
    file = tmp_path / 'engine.conf'
    file.write_text(ENGINE.format(
        table=world.table_url, placement=world.endpoint, inventory=inventory))
    assert GROUPS['planning'] == engine.PROGRAM
    watcher = threading.Thread(target=end_once_planned, args=[world])
    watcher.start()
    assert engine.main(['--config-file', str(file)]) == 0
    watcher.join()
    assert world.table.list_groups()[0].status == GroupStatus.PLANNED


def end_once_planned(world):
    """Send SIGTERM to this process, in which the engine runs, as soon as the
    group is planned."""
    deadline = time.monotonic() + LONGEST
    while (world.table.list_groups()[0].status == GroupStatus.PLANNING
           and time.monotonic() < deadline):
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGTERM)


def member_in(world, state):
    group = world.create(shop(1), lease=0)
    if state == 'claimed':
        # The build of its server has stalled.
        row = world.claim(group, 'web')
        world.swap(row)
        world.instances.set(row.instance_uuid, 'BUILD')
    elif state in ('built', 'failed'):
        walks.serve(world, group, status={
            'built': 'ACTIVE', 'failed': 'ERROR'}[state])
    elif state == 'lost':
        walks.lose(world, group)
    elif state == 'released':
        world.lifecycle.release(group.uuid, ['web'])
    return group


@pytest.mark.parametrize('state', MEMBERS)
def test_the_command_of_the_manual_ends_a_member_state(world, type_out, state):
    group = member_in(world, state)
    assert world.states(group)['web'] == state
    type_out(MEMBERS[state], shop(2))
    assert world.states(group).get('web') != state


def test_the_manual_has_a_command_for_each_state():
    assert sorted(GROUPS) == sorted(str(each) for each in GroupStatus)
    assert sorted(MEMBERS) == sorted(str(each) for each in MemberState)
