# SPDX-License-Identifier: Apache-2.0
"""Requests that tests send to Placement in addition to those of the tested
code."""

import functools
import uuid

MICROVERSION = '1.38'


class PlacementCalls:
    """A mix-in with requests to Placement.

    :ivar adapter: keystoneauth Adapter with administrator rights; the class
        that inherits from this one sets it
    """

    @functools.cached_property
    def room(self):
        """The totals of each provider by resource class."""
        return {}

    @functools.cached_property
    def other_servers(self):
        """Consumers with allocations by ``allocate``."""
        return set()

    def add_host(self, name, vcpus=4, memory_mb=4096):
        """Create a compute host with these totals; returns the UUID of its
        provider."""
        provider = str(uuid.uuid4())
        self._put_new('post', '/resource_providers',
                      {'name': name, 'uuid': provider})
        self.set_inventory(provider, 0, vcpus, memory_mb)
        return provider

    def add_hosts(self, names, vcpus, memory_mb):
        """Create several hosts; returns the UUID of each provider by the name
        of the host."""
        return {name: self.add_host(name, vcpus, memory_mb) for name in names}

    def set_inventory(self, provider, generation, vcpus, memory_mb):
        totals = {'VCPU': vcpus, 'MEMORY_MB': memory_mb}
        self._put_new('put', f'/resource_providers/{provider}/inventories', {
            'resource_provider_generation': generation,
            'inventories': {kind: {'total': total}
                            for kind, total in totals.items()}})
        self.room[provider] = totals

    def allocate(self, provider, resources, consumer=None,
                 project='other-project'):
        """Allocate capacity for another project's server; returns its UUID."""
        consumer = consumer or str(uuid.uuid4())
        self._put_new('put', f'/allocations/{consumer}', {
            'allocations': {provider: {'resources': resources}},
            'project_id': project, 'user_id': project,
            'consumer_generation': None, 'consumer_type': 'INSTANCE'})
        if project == 'other-project':
            self.other_servers.add(consumer)
        return consumer

    def free(self, consumer):
        """Delete the allocation of another project's server."""
        self.adapter.delete(f'/allocations/{consumer}')
        self.other_servers.discard(consumer)

    def used(self, provider):
        """The used amount of each resource class."""
        return self.adapter.get(
            f'/resource_providers/{provider}/usages',
            microversion=MICROVERSION).json()['usages']

    def consumers(self, provider):
        """All consumers with allocations on the provider."""
        return self.adapter.get(
            f'/resource_providers/{provider}/allocations',
            microversion=MICROVERSION).json()['allocations']

    def allocation(self, consumer):
        """Placement's allocations of a consumer."""
        return self.adapter.get(f'/allocations/{consumer}',
                                microversion=MICROVERSION).json()

    def _put_new(self, method, path, body):
        getattr(self.adapter, method)(
            path, json=body, microversion=MICROVERSION)
