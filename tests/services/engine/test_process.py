# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-engine`` as a process, and how it ends."""

import contextlib
from datetime import timedelta
import os
import signal

from oslo_utils import timeutils
import pytest

from nova_holistic.table import migration
from nova_holistic.table.records import GroupStatus
from nova_holistic.table.store import PlacementTable
from tests.services.background_processes import wait_for
from tests.services.engine.engine_forks import Engines


@pytest.fixture(scope='module')
def engines():
    with Engines() as engines:
        yield engines


@pytest.fixture
def world(world, engines):
    world.engines = engines
    return world


@pytest.fixture
def inventory(world):
    file = world.directory / 'inventory.yaml'
    file.write_text(world.inventory_document())
    return file


on_one_database = pytest.mark.parametrize(
    'table_url', [None], ids=['sqlite'])
"""Marks a test for which the kind of database makes no difference."""


class UnwrittenInventory:
    """An inventory in a named pipe. The planner waits in the middle of its
    work until the test writes the inventory.

    :ivar path: path of the pipe
    """

    def __init__(self, path):
        os.mkfifo(path)
        self.path = path
        self._end = None

    def wait_for_reader(self):
        self._end = wait_for('a planner', self._connect)

    def write(self, text):
        """Write the inventory, so that the planner continues."""
        os.write(self._end, text.encode())
        self.close()

    def close(self):
        if self._end is not None:
            os.close(self._end)
            self._end = None

    def _connect(self):
        # The planner has not opened the pipe yet.
        with contextlib.suppress(OSError):
            return os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)


@pytest.fixture
def unwritten(world):
    inventory = UnwrittenInventory(world.directory / 'pipe')
    yield inventory
    inventory.close()


def handed_back(group):
    return group if group.engine is None else None


def test_an_engine_plans_and_stops_on_sigterm(world, inventory):
    group = world.ask()
    engine = world.start_process(inventory)
    assert world.settled(group).status == GroupStatus.PLANNED
    engine.send(signal.SIGTERM)
    assert engine.wait() == 0
    world.assert_agreement()


@on_one_database
def test_an_engine_continues_after_sighup(world, unwritten):
    """Programs that rotate logs send it, and systemd does not start a process
    again that it has ended."""
    group = world.ask()
    engine = world.start_process(unwritten.path)
    unwritten.wait_for_reader()
    engine.send(signal.SIGHUP)
    unwritten.write(world.inventory_document())
    assert world.settled(group).status == GroupStatus.PLANNED
    world.assert_agreement()


def test_another_engine_finishes_the_task_of_a_killed_one(
        world, inventory, unwritten):
    group = world.ask()
    killed = world.start_process(unwritten.path)
    unwritten.wait_for_reader()
    first = world.table.get_group(group).engine
    killed.kill()
    # Age its last heartbeat, so that the engine counts as failed.
    world.table.tasks.write_heartbeat(
        [group], first, timeutils.utcnow() - timedelta(hours=1))
    world.start_process(inventory)
    settled = world.settled(group)
    assert settled.status == GroupStatus.PLANNED
    assert world.table.get_group(group).engine is None
    world.assert_agreement()


@on_one_database
def test_an_engine_is_killed_at_its_crash_point_and_another_plans_again(
        world, inventory):
    group = world.ask()
    killed = world.start_process(inventory, crash_point='change.held')
    assert killed.wait() == -signal.SIGKILL
    assert world.vcpus_used() == 2
    left = world.table.get_group(group)
    assert left.status == GroupStatus.PLANNING
    # Age its last heartbeat, so that the engine counts as failed.
    world.table.tasks.write_heartbeat(
        [group], left.engine, timeutils.utcnow() - timedelta(hours=1))
    world.start_process(inventory)
    assert world.settled(group).status == GroupStatus.PLANNED
    world.assert_agreement()


def test_a_stopping_engine_finishes_its_current_task(
        world, unwritten):
    group = world.ask()
    engine = world.start_process(unwritten.path, shutdown_timeout=300)
    unwritten.wait_for_reader()
    engine.send(signal.SIGTERM)
    engine.wait_until('the stop', lambda: ' stops' in engine.said())
    later = world.ask()
    unwritten.write(world.inventory_document())
    assert engine.wait() == 0
    assert world.table.get_group(group).status == GroupStatus.PLANNED
    # It has left the later tasks to other engines.
    assert world.table.get_group(later).attempts == 0
    world.assert_agreement()


def test_a_shutdown_timeout_of_0_returns_the_current_task(
        world, inventory, unwritten):
    group = world.ask()
    engine = world.start_process(unwritten.path, shutdown_timeout=0)
    unwritten.wait_for_reader()
    engine.send(signal.SIGTERM)
    left = wait_for('the group to be handed back', lambda: (
        handed_back(world.table.get_group(group))))
    assert left.attempts == 0
    # The plan is discarded, because it is finished too late.
    unwritten.write(world.inventory_document())
    assert engine.wait() == 0
    assert world.table.get_group(group).task
    assert world.vcpus_used() == 0
    world.start_process(inventory)
    assert world.settled(group).status == GroupStatus.PLANNED
    world.assert_agreement()


@on_one_database
def test_a_second_sigterm_ends_the_wait(world, unwritten):
    group = world.ask()
    engine = world.start_process(unwritten.path, shutdown_timeout=3600)
    unwritten.wait_for_reader()
    for _ in range(2):
        engine.send(signal.SIGTERM)
        engine.wait_until('the stop', lambda: ' stops' in engine.said())
    assert engine.wait() == 0
    assert world.table.get_group(group).engine is None


def broken(world, setting):
    """A configuration file with an invalid setting."""
    file = world.directory / 'broken.conf'
    file.write_text(f'[DEFAULT]\n{setting}\n[placement]\n'
                    'auth_type = admin_token\nendpoint = http://x\ntoken = x\n'
                    '[nova]\nauth_type = admin_token\nendpoint = http://x\n'
                    'token = x\n')
    return file


@on_one_database
@pytest.mark.parametrize('setting, complaint', [
    ('transport_url = pigeon://nowhere', 'transport_url'),
    ('[inventory]\ndriver = tea-leaves', "unknown [inventory] driver"),
    ('[engine]\nworkers = none', 'workers'),
])
def test_an_invalid_configuration_ends_the_engine(
        world, engines, setting, complaint):
    with engines.start(['--config-file', broken(world, setting)],
                       world.directory / 'broken.log') as engine:
        assert engine.wait() == 2
        assert 'nova-holistic-engine: ' in engine.said()
        assert complaint in engine.said()
        assert 'Traceback' not in engine.said()


@on_one_database
def test_a_fork_ends_like_the_program(world, engines):
    file = broken(world, '[engine]\nworkers = none')
    program = world.run_process('--config-file', file)
    with engines.start(['--config-file', file],
                       world.directory / 'fork.log') as fork:
        assert fork.wait() == program.wait()
        assert fork.said().splitlines()[-1] == (
            program.said().splitlines()[-1])


@on_one_database
def test_an_engine_refuses_to_start_on_an_old_schema(world, inventory):
    world.table_url = f'sqlite:///{world.directory}/old.sqlite'
    migration.upgrade(world.table_url, '0002')
    engine = world.start_process(inventory)
    assert engine.wait() == 2
    assert 'run nova-holistic-manage db upgrade' in engine.said()
    assert 'Traceback' not in engine.said()


@on_one_database
def test_an_engine_starts_without_its_database(world, inventory):
    there, away = (world.directory / name for name in ('there', 'away'))
    there.mkdir()
    world.table_url = f'sqlite:///{away}/table.sqlite'
    engine = world.start_process(inventory)
    engine.wait_until('a failed poll for tasks', lambda: (
        '"poll for tasks" failed' in engine.said()))
    migration.upgrade(f'sqlite:///{there}/table.sqlite')
    there.rename(away)
    world.table = PlacementTable(world.table_url)
    group = world.ask()
    assert world.settled(group).status == GroupStatus.PLANNED
