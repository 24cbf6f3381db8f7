# SPDX-License-Identifier: Apache-2.0
"""A snapshot that an engine caches and updates.

The time to read a whole cloud is proportional to its size. An engine keeps the
newest snapshot instead, and reads only changes:

- Flavors, and the list of disabled hosts, are read for each plan. Each is one
  small request, and both are sent at the same time. A plan that waited for a
  thread uses them if they were read after its request was received
  (``received_work``). The search for alternates uses them if they were read
  within the last ``RECENT`` seconds.
- When this engine creates or deletes holds, it changes the usage of their
  hosts in the snapshot, without a request.
- Hosts that Nova's notifications name, and hosts of a plan that Placement
  refused, are marked. They are read again before the next plan. After a
  notification, and after this engine has deleted a consumer, only the use of
  the host is read. A host that a notification named is read a second time
  ``REPEAT_AFTER`` seconds later.
- States of compute services, and aggregates, are read again after a
  notification about them, and every ``[inventory] nova_interval`` seconds.
- The comparison reads every provider again within ``[inventory]
  compare_interval`` seconds, a few of them at a time. It finds the changes
  that no notification reported.
- The first snapshot does not contain the number of servers on each host, for
  which the driver ``placement`` needs one more request for each host with
  servers. Plans that depend on this number read it; the others do not wait.
  The comparison reads it for all hosts.

Therefore a kept snapshot may be out of date. If a hold does not fit, Placement
refuses it. Decisions that Placement does not check use ``snapshot``, which
reads everything.
"""

from collections.abc import Callable, Collection, Mapping
import math
import threading
import time

from oslo_log import log as logging

from nova_holistic.inventory.base import CloudInventory, InventoryDriver
from nova_holistic.inventory.cloud_reader import CloudReader
from nova_holistic.inventory.pending_reads import PendingReads, RepeatedReads
from nova_holistic.inventory import received_work
from nova_holistic.inventory.shared_runs import SharedRuns
from nova_holistic.metrics.instruments import HOSTS_READ, SNAPSHOTS
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.server_group import ServerGroup

LOG = logging.getLogger(__name__)

FOLLOW_SPACING = 1.0
"""Interval in seconds at which a background thread reads marked hosts."""
REPEAT_AFTER = 5.0
"""Seconds after which a host that a notification named is read again. Nova
sends some notifications before it deletes the allocation on the host, for
example when a resize is confirmed."""
PIECE_SPACING = 1.0
"""Interval in seconds between two pieces of the comparison."""
RECENT = 10.0
"""Maximum age in seconds of the lists in a recent snapshot."""
ROUNDS = 3
"""A kept snapshot is not used if no comparison has ended for this number of
intervals, because the background thread then does not work."""

_PROVIDER, _USE, _HOST, _NOVA = 'provider', 'use', 'host', 'nova'
Mark = tuple[str, str]
"""The kind of a marked object, and its UUID or name."""


def with_cache(conf, inventory: InventoryDriver) -> CloudInventory:
    """The inventory with a kept snapshot, if options and driver allow it."""
    if inventory.reader is None or not conf.inventory.compare_interval:
        return inventory
    return CachedInventory(
        inventory, inventory.reader, conf.inventory.compare_interval)


class CachedInventory(CloudInventory):
    """Caches the newest snapshot of another inventory. Several threads may use
    the same object."""

    has_cache = True

    def __init__(self, inventory: CloudInventory, reader: CloudReader,
                 compare_interval: float,
                 timer: Callable[[], float] = time.monotonic):
        """
        :param compare_interval: seconds in which the comparison reads every
            provider
        :param timer: returns seconds by the clock of ``received_work``
        """
        self._inventory = inventory
        self._reader = reader
        self._interval = compare_interval
        self._timer = timer
        self._marks: PendingReads[Mark] = PendingReads()
        self._repeated: RepeatedReads[Mark] = RepeatedReads(
            REPEAT_AFTER, timer)
        self._follow = SharedRuns(self._read_marked)
        self._count = SharedRuns(reader.count_servers)
        # When the oldest reading of any provider began.
        self._complete_at: float | None = None
        # When the newest reading of flavors and disabled hosts began.
        self._listed_at = -math.inf
        # Number of calls of ``invalidate``, and the number of them when the
        # latest complete reading began.
        self._distrusted = self._trusted = 0
        self._reading_all = threading.Lock()
        self._comparing = threading.Lock()
        self._round: list[str] = []
        self._round_at = 0.0

    def image(self, name: str, project_id: str | None) -> Image | None:
        return self._inventory.image(name, project_id)

    def server_groups(self, uuids: Collection[str]
                      ) -> Mapping[str, ServerGroup]:
        return self._inventory.server_groups(uuids)

    def with_pools(self, snapshot: Snapshot) -> Snapshot:
        return self._inventory.with_pools(snapshot)

    def default_volume_type(self, project_id: str | None) -> str | None:
        return self._inventory.default_volume_type(project_id)

    def snapshot(self) -> Snapshot:
        """The whole cloud, read after the call."""
        return self._read_whole(self._inventory.snapshot)

    def _read_whole(self, read: Callable[[], Snapshot]) -> Snapshot:
        number, _ = self._marks.pending()
        distrusted = self._distrusted
        began_at = self._timer()
        snapshot = read()
        self._marks.remove(number)
        self._complete_at = max(began_at, self._complete_at or began_at)
        self._trusted = max(distrusted, self._trusted)
        SNAPSHOTS.add(kind='complete')
        HOSTS_READ.add(len(snapshot.hosts), why='complete')
        return snapshot

    def cached_snapshot(self) -> Snapshot:
        """See ``CloudInventory.cached_snapshot``. All that was marked before
        the call is read."""
        kept = self.uncounted_snapshot()
        if not self._reader.assembly.uncounted():
            return kept
        return self._count()

    def uncounted_snapshot(self) -> Snapshot:
        """See ``CloudInventory.uncounted_snapshot``. A new engine can use this
        snapshot earlier; the comparison later counts the servers of all hosts.
        """
        if self._needs_all():
            # Callers who wait here use the snapshot of the first of them.
            with self._reading_all:
                if self._needs_all():
                    return self._read_whole(self._inventory.uncounted_snapshot)
        self._follow()
        SNAPSHOTS.add(kind='kept')
        if self._listed_at >= received_work.received_at():
            return self._reader.assembly.snapshot
        began_at = self._timer()
        snapshot = self._reader.read_lists()
        self._listed_at = max(began_at, self._listed_at)
        return snapshot

    def recent_snapshot(self) -> Snapshot:
        """See ``CloudInventory.recent_snapshot``."""
        if self._needs_all() or self._timer() - self._listed_at > RECENT:
            return self.uncounted_snapshot()
        self._follow()
        SNAPSHOTS.add(kind='kept')
        return self._reader.assembly.snapshot

    def mark_providers(self, uuids: Collection[str]) -> None:
        self._marks.add([(_PROVIDER, uuid) for uuid in uuids if uuid])

    def mark_use(self, uuids: Collection[str]) -> None:
        self._marks.add([(_USE, uuid) for uuid in uuids if uuid])

    def mark_hosts(self, names: Collection[str]) -> None:
        marks = [(_HOST, name) for name in names if name]
        self._marks.add(marks)
        self._repeated.add(marks)

    def moment(self) -> int:
        return self._reader.assembly.begin()

    def change_use(self, since: int,
                   changes: Mapping[str, UseChange]) -> None:
        self._reader.assembly.change_use(since, changes)

    def mark_nova(self) -> None:
        self._marks.add([(_NOVA, '')])

    def invalidate(self) -> None:
        self._distrusted += 1

    def follow(self) -> None:
        """Read all marked objects, so that no plan waits for them. A thread
        calls this every ``FOLLOW_SPACING`` seconds.

        :raises HolisticError: Nova or Placement does not answer
        """
        self._mark_doubtful()
        self._marks.add(self._repeated.take_due())
        if self._marks.pending()[1] and not self._is_too_old():
            self._follow()

    def read_nova(self) -> None:
        """Read the states of compute services and the aggregates, because a
        notification about them may be lost. A thread calls this every
        ``[inventory] nova_interval`` seconds.

        :raises HolisticError: Nova or Placement does not answer
        """
        if self._complete_at is not None:
            self._reader.read_nova()

    def compare(self) -> None:
        """Compare the next piece of the cloud with the kept snapshot. A thread
        calls this every ``PIECE_SPACING`` seconds.

        :raises HolisticError: Nova or Placement does not answer; the piece is
            repeated
        """
        with self._comparing:
            if self._is_too_old():
                with self._reading_all:
                    if self._is_too_old():
                        self._read_whole(self._inventory.uncounted_snapshot)
                self._round = []
                return
            if not self._round:
                self._begin_round()
            piece = self._round[-self._piece():]
            before = self._reader.assembly.hosts(piece)
            self._reader.read_providers(piece)
            after = self._reader.assembly.hosts(piece)
            HOSTS_READ.add(len(piece), why='compared')
            changed = sum(after.get(uuid) is not before.get(uuid)
                          for uuid in piece)
            if changed:
                LOG.debug('The comparison found %d hosts that have changed',
                          changed)
            del self._round[-len(piece):]
            if not self._round:
                self._complete_at = max(
                    self._round_at, self._complete_at or 0.0)

    @property
    def is_comparing(self) -> bool:
        """Whether a comparison has begun and not ended."""
        return bool(self._round)

    def _begin_round(self) -> None:
        self._round_at = self._timer()
        self._reader.read_nova()
        self._round = sorted(self._reader.assembly.computes())

    def _piece(self) -> int:
        """Number of providers of each piece."""
        number = len(self._reader.assembly.computes())
        return max(1, math.ceil(number * PIECE_SPACING / self._interval))

    def _needs_all(self) -> bool:
        return self._trusted < self._distrusted or self._is_too_old()

    def _is_too_old(self) -> bool:
        return self._complete_at is None or (
            self._timer() - self._complete_at > ROUNDS * self._interval)

    def _mark_doubtful(self) -> None:
        self._marks.add([
            (_USE, uuid) for uuid in self._reader.assembly.take_doubtful()])

    def _read_marked(self) -> None:
        self._mark_doubtful()
        number, marks = self._marks.pending()
        if (_NOVA, '') in marks:
            self._reader.read_nova()
        uuids = {uuid for kind, uuid in marks if kind == _PROVIDER}
        used = self._reader.assembly.named(
            {name for kind, name in marks if kind == _HOST})
        used = (used | {uuid for kind, uuid in marks if kind == _USE}) - uuids
        self._reader.read_providers(uuids)
        self._reader.read_use(used)
        HOSTS_READ.add(len(uuids | used), why='changed')
        self._marks.remove(number)
