# SPDX-License-Identifier: Apache-2.0
"""The commands of nova-holistic-manage."""

import pytest

from nova_holistic.table import migration


def test_a_new_database_is_made_and_upgraded(run, tmp_path):
    table = f'sqlite:///{tmp_path}/new/table.sqlite'
    head = migration.head()
    code, output, _ = run('db', 'upgrade', table=table)
    assert (code, output) == (0, f'{head} (expected {head})\n')
    code, output, _ = run('db', 'version', table=table)
    assert (code, output) == (0, f'{head} (expected {head})\n')


def test_the_version_of_an_empty_database_is_empty(run):
    code, output, _ = run('db', 'version')
    assert (code, output) == (0, f'empty (expected {migration.head()})\n')


@pytest.mark.parametrize('command', ['version', 'upgrade'])
@pytest.mark.parametrize('url', [
    '', 'nonsense', 'unknown://host/name', 'mysql+pymysql://host:port/name'])
def test_an_invalid_url_of_the_database_exits_with_2(run, command, url):
    assert run('db', command, table=url) == (
        2, '', 'nova-holistic-manage: [holistic_database] connection is not '
        'the URL of a supported database\n')


def test_the_lease_expire_command_releases_expired_groups(run, world):
    # The command uses the real clock. By this clock, the lease has expired.
    world.now = world.now.replace(year=2001)
    group = world.create(lease=60)
    code, output, _ = run('lease', 'expire', placement=world.endpoint)
    assert (code, output) == (0, f'{group.uuid}\n')
    assert set(world.states(group).values()) == {'released'}
    assert world.vcpus_used() == 0


def test_the_reconcile_command_restores_holds_and_fails_without_nova(
        run, world):
    group = world.create(lease=0)
    world.holds.drop([world.table.members(group.uuid)[0].hold])
    code, output, complaint = run(
        'reconcile', placement=world.endpoint, nova='http://127.0.0.1:1')
    assert (code, output) == (1, 'vanished: 1\n')
    assert complaint.splitlines()[-1].startswith(
        'nova-holistic-manage: nova: GET /servers/detail?')
    world.assert_agreement()


def test_the_reconcile_command_fails_if_placement_does_not_answer(run, world):
    code, output, complaint = run('reconcile', placement='http://127.0.0.1:1')
    assert (code, output) == (1, '')
    assert complaint.splitlines()[-1].startswith(
        'nova-holistic-manage: Placement: Unable to establish connection')
    assert 'Traceback' not in complaint


def test_a_service_without_configuration_is_reported(run):
    run('db', 'upgrade')
    code, output, complaint = run(
        'lease', 'expire', text='[holistic_database]\nconnection = {table}\n')
    assert (code, output) == (2, '')
    assert complaint.splitlines()[-1] == (
        'nova-holistic-manage: [placement] auth_type is missing')


@pytest.mark.parametrize('words', [
    ('lease', 'expire'), ('reconcile',), ('group', 'list')])
def test_commands_refuse_a_database_without_a_schema(run, words):
    code, output, complaint = run(*words)
    assert (code, output) == (2, '')
    assert complaint.splitlines()[-1].endswith(
        'run nova-holistic-manage db upgrade')


@pytest.mark.parametrize('words', [(), ('db',), ('db', 'burn')])
def test_an_unknown_command_exits_with_2(run, words):
    with pytest.raises(SystemExit) as stop:
        run(*words)
    assert stop.value.code == 2
