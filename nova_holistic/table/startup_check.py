# SPDX-License-Identifier: Apache-2.0
"""Check the placement table before a service starts."""

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
"""Seconds that a service waits at its start for a database that is silent."""

_MYSQL, _POSTGRESQL = ('connect_timeout', 'read_timeout'), (
    'connect_timeout',)
_TIMEOUTS = {'pymysql': _MYSQL, 'mysqldb': _MYSQL, 'psycopg2': _POSTGRESQL,
             'psycopg': _POSTGRESQL}
"""Parameters in seconds that drivers take with a connection."""


def must_be_usable(conf) -> None:
    """A service that cannot work with the schema does not start.

    A service also starts if the database is unavailable: it has other work,
    and connects to the database again with each request.

    :raises SchemaTooOld: the schema is older than this code can use
    :raises TableError: the configuration names no database
    """
    database = Database(**_impatient(dict(conf.holistic_database)))
    try:
        migration.must_be_usable(database)
    except errors.SchemaTooOld:
        raise
    except errors.TableError as error:
        LOG.warning('It is not known yet whether the schema of the placement '
                    'table can be used: %s', error)
    finally:
        # A process that forks after this shares no connection.
        database.close()


def _impatient(options: dict[str, Any]) -> dict[str, Any]:
    """Those of the service, but for how long it waits."""
    try:
        url = sa.make_url(options['connection'])
        url.get_dialect()
        names = _TIMEOUTS.get(url.get_driver_name(), ())
    except sa_exception.ArgumentError as error:
        # Not what it was: there may be a password in it.
        raise errors.TableError('[holistic_database] connection is not the '
                                'URL of a supported database') from error
    given = options.get('connection_parameters') or ''
    known = {*url.query, *parse.parse_qs(given)}
    return {**options, 'max_retries': 0, 'connection_parameters': '&'.join([
        *filter(None, [given]), *(f'{name}={CONNECT_TIMEOUT}'
                                  for name in names if name not in known)])}
