# SPDX-License-Identifier: Apache-2.0
"""A recorder of the SQL statements that a block of code sends."""

import contextlib
import dataclasses
from typing import Any

import sqlalchemy as sa

IGNORED = 'BEGIN', 'PRAGMA'
"""The beginnings of statements that are not counted."""


@dataclasses.dataclass(frozen=True)
class Statement:
    """One statement and its parameters."""

    text: str
    parameters: Any


class Recorder:
    """The recorded statements.

    :ivar sent: each Statement, in the order in which they were sent
    """

    def __init__(self):
        self.sent = []

    @property
    def statements(self):
        """The text of each statement."""
        return [each.text for each in self.sent]


@contextlib.contextmanager
def recorded(engine=sa.Engine, before=None):
    """Record the statements of all threads while the block runs.

    :param engine: engine whose statements are recorded; the default is every
    engine in the process
    :param before: called with the text of each statement before it is sent; if
    it raises an error, the statement is not sent
    """
    recorder = Recorder()

    def listen(_connection, _cursor, text, parameters, *_):
        if text.startswith(IGNORED):
            return
        if before is not None:
            before(text)
        recorder.sent.append(Statement(text, parameters))

    sa.event.listen(engine, 'before_cursor_execute', listen)
    try:
        yield recorder
    finally:
        sa.event.remove(engine, 'before_cursor_execute', listen)
