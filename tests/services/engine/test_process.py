# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-engine`` as a process, and how it ends."""

import os
import signal

import pytest

from nova_holistic.table import migration
from nova_holistic.table.records import GroupStatus
from nova_holistic.table.store import PlacementTable
from tests.services.background import wait_for


@pytest.fixture
def inventory(world):
    file = world.directory / 'inventory.yaml'
    file.write_text(world.inventory_document())
    return file


@pytest.fixture
def unheard(world):
    """An inventory that is not read to its end until somebody writes it: a
    planner that asks for it is in the middle of its work."""
    pipe = world.directory / 'pipe'
    os.mkfifo(pipe)
    return pipe


def taken(world, group):
    """Wait until an engine has begun with the group; the engine."""
    return wait_for('an engine to begin', lambda: (
        world.table.get_group(group).engine))


def test_an_engine_plans_and_ends_when_told(world, inventory):
    group = world.ask()
    engine = world.start_process(inventory)
    assert world.settled(group).status == GroupStatus.PLANNED
    engine.send(signal.SIGTERM)
    assert engine.wait() == 0
    world.assert_agreement()


def test_what_a_killed_engine_had_begun_another_finishes(
        world, inventory, unheard):
    group = world.ask()
    killed = world.start_process(unheard)
    first = taken(world, group)
    killed.kill()
    world.start_process(inventory)
    settled = world.settled(group)
    assert settled.status == GroupStatus.PLANNED
    assert world.table.get_group(group).engine is None
    assert first
    world.assert_agreement()


def test_an_engine_told_to_stop_finishes_what_it_has_begun(
        world, unheard):
    group = world.ask()
    engine = world.start_process(unheard, shutdown_timeout=60)
    taken(world, group)
    engine.send(signal.SIGTERM)
    engine.wait_until('the stop', lambda: ' stops' in engine.said())
    later = world.ask()
    unheard.write_text(world.inventory_document())
    assert engine.wait() == 0
    assert world.table.get_group(group).status == GroupStatus.PLANNED
    # What came after that it has left to others.
    assert world.table.get_group(later).attempts == 0
    world.assert_agreement()


def test_an_engine_without_time_hands_back_what_it_has_begun(
        world, inventory, unheard):
    group = world.ask()
    engine = world.start_process(unheard, shutdown_timeout=0,
                                 stale_after=3600)
    taken(world, group)
    engine.send(signal.SIGTERM)
    assert engine.wait() == 0
    left = world.table.get_group(group)
    assert (left.engine, left.attempts) == (None, 0)
    world.start_process(inventory, stale_after=3600)
    assert world.settled(group).status == GroupStatus.PLANNED
    world.assert_agreement()


def test_a_second_signal_ends_the_wait(world, unheard):
    group = world.ask()
    engine = world.start_process(unheard, shutdown_timeout=3600)
    taken(world, group)
    for _ in range(2):
        engine.send(signal.SIGTERM)
        engine.wait_until('the stop', lambda: ' stops' in engine.said())
    assert engine.wait() == 0
    assert world.table.get_group(group).engine is None


@pytest.mark.parametrize('setting, complaint', [
    ('transport_url = pigeon://nowhere', 'transport_url'),
    ('[inventory]\ndriver = tea-leaves', "unknown [inventory] driver"),
    ('[engine]\nworkers = none', 'workers'),
])
def test_a_configuration_that_will_not_do(world, setting, complaint):
    file = world.directory / 'broken.conf'
    file.write_text(f'[DEFAULT]\n{setting}\n[placement]\n'
                    'auth_type = admin_token\nendpoint = http://x\ntoken = x\n'
                    '[nova]\nauth_type = admin_token\nendpoint = http://x\n'
                    'token = x\n')
    engine = world.run_process('--config-file', file)
    assert engine.wait() == 2
    assert 'nova-holistic-engine: ' in engine.said()
    assert complaint in engine.said()
    assert 'Traceback' not in engine.said()


def test_a_schema_that_it_cannot_use(world, inventory):
    world.table_url = f'sqlite:///{world.directory}/old.sqlite'
    migration.upgrade(world.table_url, '0002')
    engine = world.start_process(inventory)
    assert engine.wait() == 2
    assert 'run nova-holistic-manage db upgrade' in engine.said()
    assert 'Traceback' not in engine.said()


def test_it_starts_while_the_database_is_away(world, inventory):
    there, away = (world.directory / name for name in ('there', 'away'))
    there.mkdir()
    world.table_url = f'sqlite:///{away}/table.sqlite'
    engine = world.start_process(inventory)
    engine.wait_until('a look in vain', lambda: (
        'No sign of life' in engine.said()))
    migration.upgrade(f'sqlite:///{there}/table.sqlite')
    there.rename(away)
    world.table = PlacementTable(world.table_url)
    group = world.ask()
    assert world.settled(group).status == GroupStatus.PLANNED
