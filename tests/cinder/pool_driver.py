# SPDX-License-Identifier: Apache-2.0
"""A driver of Cinder with several pools and no disks."""

from collections import defaultdict

from cinder import exception
from cinder.tests import fake_driver
from cinder.volume import volume_utils

FAILS = 'no disk'
"""Name of a volume that cannot be created."""

FAILS_ONCE = 'no disk at first'
"""Name of a volume whose first create fails."""

broken_pools: set[str] = set()
"""Pools in which no volume can be created."""

BACKENDS = {
    'cmp-1@local': {
        'nvme': {'total_capacity_gb': 100, 'reserved_percentage': 10,
                 'media': 'flash'}},
    'storage-1@array': {
        'thin': {'total_capacity_gb': 50, 'thin_provisioning_support': True,
                 'max_over_subscription_ratio': '4.0', 'media': 'flash'},
        'thick': {'total_capacity_gb': 80, 'media': 'disk'}},
    'storage-2@ceph': {
        'rbd': {'total_capacity_gb': 'infinite', 'media': 'disk'}},
}
"""Services, their pools, and what each pool reports."""


class PoolDriver(fake_driver.FakeLoggingVolumeDriver):
    """Creates volumes in memory.

    :ivar sizes: GiB of each volume, by pool and by ID
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sizes = defaultdict(dict)
        self._failed = set()

    def create_volume(self, volume):
        name = volume.display_name
        if name == FAILS or self._pool(volume) in broken_pools or (
                name == FAILS_ONCE and volume.id not in self._failed):
            self._failed.add(volume.id)
            raise exception.VolumeBackendAPIException(data=name)
        self.sizes[self._pool(volume)][volume.id] = volume.size

    def clone_image(self, context, volume, image_location, image_meta,
                    image_service):
        """The storage copies images itself, as Ceph does."""
        self.create_volume(volume)
        return {}, True

    def delete_volume(self, volume):
        self.sizes[self._pool(volume)].pop(volume.id, None)

    @staticmethod
    def _pool(volume):
        return volume_utils.extract_host(volume.host, 'pool')

    def _update_volume_stats(self):
        self._stats = {
            'volume_backend_name': 'test', 'vendor_name': 'test',
            'driver_version': '1', 'storage_protocol': 'test',
            'pools': [self._report(name, fields) for name, fields
                      in BACKENDS[self.host].items()]}

    def _report(self, name, fields):
        used = sum(self.sizes[name].values())
        total = fields['total_capacity_gb']
        return {'pool_name': name, 'reserved_percentage': 0,
                'thick_provisioning_support': 'thin' not in name,
                'free_capacity_gb': total if total == 'infinite'
                else total - used / 4 if name == 'thin' else total - used,
                'provisioned_capacity_gb': used, **fields}
