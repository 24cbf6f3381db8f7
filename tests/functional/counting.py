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


QUIET = 20
"""How many times in a row every service may act, and none does, before a cloud
counts as quiet."""


def wait_until_quiet():
    """Wait for what services that have just started still have to do.

    A slow machine lets services act less often in a second, so that turns
    are counted and not seconds.
    """
    turns = 0

    def executed(*arguments):
        nonlocal turns
        turns = 0

    sa.event.listen(sa.Engine, 'before_cursor_execute', executed)
    try:
        for _ in range(100 * QUIET):
            if turns == QUIET:
                return
            turns += 1
            time.sleep(0.05)
        raise AssertionError('the cloud is never quiet')
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
