# SPDX-License-Identifier: Apache-2.0
"""Reads a cloud from Nova and Placement: all of it, or parts of it."""

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from oslo_log import log as logging

from nova_holistic.inventory.host_assembly import DISABLED_TRAIT
from nova_holistic.inventory.nova.compute_reader import ComputeReader
from nova_holistic.inventory.nova.computes import read_aggregates
from nova_holistic.inventory.nova.flavor_devices import FlavorDevices
from nova_holistic.inventory.nova.flavors import read_flavors
from nova_holistic.inventory.resource_providers.provider_source import (
    Listing, ProviderSource, roots_of, Sharing)
from nova_holistic.inventory.resource_providers.unused_sharing import (
    UnusedSharing)
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.inventory.snapshot_assembly import (
    NovaFacts, SnapshotAssembly)
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.nova.flavor import Flavor

LOG = logging.getLogger(__name__)


class CloudReader:
    """Each method reads a part of the cloud, adds it to the assembly, and
    returns the newest snapshot. Threads may share one object, and call
    different methods at the same time.

    All methods raise ServiceFailed if Nova or Placement does not answer, or
    gives an invalid answer.

    :ivar assembly: SnapshotAssembly with the results of all readings
    :ivar devices: devices that flavors may request; none by default
    """

    def __init__(self, computes: ComputeReader, nova: ServiceClient,
                 providers: ProviderSource, assembly: SnapshotAssembly):
        self._computes = computes
        self._nova = nova
        self._providers = providers
        self.assembly = assembly
        self.devices = FlavorDevices()
        self._unused_sharing = UnusedSharing()

    def read_all(self, *, counted: bool = True) -> Snapshot:
        """Read the whole cloud, and find the changes of all hosts.

        The snapshot shows each host at some moment during the call.

        :param counted: whether the consumers of all providers are counted
        """
        began_at = self.assembly.begin()
        listing = self._providers.list()
        nova = self._nova_facts(listing)
        flavors = self._all_flavors()
        sharing = self._sharing(listing, nova)
        uuids = [*(compute.uuid for compute in nova.computes), *sharing]
        # The usage of providers changes most often, so it is read last.
        found = self._providers.read(uuids, listing, counted=counted)
        self._unused_sharing.check_computes({
            compute.uuid: found[compute.uuid] for compute in nova.computes
            if compute.uuid in found})
        missing = [compute.name for compute in nova.computes
                   if compute.uuid not in found]
        if missing:
            LOG.info('%d computes have no resource provider and are left '
                     'out: %s', len(missing), ', '.join(missing[:10]))
        return self.assembly.put(
            began_at, nova=nova, flavors=flavors,
            providers={uuid: found.get(uuid) for uuid in uuids},
            sharing=sharing)

    def read_nova(self) -> Snapshot:
        """Read the computes and aggregates of all hosts from Nova.

        This also reads the providers of new computes, and the providers that
        share their resources.
        """
        began_at = self.assembly.begin()
        listing = self._providers.list()
        nova = self._nova_facts(listing)
        sharing = self._sharing(listing, nova)
        self.assembly.put(began_at, nova=nova, sharing=sharing)
        return self.read_providers(
            self.assembly.without_provider().union(sharing))

    def read_lists(self) -> Snapshot:
        """Read all flavors and the list of disabled hosts at the same time,
        and then the hosts that were disabled or enabled."""
        with ThreadPoolExecutor(1) as pool:
            flavors = pool.submit(self._read_flavors)
            self._read_disabled()
            flavors.result()
        return self.assembly.snapshot

    def _read_flavors(self) -> None:
        began_at = self.assembly.begin()
        self.assembly.put(began_at, flavors=self._all_flavors())

    def _read_disabled(self) -> None:
        self.read_providers(self.assembly.differing(
            self._providers.with_trait(DISABLED_TRAIT)))

    def read_providers(self, uuids: Collection[str]) -> Snapshot:
        """Read the providers of some hosts.

        :param uuids: UUIDs of the root providers
        """
        if not uuids:
            return self.assembly.snapshot
        began_at = self.assembly.begin()
        return self.assembly.put(began_at, providers=self._providers.reread(
            self.assembly.with_sharing(uuids)))

    def read_use(self, uuids: Collection[str]) -> Snapshot:
        """Read the usage of some hosts.

        :param uuids: UUIDs of the root providers
        """
        if not uuids:
            return self.assembly.snapshot
        began_at = self.assembly.begin()
        return self.assembly.put(
            began_at, providers=self._providers.reread_use(
                self.assembly.with_sharing(uuids)))

    def count_servers(self) -> Snapshot:
        """Read the usage of the hosts whose consumers were never counted."""
        snapshot = self.assembly.snapshot
        while uncounted := self.assembly.uncounted():
            # A host remains uncounted if its usage changed during the reading.
            snapshot = self.read_use(uncounted)
        return snapshot

    def _sharing(self, listing: Listing,
                 nova: NovaFacts) -> Mapping[str, Sharing]:
        """The providers that share their resources and that plans use."""
        roots = roots_of(listing)
        computes = {compute.uuid for compute in nova.computes}
        found = self._providers.sharing(listing, {
            uuid for uuid in listing if roots.get(uuid, uuid) not in computes})
        return self._unused_sharing.without_nested(found, listing)

    def _all_flavors(self) -> Mapping[str, Flavor]:
        return read_flavors(self._nova, self.devices)

    def _nova_facts(self, listing: Listing) -> NovaFacts:
        aggregates = read_aggregates(self._nova)
        return NovaFacts(self._computes.read(listing), aggregates)
