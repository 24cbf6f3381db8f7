# SPDX-License-Identifier: Apache-2.0
"""The hosts at which a server counts."""

import pytest

from nova_holistic.model.nova.server_position import (
    Migration, MOVING, Position, server_position, ServerRecord, TO_CONFIRM)


def hosts(server, *migrations):
    found = server_position(server, 'planned', migrations)
    return found and found.hosts


def test_a_server_counts_at_its_host():
    assert hosts(ServerRecord('h1', 'active')) == {'h1'}
    assert hosts(ServerRecord('h1', 'stopped', 'powering-on')) == {'h1'}


def test_a_server_that_is_being_built_counts_where_it_is_planned():
    assert hosts(ServerRecord(None, 'building', 'scheduling')) == {'planned'}


@pytest.mark.parametrize('vm_state', ['error', 'shelved_offloaded'])
def test_a_server_without_a_host_counts_nowhere(vm_state):
    assert hosts(ServerRecord(None, vm_state)) is None


@pytest.mark.parametrize('status', MOVING)
def test_a_moving_server_counts_at_both_hosts(status):
    server = ServerRecord('h1', 'active', 'migrating')
    assert hosts(server, Migration(1, status, 'h1', 'h2')) == {'h1', 'h2'}


@pytest.mark.parametrize('status', TO_CONFIRM)
def test_a_resized_server_counts_at_both_hosts(status):
    server = ServerRecord('h2', 'resized')
    assert server_position(server, 'planned', [
        Migration(1, status, 'h1', 'h2')]) == Position('h2', 'h1')


@pytest.mark.parametrize('status', ['completed', 'error', 'confirmed', 'done'])
def test_a_move_that_ended_does_not_count(status):
    server = ServerRecord('h2', 'active', 'rebooting')
    assert hosts(server, Migration(1, status, 'h1', 'h2')) == {'h2'}


def test_a_move_without_a_destination_does_not_count():
    server = ServerRecord('h1', 'active', 'migrating')
    assert hosts(server, Migration(1, 'accepted', 'h1', None)) == {'h1'}


@pytest.mark.parametrize('migrations', [
    [], [Migration(1, 'accepted', 'h1', None)]])
def test_a_server_counts_where_a_scheduler_has_sent_it(migrations):
    server = ServerRecord('h1', 'active', 'resize_prep')
    assert server_position(server, 'planned', migrations, 'h3') == Position(
        'h3', 'h1')


def test_a_record_of_nova_precedes_the_answer_of_a_scheduler():
    """The compute service may have tried another host after the scheduler
    answered."""
    server = ServerRecord('h1', 'active', 'resize_migrating')
    assert server_position(server, 'planned', [
        Migration(1, 'migrating', 'h1', 'h2')], 'h3') == Position('h2', 'h1')


def test_a_server_without_a_host_counts_where_it_is_unshelved():
    server = ServerRecord(None, 'shelved_offloaded', 'unshelving')
    assert server_position(server, 'planned', [], 'h3') == Position('h3')
    assert server_position(server, 'planned') is None
    gone = ServerRecord(None, 'shelved_offloaded')
    assert server_position(gone, 'planned', [], 'h3') is None


@pytest.mark.parametrize('server', [
    ServerRecord('h1', 'active'), ServerRecord('h1', 'resized')])
def test_a_failed_move_does_not_count(server):
    assert server_position(server, 'planned', [], 'h3') == Position('h1')


def test_the_newest_move_counts():
    server = ServerRecord('h2', 'active', 'migrating')
    assert hosts(server, Migration(7, 'running', 'h2', 'h3'),
                 Migration(3, 'running', 'h1', 'h2')) == {'h2', 'h3'}


def test_only_a_moving_server_has_migrations_to_read():
    assert ServerRecord('h1', 'active').statuses == ()
    assert ServerRecord(None, 'active', 'rebuilding').statuses == ()
    assert ServerRecord('h1', 'active', 'migrating').statuses == MOVING
    assert ServerRecord('h1', 'resized').statuses == TO_CONFIRM
