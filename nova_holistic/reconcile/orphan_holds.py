# SPDX-License-Identifier: Apache-2.0
"""Finds and drops holds in Placement without a row in the table.

A row is written before its hold. If Placement has a hold without a row, the
row was therefore deleted and is not about to be written. An engine may leave
such a hold if another engine has considered it failed and has planned the
group again: Placement carries out a request of the first engine afterwards,
and this engine crashes before it can drop the hold.

If the database of an engine is new, was restored from an empty backup, or
belongs to another Placement, every hold is without a row. Therefore no hold is
dropped if the table seems to belong to another deployment.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.tasks import journal
from nova_holistic.holds.allocation_bodies import HOLD
from nova_holistic.holds.client import HoldClient
from nova_holistic.reconcile.pace import Pace
from nova_holistic.table.queries import consumers
from nova_holistic.table.queries.round_robin import RoundRobin
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

MIN_REQUESTS = 3
"""Minimum number of requests with which a pass makes progress: one for the
list of providers, one for the consumers of a provider, and one for a
consumer."""

MAX_CRASH_LEFTOVERS = 5
"""Maximum number of holds without a row that are dropped independent of their
percentage, because one crash may leave them."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A hold without a row.

    :ivar hold: UUID of the consumer
    :ivar found: its allocations in Placement
    """

    hold: str
    found: Mapping[str, Any]

    @property
    def project_id(self) -> str:
        """The project that owns the hold."""
        return self.found['project_id']

    @property
    def resources(self) -> Mapping[str, Mapping[str, int]]:
        """The held resources by UUID of the resource provider."""
        return {provider: allocation['resources'] for provider, allocation
                in self.found['allocations'].items()}


@dataclass(slots=True)
class _ProviderState:
    """The findings of the last check of one resource provider.

    :ivar known: number of its consumers that the table knows
    :ivar unknown_consumers: consumers that are not holds
    :ivar suspects: times at which holds without a row were found first, by
        UUID of the hold
    :ivar generation: generation of the provider before its last complete
        check; None if it has not been checked
    """

    generation: int | None = None
    known: int = 0
    unknown_consumers: frozenset[str] = frozenset()
    suspects: dict[str, datetime] = field(default_factory=dict)


class OrphanHolds:
    """Searches for holds without a row. Only one caller may use it at a time.

    Placement lists the consumers of a provider, but a separate request for
    each consumer is necessary to find out whether it is a hold. Therefore the
    consumers that are not holds are remembered, and the first check of all
    providers takes many passes. Later passes check the providers with a new
    allocation, which raises their generation, and those with a suspect. They
    also check a few others, because rows may disappear from the table.
    """

    def __init__(self, conf, table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._conf = conf
        self._table = table
        self._holds = holds
        self._clock = clock
        self._seen: dict[str, _ProviderState] = {}
        self._due, self._others = RoundRobin(), RoundRobin()

    def sweep(self, generations: Mapping[str, int] | None = None,
              pace: Pace | None = None) -> int:
        """Search for holds without a row, and drop holds that have had no row
        for the whole grace period. Drop nothing if the table seems to belong
        to another deployment.

        The search sends at most ``[reconciler] scan_requests`` requests, or
        ``MIN_REQUESTS`` requests if the option is lower. 0 disables the
        method.

        :param generations: generations of all providers, read before this
            call; None if Placement does not respond
        :param pace: pauses between the checks of providers; None means none
        :returns: number of dropped holds
        """
        if not self._conf.reconciler.scan_requests or generations is None:
            return 0
        try:
            self._check_placement(generations, pace or Pace())
        except exceptions.HolisticError:
            LOG.exception('Holds without a row are not searched for')
        try:
            return self._check_all(generations)
        except exceptions.HolisticError:
            LOG.exception('Holds without a row are not dropped')
            return 0

    def audit(self) -> Iterator[Orphan]:
        """Every hold without a row, from a check of all providers.

        Each consumer is requested only once, even if it has allocations at
        several providers.

        :raises HoldsError: Placement does not respond
        """
        asked: set[str] = set()
        for provider in self._holds.providers():
            for hold in self._unknown(provider):
                if hold in asked:
                    continue
                asked.add(hold)
                orphan = self._orphan(hold)
                if orphan is not None:
                    yield orphan

    def drop(self, orphan: Orphan) -> bool:
        """Drop a hold if it is unchanged.

        :returns: whether the hold was dropped
        :raises HoldsError: Placement does not respond
        """
        if not self._holds.empty(orphan.hold, orphan.found):
            return False
        crash_points.reached('orphan.dropped')
        LOG.warning('Hold %s of project %s was dropped, because it belongs to '
                    'no group: %s', orphan.hold, orphan.project_id,
                    dict(orphan.resources))
        return True

    def _check_all(self, generations: Mapping[str, int]) -> int:
        """Drop the suspects that have had no row for the whole grace period;
        returns their number."""
        found = [(seen, hold) for seen in self._seen.values()
                 for hold in seen.suspects]
        # The number of holds is not known before all providers have been
        # checked.
        if not found or self._is_foreign(len(found)) or any(
                self._is_new(provider) for provider in generations):
            return 0
        dropped = 0
        for seen, hold in found:
            try:
                dropped += self._check(seen.suspects, hold)
            except exceptions.HolisticError:
                LOG.exception('Hold %s without a row is not checked in this '
                              'pass', hold)
        return dropped

    def _is_foreign(self, found: int) -> bool:
        """Whether the table probably belongs to another deployment. If so, an
        error is logged.

        :param found: number of holds without a row
        """
        known = sum(seen.known for seen in self._seen.values())
        share = self._conf.reconciler.orphan_percent
        if known and consumers.any_group(self._table.database) and (
                found <= MAX_CRASH_LEFTOVERS
                or found * 100 <= share * (found + known)):
            return False
        LOG.error(
            '%d holds in Placement have no row in the placement table, which '
            'knows %d consumers there: none is dropped, since this seems to '
            'be the table of another deployment, a new table or a restored '
            'table. Check [holistic_database] connection. If it is correct, '
            'list these holds with nova-holistic-manage hold audit, and drop '
            'them with its option --delete', found, known)
        return True

    def _check(self, suspects: dict[str, datetime], hold: str) -> bool:
        """Drop a hold if it has had no row for the whole grace period; returns
        whether it was dropped."""
        grace = timedelta(seconds=self._conf.reconciler.grace)
        if suspects[hold] > self._clock() - grace:
            return False
        orphan = self._orphan(hold)
        dropped = orphan is not None and self.drop(orphan)
        del suspects[hold]
        return dropped

    def _check_placement(self, generations: Mapping[str, int],
                         pace: Pace) -> None:
        """Search for holds without a row. A later pass may finish the check of
        the last provider."""
        self._seen = {uuid: seen for uuid, seen in self._seen.items()
                      if uuid in generations}
        # The list of providers was one request.
        left = max(MIN_REQUESTS, self._conf.reconciler.scan_requests) - 1
        # Some requests are reserved for unchanged providers, independent of
        # the number of changed providers.
        spare = min(self._conf.reconciler.recheck_requests, left // 4)
        due = {uuid for uuid, generation in generations.items()
               if self._is_due(uuid, generation)}
        for rotation, providers, most in (
                (self._due, due, left - spare),
                (self._others, generations.keys() - due, spare)):
            self._check_some(rotation.next(providers), most, generations, pace)

    def _check_some(self, providers: Iterator[str], left: int,
                    generations: Mapping[str, int], pace: Pace) -> None:
        """Check providers until no requests remain, or the process stops.

        :param left: number of remaining requests
        """
        while left and not pace.stopped and (
                provider := next(providers, '')):
            with pace.piece():
                left -= self._check_provider(
                    provider, left, generations[provider])

    def _is_new(self, provider: str) -> bool:
        """Whether no check of the provider is complete yet."""
        return (provider not in self._seen
                or self._seen[provider].generation is None)

    def _is_due(self, provider: str, generation: int) -> bool:
        return (self._is_new(provider)
                or self._seen[provider].generation != generation
                or bool(self._seen[provider].suspects))

    def _check_provider(
            self, provider: str, most: int, generation: int) -> int:
        """Check a provider with at most ``most`` requests; returns their
        number. The check is complete if the requests were sufficient."""
        unknown = self._unknown(provider)
        now, seen = unknown[:most - 1], self._seen[provider]
        unknown_consumers = set()
        for consumer in now:
            found = self._holds.exists(consumer)
            if found is not None and found['consumer_type'] == HOLD:
                seen.suspects[consumer] = self._clock()
            else:
                unknown_consumers.add(consumer)
        seen.unknown_consumers |= unknown_consumers
        if len(now) == len(unknown):
            seen.generation = generation
        return 1 + len(now)

    def _unknown(self, provider: str) -> list[str]:
        """Consumers of the provider that are not classified yet. The stored
        findings for its other consumers are updated."""
        there = frozenset(self._holds.consumers(provider))
        seen = self._seen.setdefault(provider, _ProviderState())
        seen.unknown_consumers &= there
        # Read the rows now, after the holds: the row of a hold is in the table
        # before the hold is in Placement.
        rest = there - seen.unknown_consumers
        known = consumers.known_consumers(self._table.database, rest)
        seen.known = len(known)
        rest -= known
        seen.suspects = {hold: since for hold, since in seen.suspects.items()
                         if hold in rest}
        return sorted(rest - seen.suspects.keys())

    def _orphan(self, hold: str) -> Orphan | None:
        """The hold, if it exists and no row and no update names it."""
        found = self._holds.exists(hold)
        if found is None or found['consumer_type'] != HOLD:
            return None
        # The task of an update names a hold before its row names it, so the
        # tasks are read first.
        for update in consumers.unfinished_updates(self._table.database):
            if hold in journal.all_holds(update):
                return None
        known = consumers.known_consumers(self._table.database, [hold])
        return None if known else Orphan(hold, found)
