# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a real cloud, with providers from Placement's database."""

from keystoneauth1.adapter import Adapter

from nova_holistic.exceptions import HolisticError
from nova_holistic.inventory.errors import MissingAdapter
from nova_holistic.inventory.nova.flavor_devices import FlavorDevices
from nova_holistic.inventory.placement import PlacementInventory
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider_rows import (
    ProviderRows)
from nova_holistic.topology import load_topology


class PlacementDatabaseInventory(PlacementInventory):
    """The same snapshots as those of the driver ``placement``.

    Providers, their use and their consumers are read from Placement's
    database, in a few statements for all of them. The driver reads all other
    data through the APIs. It never writes to the database.
    """

    @classmethod
    def from_conf(cls, conf, placement: Adapter | None = None,
                  compute: Adapter | None = None,
                  image: Adapter | None = None,
                  **others: Adapter) -> 'PlacementDatabaseInventory':
        if compute is None:
            raise MissingAdapter('[inventory] driver placement-db needs a '
                                 'connection to Nova')
        options = conf.inventory
        if not options.placement_connection:
            raise HolisticError('[inventory] driver placement-db needs '
                                '[inventory] placement_connection')
        made = cls(
            ProviderRows(PlacementDatabase(
                options.placement_connection, options.placement_revisions)),
            compute, load_topology(conf), options.threads, image)
        made.reader.devices = FlavorDevices.from_conf(options)
        return made
