# SPDX-License-Identifier: Apache-2.0
"""Ports that request resources, in the Neutron of Nova's own tests, and the
providers that Neutron's agents would create."""

import copy

import fixtures
from nova.tests import fixtures as nova_fixtures
from oslo_utils import uuidutils

from nova_holistic.embedded.calls.servers import PROJECT

BANDWIDTH = ('NET_BW_EGR_KILOBIT_PER_SEC', 'NET_BW_IGR_KILOBIT_PER_SEC')
PACKETS = 'NET_PACKET_RATE_KILOPACKET_PER_SEC'
_GROUPS = {
    'name': 'Port Resource Request Groups', 'links': [],
    'updated': '2021-08-02T10:00:00-00:00', 'description': '',
    'alias': 'port-resource-request-groups'}


class PortsNeutron(nova_fixtures.NeutronFixture):
    """Replaces the Neutron of a running cloud."""

    def __init__(self):
        super().__init__(self)
        self._ports = {}

    def flags(self, group=None, **options):
        self.useFixture(nova_fixtures.ConfPatcher(group=group, **options))

    def stub_out(self, name, replacement):
        self.useFixture(fixtures.MonkeyPatch(name, replacement))

    def list_extensions(self, *args, **kwargs):
        found = super().list_extensions(*args, **kwargs)
        return {'extensions': [*found['extensions'], _GROUPS]}

    def add_network(self, name, physical_network):
        """Create a network without addresses; returns its UUID."""
        network = {**copy.deepcopy(self.network_2), 'name': name,
                   'id': uuidutils.generate_uuid(),
                   'provider:physical_network': physical_network}
        self._networks[network['id']] = network
        return network['id']

    def add_port(self, network, vnic_type, *groups):
        """Create a port; returns its UUID.

        :param groups: resources and required traits of each group that it
            requests from one subtree
        """
        template = (self.port_1 if vnic_type == 'normal'
                    else self.sriov_port)
        new = uuidutils.generate_uuid()
        # As in Nova's tests, a single group has the UUID of its port.
        request = [{'id': uuidutils.generate_uuid() if number else new,
                    'resources': resources, 'required': list(traits)}
                   for number, (resources, traits) in enumerate(groups)]
        port = {**copy.deepcopy(template), 'id': new,
                'network_id': network, 'binding:vnic_type': vnic_type,
                'tenant_id': PROJECT, 'project_id': PROJECT,
                'resource_request': None}
        if request:
            port['resource_request'] = {
                'request_groups': request,
                'same_subtree': [each['id'] for each in request]}
        self._ports[new] = port
        return new

    def binding(self, port):
        """The host of a port, and its binding profile."""
        found = self.show_port(port)['port']
        return found.get('binding:host_id'), found['binding:profile']

    def groups(self, port):
        """UUIDs of the groups that a port requests."""
        return [each['id'] for each in self._ports[port]['resource_request'][
            'request_groups']]


def create_provider(cloud, name, parent, inventories, traits):
    """Create a provider of an agent of Neutron; returns its UUID."""
    made = uuidutils.generate_uuid()
    cloud.placement.post('/resource_providers', json={
        'name': name, 'uuid': made, 'parent_provider_uuid': parent})
    cloud.placement.put(f'/resource_providers/{made}/inventories', json={
        'resource_provider_generation': 0, 'inventories': {
            resource: {'total': total}
            for resource, total in inventories.items()}})
    for trait in traits:
        if trait.startswith('CUSTOM_'):
            cloud.placement.put(f'/traits/{trait}')
    generation = cloud.placement.get(
        f'/resource_providers/{made}').json()['generation']
    cloud.placement.put(f'/resource_providers/{made}/traits', json={
        'resource_provider_generation': generation, 'traits': list(traits)})
    return made
