# SPDX-License-Identifier: Apache-2.0
"""Settings of a boot, and its result for each member."""

from collections.abc import Sequence
from dataclasses import dataclass

from nova_holistic import exceptions


@dataclass(frozen=True, slots=True)
class Settings:
    """
    :ivar parallel: number of creates at the same time
    :ivar retries: number of further attempts for a server that fails
    :ivar timeout: seconds to wait for a server, or for its place
    """

    parallel: int = 10
    retries: int = 2
    timeout: float = 600


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    :ivar member: path
    :ivar server: its UUID; None if no server exists
    :ivar error: why the server is not active; empty if it is active
    """

    member: str
    server: str | None
    error: str = ''


class AttemptFailed(exceptions.HolisticError):
    """One attempt to create a server failed.

    :ivar final: whether a further attempt would fail in the same way
    :ivar pause: minimum time in seconds before a further attempt
    """

    def __init__(self, message: str, final: bool = False, pause: float = 0):
        super().__init__(message)
        self.final = final
        self.pause = pause


class Stopped(exceptions.HolisticError):
    """The user interrupted the boot."""


def failure_table(failed: Sequence[Outcome]) -> str:
    """Members, their servers and errors in columns, with a header."""
    rows = [('member', 'server', 'error'), *(
        (outcome.member, outcome.server or '-',
         ' '.join(outcome.error.split()))
        for outcome in failed)]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return '\n'.join('  '.join((row[0].ljust(widths[0]),
                                row[1].ljust(widths[1]), row[2]))
                     for row in rows)
