# SPDX-License-Identifier: Apache-2.0
"""Holds on hosts that are disabled, down or missing.

No server can be created from a hold on such a host, but its capacity is safe,
and most outages are short. Therefore a hold is dropped only after a grace
period. If a large share of all hosts seems to be unavailable, no hold is
dropped: dropping them cannot be undone, and the inventory may be wrong.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.reconcile.lost_places import lose_place
from nova_holistic.table.queries.outline_index import PlannedMembers
from nova_holistic.table.queries import overview
from nova_holistic.table.records import MemberRecord
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


class UnavailableHosts:
    """Finds and drops holds on unavailable hosts. No hold is dropped before
    its host has been unavailable for the grace period, which all engines
    measure from the same time in the table.

    The cached snapshot shows which hosts are unavailable. Before a hold is
    dropped, a complete snapshot must confirm it.
    """

    def __init__(self, conf, inventory: CloudInventory,
                 table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._conf = conf.reconciler
        self._inventory = inventory
        self._table = table
        self._holds = holds
        self._clock = clock

    def stranded(self, planned: Mapping[str, PlannedMembers],
                 read: Callable[[], Snapshot]) -> Sequence[MemberRecord]:
        """The planned members whose holds must be dropped now.

        :param planned: all planned members of groups that can be claimed, by
            the name of the host
        :param read: returns the cached snapshot; called only if hosts are
            watched
        """
        given_up = self._table.outages.given_up()
        if not planned and not given_up:
            self._table.outages.observe((), self._clock())
            return ()
        expired: frozenset[str] = frozenset()
        for each in self._readings(read):
            snapshot = self._read(each)
            if snapshot is None:
                return ()
            available = _available(snapshot)
            expired = planned.keys() & self._expired(
                (planned.keys() - available) | (given_up - available))
            if not expired:
                return ()
        if self._are_too_many(expired, snapshot):
            return ()
        # The outage is written before the members are lost, so that a crash
        # does not hide their hosts.
        self._table.outages.give_up(expired)
        crash_points.reached('outage.given-up')
        return overview.member_records(self._table.database, [
            member for host in sorted(expired)
            for member in planned[host].values()])

    def give_up(self, member: MemberRecord) -> bool:
        """Mark a planned member on an unavailable host as lost, and drop its
        hold.

        :returns: False if the member is no longer planned there
        :raises HoldsError: Placement does not respond
        """
        if not lose_place(self._table, self._holds, member, self._clock()):
            return False
        LOG.warning('Member %s of group %s is lost: its host %s has been '
                    'unavailable for more than %d seconds',
                    member.member.path, member.group_uuid, member.place.host,
                    self._conf.host_grace)
        return True

    def _readings(self, read: Callable[[], Snapshot]
                  ) -> Sequence[Callable[[], Snapshot]]:
        """Functions that read snapshots. All snapshots must agree before a
        hold is dropped."""
        if self._inventory.has_cache:
            return read, self._inventory.snapshot
        return (read,)

    @staticmethod
    def _read(read: Callable[[], Snapshot]) -> Snapshot | None:
        try:
            return read()
        except exceptions.HolisticError:
            LOG.exception('The hosts of planned members were not checked')
            return None

    def _expired(self, unavailable: Collection[str]) -> frozenset[str]:
        """Hosts whose grace period has ended."""
        now = self._clock()
        since = self._table.outages.observe(unavailable, now)
        latest = now - timedelta(seconds=self._conf.host_grace)
        return frozenset(host for host, begun in since.items()
                         if begun <= latest)

    def _are_too_many(self, hosts: Collection[str],
                      snapshot: Snapshot) -> bool:
        """Whether these hosts are too many to drop their holds in one pass."""
        available = len(_available(snapshot))
        number = len({host.name for host in snapshot.hosts}.union(hosts))
        percent = self._conf.host_percent
        if available and (len(hosts) == 1
                          or 100 * len(hosts) <= percent * number):
            return False
        LOG.error(
            'The holds on %d of %d hosts are kept, although these hosts have '
            'been unavailable for %d seconds: only %d %% of all hosts may be '
            'given up in one pass ([reconciler] host_percent), and %d hosts '
            'are available. The first of these hosts are: %s',
            len(hosts), number, self._conf.host_grace, percent, available,
            ', '.join(sorted(hosts)[:10]))
        return True


def _available(snapshot: Snapshot) -> frozenset[str]:
    return snapshot.once('available hosts', lambda: frozenset(
        host.name for host in snapshot.hosts if host.enabled))
