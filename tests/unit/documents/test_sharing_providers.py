# SPDX-License-Identifier: Apache-2.0
"""Providers that share their resources, in inventory documents."""

import copy

import pytest

from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.documents.inventories.writer import inventory_document
from nova_holistic.exceptions import InvalidDocument

NFS = {'name': 'nfs', 'resources': {'DISK_GB': {'total': 100, 'used': 30}},
       'hosts': ['cmp-1', 'cmp-2']}
CLOUD = {
    'levels': ['rack', 'host'],
    'hosts': [
        {'name': 'cmp-1', 'location': ['r1'],
         'resources': {'VCPU': {'total': 8}},
         'providers': [{'name': 'card', 'resources': {'VGPU': {'total': 2}}}]},
        {'name': 'cmp-2', 'location': ['r1'],
         'resources': {'VCPU': {'total': 8}, 'DISK_GB': {'total': 10}}},
        {'name': 'cmp-3', 'location': ['r2'],
         'resources': {'VCPU': {'total': 8}}}],
    'sharing_providers': [NFS]}


def used_providers(snapshot):
    """Names of the shared providers of each host that uses some."""
    return {host.name: shared for host in snapshot.hosts
            if (shared := [each.name for each in host.providers
                           if each.sharing])}


def with_providers(*providers):
    return {**CLOUD, 'sharing_providers': list(providers)}


def test_hosts_use_shared_classes_that_they_lack():
    snapshot = parse_inventory(CLOUD)
    # The root provider of the second host has DISK_GB.
    assert used_providers(snapshot) == {'cmp-1': ['nfs']}
    (card, nfs) = snapshot.by_name()['cmp-1'].providers
    assert (card.name, card.sharing) == ('card', False)
    assert (nfs.inventories['DISK_GB'].free, nfs.parent) == (70, '')


@pytest.mark.parametrize('disk, users', [
    ({'total': 10, 'reserved': 10}, {'cmp-1', 'cmp-2'}),
    ({'total': 10, 'reserved': 10, 'used': 4}, {'cmp-1', 'cmp-2'}),
    ({'total': 10, 'reserved': 9}, {'cmp-1'}),
    ({'total': 10, 'used': 10}, {'cmp-1'})])
def test_a_disk_without_capacity_is_no_disk(disk, users):
    """Placement allocates nothing of an inventory that is reserved
    completely."""
    document = copy.deepcopy(CLOUD)
    document['hosts'][1]['resources']['DISK_GB'] = disk
    snapshot = parse_inventory(document)
    assert used_providers(snapshot) == dict.fromkeys(users, ['nfs'])
    assert parse_inventory(inventory_document(snapshot)).hosts == (
        snapshot.hosts)


def test_the_largest_of_several_providers_is_used():
    small = {**NFS, 'name': 'small', 'resources': {
        'DISK_GB': {'total': 50}, 'CUSTOM_IOPS': {'total': 9}}}
    snapshot = parse_inventory(with_providers(NFS, small))
    found = {each.name: set(each.inventories)
             for each in snapshot.by_name()['cmp-1'].providers
             if each.sharing}
    assert found == {'nfs': {'DISK_GB'}, 'small': {'CUSTOM_IOPS'}}


def test_a_written_document_has_the_same_hosts():
    snapshot = parse_inventory(with_providers(
        {**NFS, 'uuid': '6f1d9c5e-08dc-4a3c-9b0b-7a1b2c3d4e5f',
         'traits': ['MISC_SHARES_VIA_AGGREGATE']},
        {**NFS, 'name': 'tape', 'resources': {'CUSTOM_TAPE': {'total': 1}}}))
    written = inventory_document(snapshot)
    assert [each['hosts'] for each in written['sharing_providers']] == [
        ['cmp-1'], ['cmp-1', 'cmp-2']]
    assert 'sharing_providers' not in inventory_document(
        parse_inventory(with_providers()))
    assert parse_inventory(written).hosts == snapshot.hosts


def changed(**keys):
    return with_providers({**copy.deepcopy(NFS), **keys})


@pytest.mark.parametrize('document, place, text', [
    (with_providers(NFS, NFS), 'sharing_providers[1].name',
     "'nfs' is already the name of a sharing provider"),
    (changed(hosts=['cmp-1', 'cmp-9']), 'sharing_providers[0].hosts[1]',
     "no host 'cmp-9'"),
    (changed(hosts=[]), 'sharing_providers[0].hosts',
     'at least one'),
    (changed(hosts=['cmp-1', 'cmp-1']), 'sharing_providers[0].hosts',
     'different hosts'),
    (changed(parent='x'), 'sharing_providers[0].parent', 'unknown'),
    (changed(resources={'DISK_GB': {'total': 5, 'reserved': 6}}),
     'sharing_providers[0].resources.DISK_GB.reserved',
     'at most the total'),
    (changed(resources={'DISK_GB': {'total': 5.0}}),
     'sharing_providers[0].resources.DISK_GB.total', ''),
    (changed(uuid='no'), 'sharing_providers[0].uuid', ''),
])
def test_errors_name_their_positions(document, place, text):
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory(document)
    assert place in str(caught.value)
    assert text in str(caught.value)


def test_equal_uuids_are_refused():
    one = '6f1d9c5e-08dc-4a3c-9b0b-7a1b2c3d4e5f'
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory(with_providers(
            {**NFS, 'uuid': one}, {**NFS, 'name': 'other', 'uuid': one}))
    assert 'sharing_providers[1].uuid' in str(caught.value)


def test_a_sharing_provider_is_not_named_as_a_provider_of_its_hosts():
    document = with_providers(NFS)
    document['hosts'][0]['providers'] = [{'name': 'nfs', 'resources': {}}]
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory(document)
    assert str(caught.value) == (
        "sharing_providers[0].name: 'nfs' is already the name of a provider "
        "of host 'cmp-1'")
    document['sharing_providers'][0]['uuid'] = (
        '6f1d9c5e-08dc-4a3c-9b0b-7a1b2c3d4e5f')
    assert parse_inventory(document).hosts


def test_a_sharing_provider_has_a_uuid_of_its_own():
    document = with_providers(
        {**NFS, 'uuid': '6f1d9c5e-08dc-4a3c-9b0b-7a1b2c3d4e5f'})
    document['hosts'][1]['uuid'] = '6F1D9C5E-08DC-4A3C-9B0B-7A1B2C3D4E5F'
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory(document)
    assert str(caught.value) == (
        "sharing_providers[0].uuid: '6f1d9c5e-08dc-4a3c-9b0b-7a1b2c3d4e5f' is "
        'already the uuid of hosts[1]')
