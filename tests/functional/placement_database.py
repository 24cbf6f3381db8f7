# SPDX-License-Identifier: Apache-2.0
"""One database for every Placement that the tests start in this process."""

import collections
import contextlib
import functools
import sqlite3

from alembic import script
import fixtures
from oslo_config import cfg
from oslo_db.sqlalchemy import engines
from placement import conf as placement_options
from placement import db_api, deploy
from placement.db.sqlalchemy import migration
import sqlalchemy as sa

SYNCED = ('placement.objects.trait._TRAITS_SYNCED',
          'placement.objects.resource_class._RESOURCE_CLASSES_SYNCED')
"""Flags of Placement. They state that its database has all traits and resource
classes."""
URL = 'sqlite://'
CONTENT = 'resource_providers', 'inventories', 'consumers', 'allocations'
USED = """
SELECT class.name, (
    SELECT coalesce(sum(used), 0) FROM allocations
    WHERE resource_provider_id = provider.id
    AND resource_class_id = class.id)
FROM inventories
JOIN resource_providers AS provider ON provider.id = resource_provider_id
JOIN resource_classes AS class ON class.id = resource_class_id
WHERE provider.uuid = :provider"""
CONSUMERS = """
SELECT consumer_id, class.name, used
FROM allocations
JOIN resource_providers AS provider ON provider.id = resource_provider_id
JOIN resource_classes AS class ON class.id = resource_class_id
WHERE provider.uuid = :provider"""

_remembered = {}
"""Copies of the database with their descriptions, by key."""


class PlacementDatabase(fixtures.Fixture):
    """Until the end of the fixture, Placement uses the shared database.

    Schema, traits and resource classes are made once per process. At the end
    the database is emptied. An embedded cloud that runs at the same time has a
    separate database, and must not be used before the end of the fixture.

    :ivar engine: SQLAlchemy engine of the database
    """

    _in_use = False

    def _setUp(self):
        if PlacementDatabase._in_use:
            raise RuntimeError('the Placement of another test still runs')
        PlacementDatabase._in_use = True
        self.addCleanup(setattr, PlacementDatabase, '_in_use', False)
        self.engine, content = _prepared()
        self.addCleanup(_empty, self.engine, content)
        self.addCleanup(
            db_api.placement_context_manager.patch_engine(self.engine))
        for flag in SYNCED:
            self.useFixture(fixtures.MonkeyPatch(flag, True))

    def remember(self, key, value):
        """Keep a copy of the content, with a value that describes it."""
        _remembered[key] = value, _copy(self.engine)

    def recalled(self, key):
        """Replace the content with the copy of that key, if it exists.

        :returns: the value that was stored with the copy; None if no copy
            exists
        """
        value, content = _remembered.get(key, (None, None))
        if content is not None:
            assert not self.providers(), 'the copy would delete providers'
            _replace(self.engine, content)
        return value

    def save(self, path):
        """Copy the database to a SQLite file; see ``save_copy``."""
        save_copy(self.engine, path)

    def providers(self):
        """UUIDs of all providers."""
        return [uuid for uuid, in self._read(
            'SELECT uuid FROM resource_providers')]

    def used(self, provider):
        """Amount in use of each resource class that the provider offers."""
        return dict(self._read(USED, provider=provider))

    def consumers(self, provider):
        """The allocations of each consumer at the provider, in the form of
        Placement's API.
        """
        found = collections.defaultdict(lambda: {'resources': {}})
        for consumer, kind, amount in self._read(
                CONSUMERS, provider=provider):
            found[consumer]['resources'][kind] = amount
        return dict(found)

    def _read(self, statement, **parameters):
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(
                sa.text(statement), parameters)]


def new_conf():
    """The configuration of a Placement whose database is in memory."""
    conf = cfg.ConfigOpts()
    placement_options.register_opts(conf)
    conf.set_override('connection', URL, group='placement_database')
    # A new connection would have an empty database.
    conf.set_override('connection_recycle_time', -1,
                      group='placement_database')
    return conf


def save_copy(engine, path):
    """Copy Placement's database in memory to a SQLite file.

    The copy has the revision that a migrated database has: Placement's
    fixtures create the tables without it.
    """
    with contextlib.closing(sqlite3.connect(path)) as copy:
        with contextlib.closing(engine.raw_connection()) as connection:
            connection.driver_connection.backup(copy)
        copy.execute('CREATE TABLE IF NOT EXISTS alembic_version ('
                     'version_num VARCHAR(32) NOT NULL)')
        copy.execute('DELETE FROM alembic_version')
        copy.execute('INSERT INTO alembic_version VALUES (?)', (head(),))
        copy.commit()


def head():
    """The newest revision of the installed Placement."""
    return script.ScriptDirectory.from_config(
        migration._alembic_config()).get_current_head()


@functools.cache
def _prepared():
    """An engine, and a copy of its database without any provider."""
    conf = new_conf()
    conf([], default_config_files=[])
    # Placement ignores the call if an embedded cloud has configured the
    # database before.
    db_api.configure(conf)
    engine = engines.create_engine(URL)
    migration.create_schema(engine)
    with contextlib.ExitStack() as stack:
        stack.callback(db_api.placement_context_manager.patch_engine(engine))
        for flag in SYNCED:
            stack.enter_context(fixtures.MonkeyPatch(flag, False))
        deploy.update_database(conf)
    return engine, _copy(engine)


def _copy(engine):
    """A connection to a copy of the whole database in memory."""
    content = sqlite3.connect(':memory:', check_same_thread=False)
    with contextlib.closing(engine.raw_connection()) as connection:
        connection.driver_connection.backup(content)
    return content


def _replace(engine, content):
    """Replace the content of the database."""
    with contextlib.closing(engine.raw_connection()) as connection:
        content.backup(connection.driver_connection)


def _empty(engine, content):
    _replace(engine, content)
    with contextlib.closing(engine.raw_connection()) as connection:
        for table in CONTENT:
            found = connection.driver_connection.execute(
                f'SELECT count(*) FROM {table}').fetchone()
            assert found == (0,), f'{found[0]} rows are left in {table}'
