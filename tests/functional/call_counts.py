# SPDX-License-Identifier: Apache-2.0
"""Counts the statements and requests of a piece of work."""

import contextlib
import dataclasses
import re
import time

from keystoneauth1 import session

from tests.statements import recorded, Recorder

UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
QUIET = 8
"""Number of consecutive turns without any action after which a cloud counts as
quiet."""


@dataclasses.dataclass
class Calls:
    """SQL statements of every database in the process (Nova's, Placement's and
    ours) without BEGIN, and HTTP requests without UUIDs."""

    recorder: Recorder
    http: list[str]

    @property
    def sql(self):
        return self.recorder.statements


def wait_until_quiet():
    """Wait until services that have just started send no more statements.

    On a slow machine, services act less often per second. So this function
    counts turns and not seconds.

    :raises AssertionError: services still send statements after 100 times
        ``QUIET`` turns
    """
    turns = 0

    def sent(_text):
        nonlocal turns
        turns = 0

    with recorded(before=sent):
        for _ in range(100 * QUIET):
            if turns == QUIET:
                return
            turns += 1
            time.sleep(0.05)
    raise AssertionError('the cloud is never quiet')


@contextlib.contextmanager
def counted():
    """Calls of all threads while the block runs."""
    wait_until_quiet()
    http = []
    request = session.Session.request

    def requested(self, url, method, **kwargs):
        http.append(f'{method} {UUID.sub("UUID", url)}')
        return request(self, url, method, **kwargs)

    session.Session.request = requested
    try:
        with recorded() as recorder:
            yield Calls(recorder, http)
    finally:
        session.Session.request = request
