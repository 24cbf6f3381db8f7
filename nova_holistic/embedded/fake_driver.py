# SPDX-License-Identifier: Apache-2.0
"""A fake hypervisor with the inventories and the traits of a given host."""

from nova.virt import fake
from oslo_utils import uuidutils


class EmbeddedDriver(fake.FakeDriver):
    """Nova's fake driver, which reports the resources, traits and devices of
    an EmbeddedHost.

    The driver reports the traits, instead of a client that sets them in
    Placement, so that nova-compute keeps them at every periodic update.
    """

    def __init__(self, virtapi, host):
        self.vcpus = host.vcpus
        self.memory_mb = host.memory_mb
        self.local_gb = host.disk_gb
        self._description = host
        # A host that is removed and added again is a different node.
        self._node_uuid = uuidutils.generate_uuid()
        super().__init__(virtapi)

    def get_available_resource(self, nodename):
        return super().get_available_resource(nodename) | {
            'uuid': self._node_uuid}

    def get_nodenames_by_uuid(self, refresh=False):
        return {self._node_uuid: node for node in self.get_available_nodes()}

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        provider_tree.update_inventory(
            nodename, self._description.inventories())
        provider_tree.add_traits(nodename, *self._description.traits)
        for device in self._description.devices:
            name = f'{nodename}_{device.name}'
            if not provider_tree.exists(name):
                provider_tree.new_child(name, nodename)
            provider_tree.update_inventory(name, {
                resource_class: {
                    'total': inventory.total, 'reserved': inventory.reserved,
                    'min_unit': inventory.min_unit,
                    'max_unit': min(inventory.max_unit, inventory.total),
                    'step_size': inventory.step_size,
                    'allocation_ratio': inventory.allocation_ratio}
                for resource_class, inventory in device.inventories.items()})
            provider_tree.update_traits(name, device.traits)

    def live_migration(self, context, instance, dest, post_method,
                       recover_method, block_migration=False,
                       migrate_data=None):
        super().live_migration(
            context, instance, dest, post_method, recover_method,
            block_migration=block_migration, migrate_data=migrate_data)
        # Nova's fake driver does not remove the guest, so that the guest could
        # never migrate back to this host.
        self.instances.pop(instance.uuid, None)
