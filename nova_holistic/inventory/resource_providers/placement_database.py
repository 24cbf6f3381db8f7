# SPDX-License-Identifier: Apache-2.0
"""Read-only transactions in Placement's database."""

from collections.abc import Collection, Iterator
import contextlib

from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import enginefacade
import sqlalchemy as sa
from sqlalchemy import exc as sa_exception

from nova_holistic.inventory.errors import DatabaseFailed
from nova_holistic.inventory.resource_providers.placement_schema import (
    check_revision)


class PlacementDatabase:
    """The database refuses every writing statement in these transactions,
    independent of the rights of the user.

    The object connects when the first transaction begins, so that a service
    may create it before it forks.
    """

    def __init__(self, url: str, revisions: Collection[str] = ()):
        """
        :param url: SQLAlchemy URL
        :param revisions: revisions of schemas that are accepted in addition to
            the known ones
        """
        self._revisions = tuple(revisions)
        self._facade = enginefacade.transaction_context()
        self._facade.configure(connection=url, max_retries=0)

    @contextlib.contextmanager
    def view(self) -> Iterator[sa.Connection]:
        """A connection whose statements all see the state of one moment.

        :raises DatabaseFailed: the database does not answer, refuses a
            statement, or has an unknown schema or an unsupported type
        """
        with _translated():
            engine = self._facade.reader.get_engine()
            begin = _BEGIN.get(engine.dialect.name)
            if begin is None:
                raise DatabaseFailed(f'{engine.dialect.name} is not supported')
            with engine.connect() as connection:
                begin(connection)
                check_revision(connection, self._revisions)
                yield connection

    def close(self) -> None:
        """Close all connections."""
        with _translated():
            self._facade.reader.get_engine().dispose()


def _on_sqlite(connection: sa.Connection) -> None:
    # oslo.db begins the transaction.
    connection.exec_driver_sql('PRAGMA query_only = ON')


def _on_mysql(connection: sa.Connection) -> None:
    connection.execution_options(isolation_level='REPEATABLE READ')
    connection.exec_driver_sql(
        'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')


def _on_postgresql(connection: sa.Connection) -> None:
    connection.execution_options(
        isolation_level='REPEATABLE READ', postgresql_readonly=True)


_BEGIN = {'sqlite': _on_sqlite, 'mysql': _on_mysql, 'mariadb': _on_mysql,
          'postgresql': _on_postgresql}


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Raise errors of the database as DatabaseFailed. An ImportError means
    that the driver of the database is missing."""
    try:
        yield
    except (db_exception.DBError, db_exception.DBInvalidUnicodeParameter,
            sa_exception.SQLAlchemyError, ImportError) as error:
        raise DatabaseFailed(str(error).partition('\n')[0]) from error
    except KeyError as error:
        raise DatabaseFailed(
            f'a row refers to the id {error}, which does not exist') from error
