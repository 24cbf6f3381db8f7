# SPDX-License-Identifier: Apache-2.0
"""Transactions on the placement table's database."""

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
from dataclasses import dataclass, field
import pathlib
from typing import Any

from oslo_db import api as oslo_db_api
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import enginefacade
from oslo_log import log as logging
import sqlalchemy as sa
from sqlalchemy import exc as sa_exception
from sqlalchemy import orm
from sqlalchemy import pool

from nova_holistic.table import errors
from nova_holistic.table.history import events
from nova_holistic.table import kept_connections
from nova_holistic.table import single_read

LOG = logging.getLogger(__name__)

READ_COMMITTED = 'READ COMMITTED'
BUSY_TIMEOUT = 30_000
"""Milliseconds for which an SQLite transaction waits for another writer."""
ROWS_AT_ONCE = 100
"""Maximum number of rows in one INSERT to MariaDB or MySQL. A row takes a few
kilobytes, and a server accepts statements of 16 MiB by default."""

_CHECK_URL = 'check [holistic_database] connection'

Listener = Callable[[Sequence[events.Event]], object]
"""A function that receives the events of a transaction after its commit. It
returns immediately."""


class Duplicate(errors.TableError):
    """A row with that key already exists."""


class Deadlock(errors.TableError):
    """Two transactions waited for each other, and the database rolled back
    this one."""


retried = oslo_db_api.wrap_db_retry(
    max_retries=20, retry_interval=0.01, max_retry_interval=0.5, jitter=True,
    exception_checker=lambda error: isinstance(error, Deadlock))
"""A decorator of a function that is one transaction. It calls the function
again if the database rolled the transaction back because of a deadlock."""


@dataclass(frozen=True, slots=True)
class LinkTransaction:
    """A transaction without a session: see ``events.Transaction``.

    :ivar link: the connection of the transaction
    :ivar info: see ``orm.Session.info``
    """

    link: sa.Connection
    info: dict[Any, Any] = field(default_factory=dict)

    def connection(self) -> sa.Connection:
        """See ``orm.Session.connection``."""
        return self.link

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """See ``sa.Connection.execute``."""
        return self.link.execute(statement, parameters)

    def scalar(self, statement: Any) -> Any:
        """See ``sa.Connection.scalar``."""
        return self.link.scalar(statement)

    def scalars(self, statement: Any) -> Any:
        """See ``sa.Connection.scalars``."""
        return self.link.scalars(statement)


@enginefacade.transaction_context_provider
class _Context:
    """The object to which enginefacade attaches a session; one for each
    transaction, so that threads share none."""


class Database:
    """Short transactions that convert errors of the database to errors of this
    project.

    The first transaction makes the first connection. Therefore, an object that
    was created before a service forks is safe to use after the fork.
    Connections are kept for later transactions, also on SQLite.

    On SQLite, the first statement of a writing transaction must write. If a
    transaction reads first, its view may be stale when it writes. SQLite then
    refuses the write immediately instead of waiting.
    """

    def __init__(self, connection: str, service: str = '', **options: Any):
        """:param connection: SQLAlchemy URL
        :param service: name of the service in the events that it writes
        :param options: options of oslo.db's enginefacade
        """
        self._service = service
        self._listeners: list[Listener] = []
        self._facade = enginefacade.transaction_context()
        self._facade.configure(
            connection=_for_any_text(connection),
            # Drivers yield to green threads while they wait for the network.
            # With thread_checkin, oslo.db would also yield after each
            # transaction.
            **{'sqlite_fk': True, 'max_retries': 0, 'thread_checkin': False,
               **kept_connections.applicable(connection, options)})
        self._facade.append_on_engine_create(_prepare)
        self._engines = self._facade.writer

    @property
    def engine(self) -> sa.Engine:
        """The engine of SQLAlchemy."""
        with translate_errors():
            return self._engines.get_engine()

    def close(self) -> None:
        """Close all connections that no transaction uses."""
        with contextlib.suppress(errors.TableError):
            self.engine.dispose()

    @contextlib.contextmanager
    def reader(self) -> Iterator[orm.Session]:
        """A transaction that only reads."""
        with (translate_errors(),
              self._facade.reader.using(_Context()) as session):
            yield session

    @contextlib.contextmanager
    def link(self) -> Iterator[sa.Connection]:
        """A reader without a session, for the single statements that are sent
        for each server that Nova places. A session, or the context of a
        transaction of enginefacade, takes half as long as such a statement.
        Each statement reads its own point in time."""
        with translate_errors(), single_read.connection(
                self._engines.get_engine()) as link:
            yield link

    @contextlib.contextmanager
    def view(self) -> Iterator[orm.Session]:
        """A reader whose queries all see the same point in time."""
        with self.reader() as session:
            match self.engine.dialect.name:
                case 'sqlite':
                    # A transaction always sees one point in time.
                    pass
                case 'mysql':
                    # For the next transaction only. SQLAlchemy would change
                    # the session, restore it, and send a COMMIT after both.
                    with session.connection().connection.cursor() as cursor:
                        cursor.execute('SET TRANSACTION ISOLATION LEVEL '
                                       'REPEATABLE READ')
                case _:
                    session.connection(execution_options={
                        'isolation_level': 'REPEATABLE READ'})
            yield session

    @contextlib.contextmanager
    def writer(self) -> Iterator[orm.Session]:
        """A transaction that writes. After the commit, the listeners receive
        its events."""
        with (translate_errors(),
              self._facade.writer.using(_Context()) as session):
            session.info[events.SERVICE] = self._service
            yield session
        self._notify_listeners(session.info)

    @contextlib.contextmanager
    def link_writer(self) -> Iterator[LinkTransaction]:
        """A writer without a session, for the transactions that are made for
        each group and each server. A session, and the context of a
        transaction of enginefacade, take as long as a small transaction."""
        with translate_errors(), self._engines.get_engine().begin() as link:
            transaction = LinkTransaction(
                link, {events.SERVICE: self._service})
            yield transaction
        self._notify_listeners(transaction.info)

    def listen(self, listener: Listener) -> None:
        """Call the listener with the events of each transaction after the
        commit."""
        self._listeners.append(listener)

    def _notify_listeners(self, info: Mapping[Any, Any]) -> None:
        """:param info: the information of a committed transaction"""
        written = info.get(events.WRITTEN)
        for listener in self._listeners if written else ():
            try:
                listener(written)
            except Exception:
                LOG.exception('A listener of events failed; the events are in '
                              'the table')


def _for_any_text(connection: str | None) -> str | None:
    """The URL; for MariaDB and MySQL, with a charset for all of Unicode.
    Without it, oslo.db uses a charset with at most three bytes per
    character."""
    try:
        url = sa.make_url(connection)
    except sa_exception.ArgumentError:
        # The first connection will report the error.
        return connection
    if url.get_backend_name() != 'mysql' or url.query.get(
            'charset', 'utf8') not in ('utf8', 'utf8mb3'):
        return connection
    return url.update_query_dict({'charset': 'utf8mb4'}).render_as_string(
        hide_password=False)


def make_directory(connection: str) -> None:
    """Create the directory of an SQLite file if the URL names one.

    :raises TableError: the directory cannot be created
    """
    url = sa.make_url(connection)
    if url.get_backend_name() == 'sqlite' and url.database not in (
            None, '', ':memory:'):
        directory = pathlib.Path(url.database).parent
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise errors.TableError(
                f'placement table: {directory} cannot be created: '
                f'{error.strerror}; {_CHECK_URL}') from error


def _prepare(engine: sa.Engine) -> None:
    if engine.dialect.name == 'sqlite':
        sa.event.listen(engine, 'connect', _prepare_sqlite)
        if isinstance(engine.pool, pool.NullPool):
            kept_connections.keep_sqlite(engine)
    else:
        kept_connections.test_idle_only(engine)
    if engine.dialect.name == 'mysql':
        # SQLAlchemy reads the default isolation level from the first
        # connection, and restores it after a view. This listener must set the
        # level before that. If oslo.db has already opened the first
        # connection, SQLAlchemy has read another default, and the connection
        # must not be used.
        sa.event.listen(engine, 'connect', _prepare_mysql, insert=True)
        engine.dialect.default_isolation_level = READ_COMMITTED
        # PyMySQL sends one statement for each row if a value is an expression,
        # such as the time of the change.
        engine.dialect.use_insertmanyvalues_wo_returning = True
        engine.dialect.insertmanyvalues_page_size = ROWS_AT_ONCE
        if engine.dialect.driver == 'pymysql':
            kept_connections.roll_back_once(engine)
        engine.dispose()


def _prepare_sqlite(connection, _record) -> None:
    # Readers and the one writer do not wait for each other in WAL mode.
    connection.execute(f'PRAGMA busy_timeout = {BUSY_TIMEOUT}')
    connection.execute('PRAGMA journal_mode = WAL')


def _prepare_mysql(connection, _record) -> None:
    # PostgreSQL has the same default. At the default level of MariaDB, a
    # statement also locks gaps between rows, and transactions that write
    # groups at the same time wait for each other.
    with connection.cursor() as cursor:
        cursor.execute(
            f'SET SESSION TRANSACTION ISOLATION LEVEL {READ_COMMITTED}')


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    """Convert errors of the database to errors of this project; an ImportError
    means that its driver is missing."""
    try:
        yield
    except db_exception.DBDuplicateEntry as error:
        raise Duplicate(f'placement table: {_first_line(error)}') from error
    except db_exception.DBDeadlock as error:
        raise Deadlock(f'placement table: {_first_line(error)}') from error
    except (db_exception.DBError, db_exception.DBInvalidUnicodeParameter,
            sa_exception.SQLAlchemyError, ImportError) as error:
        text = _first_line(error)
        if 'unable to open database file' in text:
            # SQLite's message does not name the file.
            text += f'; {_CHECK_URL}'
        raise errors.TableError(f'placement table: {text}') from error


def _first_line(error: Exception) -> str:
    return str(error).partition('\n')[0]
