# SPDX-License-Identifier: Apache-2.0
"""Brings the database's schema to the version of this code."""

import pathlib

from alembic import command
from alembic import config as alembic_config
from alembic.runtime import migration
from alembic.script import ScriptDirectory

from nova_holistic.table.database import Database, make_directory

SCRIPTS = pathlib.Path(__file__).parent / 'migrations'
VERSION_TABLE = 'holistic_alembic_version'


def upgrade(connection: str | Database) -> None:
    """Upgrade to head; nothing happens where that is done already.

    :param connection: SQLAlchemy URL, or a Database made from one
    """
    if isinstance(connection, str):
        make_directory(connection)
        connection = Database(connection)
    with connection.engine.connect() as link:
        config = _config()
        config.attributes['connection'] = link
        command.upgrade(config, 'head')


def version(connection: str | Database) -> str | None:
    """The schema's revision, None in an empty database."""
    if isinstance(connection, str):
        connection = Database(connection)
    with connection.engine.connect() as link:
        return migration.MigrationContext.configure(
            link, opts={'version_table': VERSION_TABLE}).get_current_revision()


def head() -> str | None:
    """The revision that this code expects."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> alembic_config.Config:
    config = alembic_config.Config()
    # ConfigParser, behind it, takes % for an interpolation.
    config.set_main_option(
        'script_location', str(SCRIPTS).replace('%', '%%'))
    return config
