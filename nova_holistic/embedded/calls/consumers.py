# SPDX-License-Identifier: Apache-2.0
"""Calls for resource providers in Placement, and for consumers that Nova does
not know."""

import math
import uuid


class ConsumerCalls:
    """Calls for consumers in Placement; a mixin of ``EmbeddedCloud``."""

    def providers(self):
        """UUID of each resource provider by its name."""
        return self.placement_rows.providers()

    def usages(self):
        """Amounts in use by resource class, by name of the provider."""
        return self.placement_rows.usages()

    def allocations(self, consumer):
        """Allocations of one consumer by provider UUID, in the format of
        Placement's API; empty if the consumer has no allocations."""
        return self.placement_rows.allocations(consumer)

    def consumers(self, host):
        """Amounts by resource class, by consumer UUID, for one host."""
        return self.placement_rows.consumers(self.providers()[host])

    def add_consumer(self, host, resources, project_id='other-project',
                     consumer_type='INSTANCE'):
        """Allocate on a host for a consumer that Nova does not know, and
        return the UUID of the consumer.

        :param resources: amount by resource class
        """
        consumer = str(uuid.uuid4())
        self._allocate({consumer: _allocation(
            self.providers()[host], resources, project_id, consumer_type)})
        return consumer

    def delete_consumer(self, consumer):
        """Free all allocations of a consumer."""
        self.placement.delete(f'/allocations/{consumer}')

    def put_load(self, hosts):
        """Allocate the ``load`` of each EmbeddedHost.

        A consumer may not allocate more than max_unit of a resource class.
        Overcommitted load is therefore divided among several consumers.
        """
        providers = self.providers()
        consumers = {
            str(uuid.uuid4()): _allocation(
                providers[host.name], share, 'load', 'INSTANCE')
            for host in hosts if host.load
            for share in _shares(host.load, host.inventories())}
        if consumers:
            self._allocate(consumers)

    def _allocate(self, consumers):
        self.placement.post('/allocations', json=consumers)


def _allocation(provider, resources, project_id, consumer_type):
    return {'allocations': {provider: {'resources': dict(resources)}},
            'project_id': project_id, 'user_id': project_id,
            'consumer_generation': None, 'consumer_type': consumer_type}


def _shares(load, inventories):
    """Split a load into parts that do not exceed max_unit."""
    parts = max(math.ceil(amount / inventories[name]['max_unit'])
                for name, amount in load.items())
    for part in range(parts):
        share = {name: amount * (part + 1) // parts - amount * part // parts
                 for name, amount in load.items()}
        yield {name: amount for name, amount in share.items() if amount}
