# SPDX-License-Identifier: Apache-2.0
"""A fake hypervisor that has the size and the traits of one given host."""

from nova.virt import fake


class EmbeddedDriver(fake.FakeDriver):
    """Nova's fake driver, reporting what an EmbeddedHost says.

    Traits are reported by the driver, and not set in Placement from outside,
    so that nova-compute keeps them at every periodic update.
    """

    def __init__(self, virtapi, host):
        self.vcpus = host.vcpus
        self.memory_mb = host.memory_mb
        self.local_gb = host.disk_gb
        self._description = host
        super().__init__(virtapi)

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        provider_tree.update_inventory(
            nodename, self._description.inventories())
        provider_tree.add_traits(nodename, *self._description.traits)

    def live_migration(self, context, instance, dest, post_method,
                       recover_method, block_migration=False,
                       migrate_data=None):
        super().live_migration(
            context, instance, dest, post_method, recover_method,
            block_migration=block_migration, migrate_data=migrate_data)
        # Nova's fake forgets to; the guest could never come back here.
        self.instances.pop(instance.uuid, None)
