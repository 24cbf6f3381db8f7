# SPDX-License-Identifier: Apache-2.0
"""What some engine has to do every so often, and no two at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
import threading
import time

from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.table.jobs import Jobs

LOG = logging.getLogger(__name__)

LOOKS = 4
"""How often an engine looks within the time between two rounds of a chore,
for none of another engine's."""


@dataclass(frozen=True, slots=True)
class Chore:
    """
    :ivar interval: seconds between two rounds; 0 is never
    """

    do: Callable[[], object]
    interval: float


class Chores:
    """One thread; a claim in the table keeps other engines from the same."""

    def __init__(self, chores: Mapping[str, Chore], jobs: Jobs, engine: str,
                 stale_after: float, clock: Callable[[], datetime]):
        """
        :param chores: by the name that the table knows them by
        :param stale_after: seconds without a sign of life after which a round
            that another engine has begun counts as broken off
        :param clock: gives naive UTC
        """
        self._chores = {name: chore for name, chore in chores.items()
                        if chore.interval > 0}
        self._jobs = jobs
        self._engine = engine
        self._stale_after = timedelta(seconds=stale_after)
        self._clock = clock
        self._stopping = threading.Event()
        self._at: str | None = None
        self._thread = threading.Thread(
            target=self._serve, daemon=True, name='chores')

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Begin no further round."""
        self._stopping.set()

    def wait(self, deadline: float) -> bool:
        """Whether the round under way has ended by then.

        :param deadline: by the clock of ``time.monotonic``
        """
        if self._thread.ident is not None:
            self._thread.join(max(0.0, deadline - time.monotonic()))
        return not self._thread.is_alive()

    def beat(self) -> None:
        """Give a sign of life for the round under way.

        :raises TableError: the table does not answer
        """
        at = self._at
        if at is not None:
            self._jobs.keep([at], self._engine, self._clock())

    def _serve(self) -> None:
        due = dict.fromkeys(self._chores, time.monotonic())
        while due and not self._stopping.is_set():
            for name in [n for n in due if due[n] <= time.monotonic()]:
                if not self._stopping.is_set():
                    self._try(name, self._chores[name])
                due[name] = (time.monotonic()
                             + self._chores[name].interval / LOOKS)
            self._stopping.wait(max(
                0.0, min(due.values()) - time.monotonic()))

    def _try(self, name: str, chore: Chore) -> None:
        now = self._clock()
        try:
            if self._jobs.take(
                    name, self._engine, now,
                    due_before=now - timedelta(seconds=chore.interval),
                    stale_before=now - self._stale_after):
                self._round(name, chore)
        except exceptions.HolisticError as error:
            LOG.warning('%s is tried again later: %s', name, error)
        except Exception:
            LOG.exception('%s is tried again later', name)

    def _round(self, name: str, chore: Chore) -> None:
        self._at = name
        try:
            chore.do()
        finally:
            self._at = None
            # One that failed is not repeated at once either.
            self._jobs.finish(name, self._engine, self._clock())
