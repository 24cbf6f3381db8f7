# SPDX-License-Identifier: Apache-2.0
"""The migrations lead to the schema of the models."""

import importlib
import pkgutil
import re

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.dialects import postgresql
from sqlalchemy import schema

from nova_holistic.table.database import Database
from nova_holistic.table import errors
from nova_holistic.table import migration
from nova_holistic.table import schema as project_schema
from nova_holistic.table.schema import models
from tests.statements import recorded

# The metadata contains the tables of the imported modules only.
for found in pkgutil.iter_modules(project_schema.__path__):
    importlib.import_module(f'{project_schema.__name__}.{found.name}')


def test_an_empty_database_is_upgraded_to_the_newest_version(empty_url):
    for _ in range(2):
        migration.upgrade(empty_url)
        assert migration.version(empty_url) == migration.head()


def test_a_folder_that_cannot_be_created_is_named(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(errors.TableError, match=(
            f'{tmp_path}/file/folder cannot be created: Not a directory; '
            r'check \[holistic_database\] connection')):
        migration.upgrade(f'sqlite:///{tmp_path}/file/folder/table.sqlite')


def test_a_missing_folder_of_the_table_names_the_option(tmp_path):
    """Without a configuration file, the table is in a folder that usually does
    not exist."""
    with pytest.raises(errors.TableError, match=(
            'unable to open database file; '
            r'check \[holistic_database\] connection')):
        migration.version(f'sqlite:///{tmp_path}/folder/table.sqlite')


class BrokenOff(Exception):
    pass


def test_an_interrupted_upgrade_is_continued(empty_url):
    """The upgrade is repeated until it ends. Each attempt makes two schema
    changes more than the previous one before it is interrupted."""
    broken = 0
    while not upgraded(empty_url, broken):
        broken += 2
    assert broken > 10
    with Database(empty_url).engine.connect() as connection:
        assert difference(connection) == []


def upgraded(url, changes):
    """Return whether an upgrade ends within this number of schema changes."""
    database, done = Database(url), []

    def allow(statement):
        if statement.split()[0] in ('CREATE', 'ALTER', 'DROP'):
            if len(done) == changes:
                raise BrokenOff
            done.append(statement)

    try:
        with recorded(database.engine, before=allow):
            migration.upgrade(database)
    except BrokenOff:
        return False
    finally:
        database.close()
    return True


def test_an_unknown_schema_version_raises_table_error(
        empty_url):
    migration.upgrade(empty_url)
    database = Database(empty_url)
    with database.writer() as session:
        session.execute(sa.text(
            f"UPDATE {migration.VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(errors.TableError, match='9999'):
        migration.upgrade(database)
    database.close()


def test_the_folder_of_a_sqlite_file_is_created(tmp_path):
    url = f'sqlite:///{tmp_path}/new/table.sqlite'
    migration.upgrade(url)
    assert migration.version(url) == migration.head()


def test_an_empty_database_has_no_version(empty_url):
    assert migration.version(empty_url) is None


def test_the_migrated_schema_equals_the_models(table_url):
    with Database(table_url).engine.connect() as connection:
        assert difference(connection) == []


def difference(connection):
    return compare_metadata(MigrationContext.configure(connection, opts={
        'version_table': migration.VERSION_TABLE, 'compare_type': True}),
        models.Base.metadata)


@pytest.mark.parametrize('dialect', [
    mysql.dialect(), postgresql.dialect()], ids=lambda d: d.name)
def test_the_tables_compile_for_other_dialects(dialect):
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
