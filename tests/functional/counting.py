# SPDX-License-Identifier: Apache-2.0
"""What a piece of work asks of the databases and of Placement."""

import contextlib
import dataclasses
import re
import time

from keystoneauth1 import session
import sqlalchemy as sa

UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


@dataclasses.dataclass
class Calls:
    """SQL statements of every database in the process, Nova's, Placement's
    and ours without BEGIN, and requests over HTTP without UUIDs."""

    sql: list[str] = dataclasses.field(default_factory=list)
    http: list[str] = dataclasses.field(default_factory=list)


def wait_until_quiet(pause=0.3, limit=60.0):
    """Wait for what services that have just started still have to do.

    :param pause: seconds without a statement that are taken for quiet; the
        services look for messages every 0.05 seconds
    :param limit: seconds after which a cloud is not going to be
    """
    latest = start = time.monotonic()

    def executed(*arguments):
        nonlocal latest
        latest = time.monotonic()

    sa.event.listen(sa.Engine, 'before_cursor_execute', executed)
    try:
        while time.monotonic() - latest < pause:
            assert time.monotonic() - start < limit
            time.sleep(pause / 10)
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', executed)


@contextlib.contextmanager
def counted():
    """Calls of all threads while the block runs."""
    wait_until_quiet()
    calls = Calls()

    def executed(connection, cursor, statement, *arguments):
        if statement != 'BEGIN':
            calls.sql.append(statement)

    request = session.Session.request

    def requested(self, url, method, **kwargs):
        calls.http.append(f'{method} {UUID.sub("UUID", url)}')
        return request(self, url, method, **kwargs)

    sa.event.listen(sa.Engine, 'before_cursor_execute', executed)
    session.Session.request = requested
    try:
        yield calls
    finally:
        session.Session.request = request
        sa.event.remove(sa.Engine, 'before_cursor_execute', executed)
