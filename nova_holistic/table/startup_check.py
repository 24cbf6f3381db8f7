# SPDX-License-Identifier: Apache-2.0
"""Checks the placement table before a service starts."""

import contextlib
from typing import Any
from urllib import parse

from oslo_log import log as logging
import sqlalchemy as sa
from sqlalchemy import exc as sa_exception

from nova_holistic.table.database import Database
from nova_holistic.table import errors
from nova_holistic.table import migration

LOG = logging.getLogger(__name__)

CONNECT_TIMEOUT = 5
"""Timeout in seconds for connecting to the database, and for its responses,
when a service starts."""

_MYSQL, _POSTGRESQL = ('connect_timeout', 'read_timeout'), (
    'connect_timeout',)
_TIMEOUTS = {'pymysql': _MYSQL, 'mysqldb': _MYSQL, 'psycopg2': _POSTGRESQL,
             'psycopg': _POSTGRESQL}
"""Names of connection parameters that set a timeout in seconds, by driver."""


def check_schema_usable(conf) -> None:
    """Ensure that a service can use the schema.

    If the database is unavailable, a warning is logged and the service starts,
    because it also has other work and connects to the database again with each
    request.

    :raises SchemaTooOld: the schema is older than this code can use
    :raises InvalidUrl: the configuration names no database
    :raises InvalidConnection: the driver of the database is not installed, or
        rejects an option
    """
    database = Database(**_with_short_timeout(dict(conf.holistic_database)))
    try:
        _connect(database)
        # A process that forks after this shares no connection.
        with contextlib.closing(database):
            migration.check_schema_usable(database)
    except (errors.InvalidConnection, errors.SchemaTooOld):
        raise
    except errors.TableError as error:
        LOG.warning('The schema of the placement table could not be checked: '
                    '%s', error)


def check_url(conf) -> None:
    """Check the URL of the database without connecting to it.

    :raises InvalidUrl: the configuration names no database
    """
    _driver(conf.holistic_database.connection)


def connected(conf) -> Database:
    """The database, after the first connection to it.

    :raises InvalidUrl: the configuration names no database
    :raises InvalidConnection: the driver of the database is not installed, or
        rejects an option
    :raises TableError: the database does not respond
    """
    check_url(conf)
    database = Database(**dict(conf.holistic_database))
    _connect(database)
    return database


def _connect(database: Database) -> None:
    try:
        with database.reader() as session:
            session.connection()
    except errors.TableError as error:
        # psycopg2 reports an unknown parameter as an invalid DSN.
        if 'invalid dsn' in str(error) or isinstance(
                error.__cause__, ImportError | sa_exception.ArgumentError):
            raise errors.InvalidConnection(error) from error
        raise
    except (AttributeError, OSError, TypeError, ValueError) as error:
        # PyMySQL does not convert these errors of unknown parameters, invalid
        # values and missing files.
        raise errors.InvalidConnection(error) from error


def _driver(connection: str) -> tuple[sa.URL, str]:
    """The parsed URL and the name of its driver."""
    try:
        url = sa.make_url(connection)
        url.get_dialect()
        return url, url.get_driver_name()
    except (sa_exception.ArgumentError, ValueError) as error:
        # A port that is not a number causes a ValueError.
        raise errors.InvalidUrl() from error


def _with_short_timeout(options: dict[str, Any]) -> dict[str, Any]:
    """The options of the service with a short timeout and without retries."""
    url, driver = _driver(options['connection'])
    names = _TIMEOUTS.get(driver, ())
    given = options.get('connection_parameters') or ''
    known = {*url.query, *parse.parse_qs(given)}
    return {**options, 'max_retries': 0, 'connection_parameters': '&'.join([
        *filter(None, [given]), *(f'{name}={CONNECT_TIMEOUT}'
                                  for name in names if name not in known)])}
