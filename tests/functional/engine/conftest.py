# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of an engine, with a real Placement."""

import pytest

from nova_holistic.cli import manage
from tests.functional.engine.world import World
from tests.world.leftover_check import leaves_nothing  # noqa: F401

CONFIGURATION = '''
[holistic_database]
connection = {table}
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
[nova]
auth_type = admin_token
endpoint = {nova}
token = admin
[inventory]
driver = file
path = {directory}/inventory.yaml
'''
NO_HOSTS = '{levels: [host], hosts: []}'


@pytest.fixture
def run(tmp_path, capsys, own_logging):
    """Run a command; returns its exit code, output and error output."""
    def run(*words, text=CONFIGURATION, inventory=NO_HOSTS, **values):
        file = tmp_path / 'nova-holistic.conf'
        file.write_text(text.format(**{
            'directory': tmp_path, 'placement': 'http://nowhere.example.org',
            'nova': 'http://nova.example.org',
            'table': f'sqlite:///{tmp_path}/table.sqlite', **values}))
        (tmp_path / 'inventory.yaml').write_text(inventory)
        code = manage.main(['--config-file', str(file), *words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def world(tmp_path):
    with World(tmp_path) as world:
        yield world
