# SPDX-License-Identifier: Apache-2.0
"""The migrations lead to what the models say."""

import re

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
import pytest
from sqlalchemy.dialects import mysql
from sqlalchemy.dialects import postgresql
from sqlalchemy import schema

from nova_holistic.table.database import Database
from nova_holistic.table import migration, models


def test_an_empty_database_is_brought_to_the_newest_version(empty_url):
    for _ in range(2):
        migration.upgrade(empty_url)
        assert migration.version(empty_url) == migration.head()


def test_the_folder_of_a_file_is_made(tmp_path):
    url = f'sqlite:///{tmp_path}/new/table.sqlite'
    migration.upgrade(url)
    assert migration.version(url) == migration.head()


def test_an_empty_database_has_no_version(empty_url):
    assert migration.version(empty_url) is None


def test_models_and_migrations_agree(table_url):
    with Database(table_url).engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={
            'version_table': migration.VERSION_TABLE, 'compare_type': True})
        assert compare_metadata(context, models.Base.metadata) == []


@pytest.mark.parametrize('dialect', [
    mysql.dialect(), postgresql.dialect()], ids=lambda d: d.name)
def test_the_tables_can_be_made_elsewhere(dialect):
    for table in models.Base.metadata.sorted_tables:
        text = str(schema.CreateTable(table).compile(dialect=dialect))
        assert text.strip().startswith(f'CREATE TABLE {table.name}')


def test_paths_differ_by_case_on_mariadb():
    table = models.MemberRow.__table__
    text = str(schema.CreateTable(table).compile(dialect=mysql.dialect()))
    assert re.search(r'path VARCHAR\(700\) .*COLLATE utf8mb4_bin', text)


def test_every_key_fits_mariadbs_limit_of_3072_bytes():
    for table in models.Base.metadata.sorted_tables:
        for key in (*table.indexes, *table.constraints):
            lengths = [getattr(column.type, 'length', None) or 2
                       for column in key.columns]
            assert 4 * sum(lengths) <= 3072, key.name
