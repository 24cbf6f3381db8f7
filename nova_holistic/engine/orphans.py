# SPDX-License-Identifier: Apache-2.0
"""Holds in Placement that no row of the table knows.

What is held is written down first, so that a row is gone, and not yet to
come, where Placement has a hold without one. An engine that was taken for
dead leaves such a hold, if its put is carried out after another engine has
planned the group anew, and it then dies before it can drop it.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
import functools
from typing import Any

from oslo_log import log as logging

from nova_holistic.engine import journal
from nova_holistic import exceptions
from nova_holistic.holds.client import HOLD, HoldClient
from nova_holistic.table import consumers
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

LEAST = 3
"""Requests without which a pass would not get on: for all providers, for the
consumers of one, and for one of those."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """
    :ivar hold: UUID of the consumer
    :ivar found: its allocations, as Placement shows them
    """

    hold: str
    found: Mapping[str, Any]

    @property
    def project_id(self) -> str:
        return self.found['project_id']

    @property
    def resources(self) -> Mapping[str, Mapping[str, int]]:
        """What it holds, by UUID of the resource provider."""
        return {provider: allocation['resources'] for provider, allocation
                in self.found['allocations'].items()}


class Orphans:
    """For one caller at a time.

    Placement tells who has something at a provider, and of each consumer only
    by itself whether it is a hold: so those are remembered that are not, and
    a sweep over all providers takes many passes.
    """

    def __init__(self, conf, table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime]):
        """:param clock: gives naive UTC"""
        self._conf = conf
        self._table = table
        self._holds = holds
        self._clock = clock
        self._todo: deque[str] = deque()
        self._strangers: dict[str, frozenset[str]] = {}
        self._suspects: dict[str, datetime] = {}

    def sweep(self) -> int:
        """Go on looking, for as many requests as one pass may take.

        :returns: how many holds were dropped
        """
        if not self._conf.reconciler.scan_requests:
            return 0
        dropped = 0
        for step in (*(functools.partial(self._judge, hold)
                       for hold in self._suspects), self._look_on):
            try:
                dropped += step()
            except exceptions.HolisticError:
                LOG.exception('Holds without a row are not seen to')
        return dropped

    def audit(self) -> Iterator[Orphan]:
        """Every hold that no row knows, found by looking everywhere."""
        for provider in self._holds.providers():
            for hold in self._unknown(provider):
                orphan = self._orphan(hold)
                if orphan is not None:
                    yield orphan

    def drop(self, orphan: Orphan) -> bool:
        """Give its room back, if it is still as it was found."""
        if not self._holds.empty(orphan.hold, orphan.found):
            return False
        LOG.warning('Hold %s of project %s belonged to no group, and is '
                    'dropped: %s', orphan.hold, orphan.project_id,
                    dict(orphan.resources))
        return True

    def _judge(self, hold: str) -> bool:
        """Drop a hold that has been without a row for the whole grace."""
        grace = timedelta(seconds=self._conf.reconciler.grace)
        if self._suspects[hold] > self._clock() - grace:
            return False
        orphan = self._orphan(hold)
        dropped = orphan is not None and self.drop(orphan)
        del self._suspects[hold]
        return dropped

    def _look_on(self) -> bool:
        """Find suspects; False, since none is dropped yet. The last provider
        may be one that is only begun."""
        left = max(LEAST, self._conf.reconciler.scan_requests)
        if not self._todo:
            self._todo.extend(self._holds.providers())
            self._strangers = {uuid: self._strangers[uuid]
                               for uuid in self._todo
                               if uuid in self._strangers}
            left -= 1
        while self._todo and left > 1:
            left -= self._look_at(self._todo[0], left)
        return False

    def _look_at(self, provider: str, most: int) -> int:
        """How many requests it took; the provider is done with where they
        were enough."""
        unknown = self._unknown(provider)
        now = unknown[:most - 1]
        strangers = set()
        for consumer in now:
            found = self._holds.exists(consumer)
            if found is not None and found['consumer_type'] == HOLD:
                self._suspects.setdefault(consumer, self._clock())
            else:
                strangers.add(consumer)
        self._strangers[provider] = self._strangers.get(
            provider, frozenset()) | strangers
        if len(now) == len(unknown):
            self._todo.popleft()
        return 1 + len(now)

    def _unknown(self, provider: str) -> list[str]:
        """Consumers there of which nothing is known yet."""
        there = frozenset(self._holds.consumers(provider))
        strangers = self._strangers.get(provider, frozenset()) & there
        self._strangers[provider] = strangers
        # Only now: a row that Placement was told of is in the table by then.
        rest = there - strangers - self._suspects.keys()
        return sorted(rest - consumers.known(self._table.database, rest))

    def _orphan(self, hold: str) -> Orphan | None:
        """The hold, if it is there and no row and no update knows it."""
        found = self._holds.exists(hold)
        if found is None or found['consumer_type'] != HOLD:
            return None
        # A row takes its hold over from an update's notes: so those first.
        for told in consumers.told_updates(self._table.database):
            if hold in journal.all_holds(told):
                return None
        known = consumers.known(self._table.database, [hold])
        return None if known else Orphan(hold, found)
