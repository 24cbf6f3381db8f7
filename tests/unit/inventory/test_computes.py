# SPDX-License-Identifier: Apache-2.0
"""Which compute nodes there are to plan on."""

import logging

from nova_holistic.inventory.computes import read_computes
from nova_holistic.inventory.service import Service


class Nova:
    """An adapter to a Nova that has these hypervisors."""

    def __init__(self, hypervisors):
        self._pages = [hypervisors, []]
        self.status_code = 200

    def get(self, path, **kwargs):
        return self

    def json(self):
        return {'hypervisors': self._pages.pop(0)}


def node(name, host, state='up'):
    return {'id': f'uuid of {name}', 'hypervisor_hostname': name,
            'service': {'host': host}, 'state': state, 'status': 'enabled'}


def read(*hypervisors):
    return {each.name: each
            for each in read_computes(Service('nova', Nova(hypervisors)))}


def test_nodes_that_share_a_service_are_read_as_disabled(caplog):
    with caplog.at_level(logging.INFO, 'nova_holistic.inventory.computes'):
        found = read(node('metal-1', 'ironic'), node('metal-2', 'ironic'),
                     node('cmp-1.example.org', 'cmp-1'),
                     node('cmp-2.example.org', 'cmp-2', state='down'))
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
