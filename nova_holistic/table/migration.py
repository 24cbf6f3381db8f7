# SPDX-License-Identifier: Apache-2.0
"""Brings the database's schema to the version of this code."""

import pathlib

from alembic import command
from alembic import config as alembic_config
from alembic.runtime import migration
from alembic.script import ScriptDirectory

from nova_holistic.table.database import Database, make_directory
from nova_holistic.table import errors

SCRIPTS = pathlib.Path(__file__).parent / 'migrations'
VERSION_TABLE = 'holistic_alembic_version'


def upgrade(connection: str | Database, to: str = 'head') -> None:
    """Upgrade; nothing happens where that is done already.

    :param connection: SQLAlchemy URL, or a Database made from one
    :param to: the revision to be reached; head is that of this code
    """
    if isinstance(connection, str):
        make_directory(connection)
        connection = Database(connection)
    with connection.engine.connect() as link:
        config = _config()
        config.attributes['connection'] = link
        command.upgrade(config, to)


def version(connection: str | Database) -> str | None:
    """The schema's revision, None in an empty database."""
    if isinstance(connection, str):
        connection = Database(connection)
    with connection.engine.connect() as link:
        return migration.MigrationContext.configure(
            link, opts={'version_table': VERSION_TABLE}).get_current_revision()


def must_be_current(connection: str | Database) -> None:
    """
    :raises TableError: the schema is older than this code, or the database
        does not answer. A newer one is no error: an upgrade begins with it.
    """
    found, scripts = version(connection), ScriptDirectory.from_config(
        _config())
    expected = scripts.get_current_head()
    older = {each.revision for each in scripts.walk_revisions()} - {expected}
    if found is None or found in older:
        raise errors.TableError(
            f'placement table: the schema is at {found or "nothing"}, and '
            f'this code needs {expected}: run nova-holistic-manage db '
            f'upgrade')


def head() -> str | None:
    """The revision that this code expects."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> alembic_config.Config:
    config = alembic_config.Config()
    # ConfigParser, behind it, takes % for an interpolation.
    config.set_main_option(
        'script_location', str(SCRIPTS).replace('%', '%%'))
    return config
