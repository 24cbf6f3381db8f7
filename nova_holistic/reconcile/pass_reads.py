# SPDX-License-Identifier: Apache-2.0
"""The data of the whole cloud that one pass of the reconciler reads."""

from collections.abc import Mapping

from oslo_log import log as logging

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot

LOG = logging.getLogger(__name__)


class PassReads:
    """One list of resource providers and at most one snapshot, each read once.

    The list is read first. So if two passes read the same generation and the
    same usage of a provider, no allocation there was deleted between the two
    snapshots: a deletion lowers the usage, and only a new allocation, which
    raises the generation, can compensate for this.

    :ivar generations: of all resource providers by UUID; None if Placement did
        not respond
    """

    def __init__(self, inventory: CloudInventory, holds: HoldClient):
        self._inventory = inventory
        self._snapshot: Snapshot | None = None
        self.generations: Mapping[str, int] | None = None
        try:
            self.generations = holds.providers()
        except hold_errors.HoldsError:
            LOG.exception('The holds in Placement are not checked')

    def snapshot(self) -> Snapshot:
        """The cached snapshot of the engine, or a new snapshot if the engine
        has no cache. It may lack the numbers of servers on hosts.

        If the snapshot is cached, an allocation that was deleted without a
        notification is found after the next comparison of its provider.

        :raises HolisticError: the inventory does not respond
        """
        if self._snapshot is None:
            self._snapshot = self._inventory.uncounted_snapshot()
        return self._snapshot

    def hosts(self) -> Mapping[str, Host] | None:
        """The hosts by the UUID of the provider; None if this pass has no
        snapshot."""
        snapshot = self._snapshot
        if snapshot is None:
            return None
        return snapshot.once('hosts by provider', lambda: {
            host.uuid: host for host in snapshot.hosts})
