# SPDX-License-Identifier: Apache-2.0
"""The migrations lead to what the models say."""

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from nova_holistic.table.database import Database
from nova_holistic.table import migration, models


def test_an_empty_database_is_brought_to_the_newest_version(tmp_path):
    url = f'sqlite:///{tmp_path}/new/table.sqlite'
    migration.upgrade(url)
    assert migration.version(url) == migration.head()
    migration.upgrade(url)
    assert migration.version(url) == migration.head()


def test_an_empty_database_has_no_version(tmp_path):
    assert migration.version(f'sqlite:///{tmp_path}/table.sqlite') is None


def test_models_and_migrations_agree(tmp_path):
    url = f'sqlite:///{tmp_path}/table.sqlite'
    migration.upgrade(url)
    with Database(url).engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={
            'version_table': migration.VERSION_TABLE, 'compare_type': True})
        assert compare_metadata(context, models.Base.metadata) == []
