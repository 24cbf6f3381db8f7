# SPDX-License-Identifier: Apache-2.0
"""Upgrades the database's schema to the version of this code."""

import pathlib

from alembic import command
from alembic import config as alembic_config
from alembic.runtime import migration
from alembic.script import ScriptDirectory
from alembic import util as alembic_util
from oslo_log import log as logging

from nova_holistic.table import character_set
from nova_holistic.table.database import (
    Database, make_directory, translate_errors)
from nova_holistic.table import errors

LOG = logging.getLogger(__name__)

SCRIPTS = pathlib.Path(__file__).parent / 'migrations'
VERSION_TABLE = 'holistic_alembic_version'
NEEDED = '0034'
"""The oldest revision that this code can use. A later revision does not change
this value if it contains no table or column that this code uses, and no index
that is named in a statement."""


def upgrade(connection: str | Database, to: str = 'head') -> None:
    """Upgrade the schema. A current schema is unchanged, and an interrupted
    migration is continued.

    :param connection: SQLAlchemy URL, or a Database made from one
    :param to: the target revision; head means that of this code
    :raises TableError: the database does not respond, does not allow the
        upgrade, or is empty and cannot store every name
    """
    if isinstance(connection, str):
        make_directory(connection)
        connection = Database(connection)
    _check_character_set(connection)
    with translate_errors(), connection.engine.connect() as link:
        config = _config()
        config.attributes['connection'] = link
        try:
            command.upgrade(config, to)
        except alembic_util.CommandError as error:
            raise errors.TableError(f'placement table: {error}') from error


def _check_character_set(database: Database) -> None:
    """An existing schema is upgraded, because the remedy takes a dump of the
    database."""
    problem = character_set.problem(database)
    if problem is None:
        return
    if version(database) is None:
        raise errors.TableError(f'placement table: {problem}')
    LOG.warning('Placement table: %s', problem)


def version(connection: str | Database) -> str | None:
    """The schema's revision, None in an empty database.

    :raises TableError: the database does not respond
    """
    if isinstance(connection, str):
        connection = Database(connection)
    with connection.reader() as session:
        return migration.MigrationContext.configure(
            session.connection(),
            opts={'version_table': VERSION_TABLE}).get_current_revision()


def check_schema_current(connection: str | Database) -> None:
    """Ensure that the schema has the version of this code, or a later one.

    :raises SchemaTooOld: the schema is older than this code
    :raises TableError: the database does not respond
    """
    _must_have(connection, head())


def check_schema_usable(connection: str | Database) -> None:
    """Ensure that this code can use the schema.

    :raises SchemaTooOld: the schema is older than this code can use
    :raises TableError: the database does not respond
    """
    _must_have(connection, NEEDED)


def _must_have(connection: str | Database, oldest: str | None) -> None:
    """Accepts a newer schema that this code does not know, because an upgrade
    begins with the schema."""
    found = version(connection)
    older = {script.revision for script in ScriptDirectory.from_config(
        _config()).iterate_revisions(oldest, 'base')} - {oldest}
    if found is None or found in older:
        raise errors.SchemaTooOld(found, head(), NEEDED)


def head() -> str | None:
    """The revision that this code expects."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> alembic_config.Config:
    config = alembic_config.Config()
    # ConfigParser, which alembic uses, treats % as an interpolation.
    config.set_main_option(
        'script_location', str(SCRIPTS).replace('%', '%%'))
    return config
