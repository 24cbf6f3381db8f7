# SPDX-License-Identifier: Apache-2.0
"""Aliases of PCI devices, and the request groups of flavors that use them."""

import json

import pytest

from nova_holistic.inventory.nova.pci_aliases import InvalidAlias, PciAliases

GPU = {'name': 'gpu', 'vendor_id': '10de', 'product_id': '20b0'}
NIC = {'name': 'nic', 'resource_class': 'fast nic',
       'traits': 'fast,HW_NIC_SRIOV'}


def aliases(*values):
    return PciAliases.from_conf(map(json.dumps, values))


def test_each_device_is_a_group():
    found = aliases(GPU, NIC).request_groups(
        {'pci_passthrough:alias': 'gpu:2, nic:1'})
    assert [dict(each.resources) for each in found] == [
        {'CUSTOM_PCI_10DE_20B0': 1}, {'CUSTOM_PCI_10DE_20B0': 1},
        {'CUSTOM_FAST_NIC': 1}]
    assert [each.required_traits for each in found] == [
        set(), set(), {'CUSTOM_FAST', 'HW_NIC_SRIOV'}]
    assert len({each.suffix for each in found}) == 3


@pytest.mark.parametrize('value, reason', [
    ('gpu', "'gpu' is not name:count"), ('gpu:x', "'gpu:x'"),
    ('gpu:1,other:1', 'alias other is not in'), ('', "''")])
def test_a_request_that_cannot_be_planned_has_an_objection(value, reason):
    specs = {'pci_passthrough:alias': value}
    assert reason in aliases(GPU).unplannable_reason(specs)
    assert aliases(GPU).request_groups(specs) == ()


@pytest.mark.parametrize('value, reason', [
    ('{', 'not JSON'), ('[]', 'object'), ('{"name": ""}', 'object'),
    ('{"name": "x", "vendor_id": "10de"}', 'product_id'),
    (json.dumps(GPU), 'twice')])
def test_an_invalid_alias_is_named_by_its_position(value, reason):
    with pytest.raises(InvalidAlias, match=f'value 2: .*{reason}'):
        PciAliases.from_conf([json.dumps(GPU), value])
