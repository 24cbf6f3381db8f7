# SPDX-License-Identifier: Apache-2.0
"""The compute nodes on which groups can be planned."""

import logging

from nova_holistic.inventory.nova.computes import combine
from nova_holistic.inventory.nova.hypervisors import ComputeService, Hypervisor


def node(name, host):
    return Hypervisor(f'uuid of {name}', name, host,
                      ComputeService(f'service of {host}', True), ('', 0))


def read(*hypervisors, down=()):
    services = {each.host: ComputeService(each.service.id,
                                          each.host not in down)
                for each in hypervisors}
    return {each.name: each for each in combine(hypervisors, services)}


def test_nodes_that_share_a_service_are_read_as_disabled(caplog):
    with caplog.at_level(
            logging.INFO, 'nova_holistic.inventory.nova.computes'):
        found = read(node('metal-1', 'ironic'), node('metal-2', 'ironic'),
                     node('cmp-1.example.org', 'cmp-1'),
                     node('cmp-2.example.org', 'cmp-2'), down=['cmp-2'])
    assert {name: each.enabled for name, each in found.items()} == {
        'metal-1': False, 'metal-2': False, 'cmp-1': True, 'cmp-2': False}
    assert {found[name].host for name in ('metal-1', 'metal-2')} == {'ironic'}
    (line,) = caplog.messages
    assert line.endswith('none is planned: ironic')


def test_a_node_with_a_service_of_its_own_is_enabled(caplog):
    found = read(node('metal-1', 'ironic-1'))
    assert found['ironic-1'].enabled
    assert found['ironic-1'].node == 'metal-1'
    assert caplog.messages == []
