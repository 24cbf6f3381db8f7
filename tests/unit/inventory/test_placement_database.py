# SPDX-License-Identifier: Apache-2.0
"""The driver only reads Placement's database, and only if it knows the
schema."""

import contextlib
import sqlite3

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.exceptions import HolisticError
from nova_holistic.inventory.errors import DatabaseFailed, MissingAdapter
from nova_holistic.inventory.placement_db import PlacementDatabaseInventory
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'placement.sqlite'


def stamp(path, revision):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            f"CREATE TABLE alembic_version AS SELECT '{revision}' AS "
            'version_num; CREATE TABLE traits (id INTEGER, name TEXT)')


def view(path, *revisions):
    return PlacementDatabase(f'sqlite:///{path}', revisions).view()


@pytest.mark.parametrize('revision', ['422ece571366', 'a082b8bb98d0'])
def test_known_schemas_are_read(path, revision):
    stamp(path, revision)
    with view(path) as connection:
        assert connection.exec_driver_sql('SELECT * FROM traits').all() == []


@pytest.mark.parametrize('revision', ['b5c396305c25', 'future'])
def test_an_unknown_schema_is_refused_unless_accepted(path, revision):
    stamp(path, revision)
    with pytest.raises(DatabaseFailed) as error, view(path):
        pass
    for word in (revision, 'a082b8bb98d0', 'placement_revisions',
                 'driver to placement'):
        assert word in str(error.value)
    with view(path, revision):
        pass


def test_another_database_is_refused(path):
    with pytest.raises(DatabaseFailed, match='not the database of Placement'):
        with view(path):
            pass


def test_a_statement_that_writes_is_refused(path):
    stamp(path, 'a082b8bb98d0')
    with pytest.raises(DatabaseFailed, match='a readonly database'):
        with view(path) as link:
            link.exec_driver_sql("INSERT INTO traits VALUES (1, 'CUSTOM_A')")


@pytest.mark.parametrize(('url', 'message'), [
    ('sqlite:////no/such/folder/file', 'unable to open'),
    ('nonsense', 'parse'),
    ('oracle+none://host/placement', 'load plugin'),
])
def test_a_database_that_does_not_answer_is_an_error(url, message):
    with pytest.raises(DatabaseFailed, match=message):
        with PlacementDatabase(url).view():
            pass


def test_missing_options_are_named():
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], default_config_files=[])
    with pytest.raises(MissingAdapter, match='placement-db.*Nova'):
        PlacementDatabaseInventory.from_conf(conf)
    with pytest.raises(HolisticError, match='placement_connection'):
        PlacementDatabaseInventory.from_conf(conf, compute=object())
