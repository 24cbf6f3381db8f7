# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a real cloud: Nova's computes, Placement's providers."""

from collections.abc import Collection, Mapping
import functools
import threading

from keystoneauth1.adapter import Adapter
from oslo_log import log as logging

from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.inventory.cloud_reader import CloudReader
from nova_holistic.inventory.errors import MissingAdapter
from nova_holistic.inventory.nova.compute_reader import ComputeReader
from nova_holistic.inventory.nova.flavor_devices import FlavorDevices
from nova_holistic.inventory.nova.images import read_image
from nova_holistic.inventory.nova.server_groups import read_server_group
from nova_holistic.inventory.resource_providers.provider_source import (
    ProviderSource)
from nova_holistic.inventory.resource_providers.provider_trees import (
    ProviderTrees)
from nova_holistic.inventory.resource_providers.providers import ProviderReader
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.inventory.shared_runs import SharedRuns
from nova_holistic.inventory.snapshot_assembly import SnapshotAssembly
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.server_group import ServerGroup
from nova_holistic.topology.base import TopologyDriver
from nova_holistic.topology import load_topology

LOG = logging.getLogger(__name__)


class PlacementInventory(InventoryDriver):
    """A host is a compute node of Nova with its root resource provider.

    A snapshot shows each host at some moment during the call, and not all
    hosts at the same moment. Placement makes the final decision when a plan is
    held. All allocations count as used, holds included.

    :ivar Host.servers: number of consumers with allocations on the host:
        servers, planned servers (holds), and migrations, which hold the
        allocation on one of the two hosts of a moving server

    Links come from the topology driver, with their usage: the snapshot does
    not count the bandwidth that the ``bandwidth`` relationships of other
    groups need from a link.

    A host contains the providers below its root provider. A new nested
    provider is found when the list of providers is read again, together with
    the data of Nova. It also contains the providers with the trait
    MISC_SHARES_VIA_AGGREGATE that share an aggregate of Placement with one of
    its providers, with the resource classes of which the host has no
    capacity. Such a provider is a root provider, and not a compute (see
    :mod:`.unused_sharing`). A compute without a provider, or a provider
    without a compute, is not a host.

    Requests for one snapshot: four, one more for each further thousand
    flavors, one or a few for usage (see :mod:`.use_changes`), one for each
    hypervisor that may have changed (see :mod:`.compute_reader`), and one to
    three for each provider that changed since the previous snapshot. If the
    cloud has root providers that are not computes, one more request finds
    those that share their resources, and each of these takes five. The first
    snapshot reads the list of all hypervisors, a thousand in each request.

    Hosts that did not change are the same objects as in the previous snapshot,
    because other modules cache the values that they derive from a host.
    """

    def __init__(self, placement: Adapter | ProviderSource, compute: Adapter,
                 topology: TopologyDriver, threads: int = 1,
                 image: Adapter | None = None):
        """
        :param placement: connection to Placement, or another source of its
            providers
        :param compute: connection to Nova
        :param threads: number of threads that read providers and hypervisors
        :param image: connection to Glance; None if no images can be read
        """
        self._nova = nova = ServiceClient('nova', compute)
        self._glance = (
            None if image is None else ServiceClient('glance', image))
        providers = (
            placement if isinstance(placement, ProviderSource)
            else ProviderReader(ServiceClient('placement', placement),
                                threads))
        self.reader = CloudReader(
            ComputeReader(nova, threads), nova, ProviderTrees(providers),
            SnapshotAssembly(topology))
        self._reading = threading.Lock()
        self._counted = SharedRuns(functools.partial(self._read, True))
        self._uncounted = SharedRuns(functools.partial(self._read, False))

    @classmethod
    def from_conf(cls, conf, placement: Adapter | None = None,
                  compute: Adapter | None = None,
                  image: Adapter | None = None,
                  **others: Adapter) -> 'PlacementInventory':
        if placement is None or compute is None:
            raise MissingAdapter('[inventory] driver placement needs a '
                                 'connection to Placement and one to Nova')
        made = cls(placement, compute, load_topology(conf),
                   conf.inventory.threads, image)
        made.reader.devices = FlavorDevices.from_conf(conf.inventory)
        return made

    def image(self, name: str, project_id: str | None) -> Image | None:
        """See ``CloudInventory.image``. Without a connection to Glance, every
        image has no properties."""
        if self._glance is None:
            LOG.warning('The requirements of image %s are not planned for: '
                        '[glance] is not configured', name)
            return Image(name)
        return read_image(self._glance, name, project_id)

    def server_groups(self, uuids: Collection[str]
                      ) -> Mapping[str, ServerGroup]:
        found = {uuid: read_server_group(self._nova, uuid) for uuid in uuids}
        return {uuid: group for uuid, group in found.items()
                if group is not None}

    def snapshot(self) -> Snapshot:
        """See ``CloudInventory.snapshot``. Simultaneous callers share one
        reading that begins after all of their calls."""
        return self._counted()

    def uncounted_snapshot(self) -> Snapshot:
        """See ``CloudInventory.uncounted_snapshot``. Simultaneous callers
        share one reading, which does not read the allocations of new
        providers."""
        return self._uncounted()

    def _read(self, counted: bool) -> Snapshot:
        # ``ProviderSource.read`` is for one caller at a time.
        with self._reading:
            return self.reader.read_all(counted=counted)
