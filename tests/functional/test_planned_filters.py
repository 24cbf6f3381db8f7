# SPDX-License-Identifier: Apache-2.0
"""Hosts that an enabled filter of Nova refuses are not planned.

Each case makes Nova refuse some hosts, and names the remaining ones. Stock
Nova must agree: the server is created on its planned host at the first
attempt, and a server without a pointer is created on an allowed host, too.
"""

import contextlib
from dataclasses import dataclass, field

import pytest

from nova_holistic.constraints import filter_table
from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import GroupStatus

OWN = ('CUSTOM_LICENSED', 'COMPUTE_IMAGE_TYPE_QCOW2',
       'COMPUTE_NET_VIF_MODEL_VIRTIO', 'COMPUTE_SOCKET_PCI_NUMA_AFFINITY',
       'COMPUTE_SECURITY_TPM_2_0', 'COMPUTE_SECURITY_TPM_CRB',
       'COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER')
"""Traits that only the last host has."""
HOSTS = tuple(
    EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1', traits=(
        'COMPUTE_SOUND_MODEL_VIRTIO', *(OWN if number == 3 else ())))
    for number in range(4))
NAMES = frozenset(host.name for host in HOSTS)
LAST = frozenset({'cmp-3'})
OTHERS = NAMES - LAST
FILTERS = [
    'ComputeFilter', 'AggregateInstanceExtraSpecsFilter',
    'AggregateMultiTenancyIsolation', 'AggregateImagePropertiesIsolation',
    'AggregateTypeAffinityFilter', 'AggregateNumInstancesFilter',
    'ImagePropertiesFilter', 'IsolatedHostsFilter',
    'ComputeCapabilitiesFilter', 'ServerGroupAffinityFilter',
    'ServerGroupAntiAffinityFilter']


@dataclass(frozen=True)
class Case:
    """A reason for which Nova refuses hosts, and the remaining hosts.

    :ivar left: hosts that Nova does not refuse
    :ivar metadata: metadata of an aggregate
    :ivar hosts: hosts in that aggregate
    :ivar flavor: flavor of the member
    :ivar properties: properties of the member's image; None for no image
    :ivar fields: further fields of the image
    :ivar options: Nova's options by group and name
    """

    left: frozenset[str]
    metadata: dict = field(default_factory=dict)
    hosts: frozenset[str] = LAST
    flavor: str = 'plain'
    properties: dict | None = None
    fields: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)


CASES = {
    'extra specs, scoped': Case(LAST, {'speed': 'high'}, flavor='scoped'),
    'extra specs with an operator': Case(
        LAST, {'size': '8'}, flavor='at-least'),
    'extra specs with one of several values': Case(
        LAST, {'speed': 'low, high'}, flavor='scoped'),
    'a host of another project': Case(
        OTHERS, {'filter_tenant_id_1': 'another'}),
    'a property of the image': Case(
        OTHERS, {'hw_rng_model': 'other'},
        properties={'hw_rng_model': 'virtio'}),
    'a property of the image that Nova writes in lower case': Case(
        NAMES, {'os_type': 'linux'}, properties={'os_type': 'Linux'}),
    'a property of the image by its old name': Case(
        OTHERS, {'hw_scsi_model': 'other'},
        properties={'vmware_adaptertype': 'lsilogicsas'}),
    'a number of the image that is 0': Case(
        NAMES, {'hw_video_ram': '16'}, properties={'hw_video_ram': '0'}),
    'a host for another flavor': Case(
        OTHERS, {'instance_type': 'scoped, small'}),
    'a host that is full of servers': Case(
        LAST, {'max_instances_per_host': '0'}, hosts=OTHERS),
    'the type of the hypervisor': Case(
        frozenset(), properties={'img_hv_type': 'kvm'}),
    'the version of the hypervisor': Case(
        frozenset(), properties={'img_hv_type': 'fake',
                                 'hypervisor_version_requires': '>=9'}),
    'a capability of the hypervisor': Case(frozenset(), flavor='capable'),
    'a project with aggregates of its own': Case(
        LAST, {'filter_tenant_id': PROJECT}, options={
            ('scheduler', 'limit_tenants_to_placement_aggregate'): True}),
    'an aggregate that requires a trait': Case(
        OTHERS, {'trait:CUSTOM_LICENSED': 'required'}, options={
            ('scheduler', 'enable_isolated_aggregate_filtering'): True}),
    'an aggregate that requires the trait of a request group': Case(
        LAST, {'trait:CUSTOM_LICENSED': 'required'}, flavor='licensed',
        options={
            ('scheduler', 'enable_isolated_aggregate_filtering'): True}),
    'an aggregate that requires the trait of a request filter': Case(
        OTHERS, {'trait:COMPUTE_SOUND_MODEL_VIRTIO': 'required'},
        flavor='sounding', options={
            ('scheduler', 'enable_isolated_aggregate_filtering'): True}),
    'the disk format of the image': Case(
        LAST, properties={}, fields={'disk_format': 'qcow2'}, options={
            ('scheduler', 'query_placement_for_image_type_support'): True}),
    'a device of the image': Case(
        LAST, properties={'hw_vif_model': 'virtio'}, options={
            ('scheduler', 'image_metadata_prefilter'): True}),
    'devices that share a socket': Case(
        LAST, properties={'hw_pci_numa_affinity_policy': 'socket'}),
    'a TPM of the flavor whose model the image names': Case(
        LAST, flavor='trusted', properties={'hw_tpm_model': 'tpm-crb'}),
    'isolated hosts': Case(OTHERS, options={
        ('filter_scheduler', 'isolated_hosts'): ['cmp-3']}),
}


@pytest.fixture(scope='module')
def running(own_cloud):
    with own_cloud(HOSTS, options={
            ('filter_scheduler', 'enabled_filters'): FILTERS}) as cloud:
        cloud.create_flavor('plain', 2, 2048, 10)
        cloud.create_flavor('scoped', 2, 2048, 10, {
            'aggregate_instance_extra_specs:speed': 'high'})
        cloud.create_flavor('at-least', 2, 2048, 10, {
            'aggregate_instance_extra_specs:size': '>= 8'})
        cloud.create_flavor('capable', 2, 2048, 10, {
            'capabilities:hypervisor_version': '>= 9000000'})
        cloud.create_flavor('licensed', 2, 2048, 10, {
            'resources1:VCPU': '2', 'trait1:CUSTOM_LICENSED': 'required'})
        cloud.create_flavor('sounding', 2, 2048, 10, {
            'hw:sound_model': 'virtio'})
        cloud.create_flavor('trusted', 2, 2048, 10, {'hw:tpm_version': '2.0'})
        yield cloud


@contextlib.contextmanager
def arranged(cloud, case):
    """Create the aggregate, the options and the image of a case; returns the
    image."""
    aggregate = cloud.create_aggregate('case', case.metadata, case.hosts)
    for (group, name), value in case.options.items():
        cloud.conf.set_override(name, value, group)
    image = cloud.image.create(
        'case', case.properties or {}, **case.fields)
    try:
        yield image
    finally:
        cloud.image.delete(image)
        for group, name in case.options:
            cloud.conf.clear_override(name, group)
        for host in case.hosts:
            cloud.act_on_aggregate(aggregate, 'remove_host', host=host)
        cloud.compute.delete(f'/os-aggregates/{aggregate}')


def create(cloud, case, image):
    member = {'name': 'a', 'flavor': case.flavor}
    if case.properties is not None:
        member['image'] = image
    return cloud.planner.create({'name': 'shop', 'members': [member]},
                                project_id=PROJECT, user_id=USER)


@pytest.mark.parametrize('case', CASES.values(), ids=CASES)
def test_a_member_is_planned_where_nova_admits_it(cloud, case):
    with arranged(cloud, case) as image:
        record = create(cloud, case, image)
        if not case.left:
            stock = cloud.create_server('stock', case.flavor, imageRef=image)
            assert 'No valid host' in cloud.fault_of(stock)
            assert record.status == GroupStatus.UNPLACEABLE
            assert any('Nova refuses 4 of 4 hosts for this member'
                       in reason['message'] for reason in record.reasons)
            return
        assert record.status == GroupStatus.PLANNED, record.reasons
        row = cloud.row(record.uuid, 'a')
        assert row.place.host in case.left
        assert {place.host for place in row.alternates} == (
            case.left - {row.place.host})
        server = cloud.create_server(
            'a', case.flavor, {'group': record.uuid, 'member': 'a'},
            imageRef=image)
        stock = cloud.create_server('stock', case.flavor, imageRef=image)
        for each in server, stock:
            cloud.wait_for_status(each, 'ACTIVE')
        assert cloud.host_of(server) == row.place.host
        assert cloud.host_of(stock) in case.left


def test_members_share_what_a_host_may_have_of_servers(cloud):
    case = Case(NAMES, {'max_instances_per_host': '2'}, hosts=NAMES)
    with arranged(cloud, case):
        record = cloud.planner.create(
            {'name': 'shop', 'policies': [{'type': 'affinity', 'weight': 1}],
             'members': [{'name': 'a', 'flavor': 'plain', 'count': 3}]},
            project_id=PROJECT, user_id=USER)
        assert record.status == GroupStatus.PLANNED, record.reasons
        hosts = [row.place.host for row in cloud.table.members(record.uuid)]
        assert sorted(map(hosts.count, set(hosts))) == [1, 2]
        rows = cloud.table.members(record.uuid)
        assert not any(
            set(row.member.requirements.resources) - {
                'VCPU', 'MEMORY_MB', 'DISK_GB'} for row in rows)


def test_a_root_volume_of_an_isolated_image_is_admitted_where_nova_admits_it(
        cloud):
    image = cloud.image.create('secret', {})
    cloud.conf.set_override('isolated_hosts', ['cmp-3'], 'filter_scheduler')
    cloud.conf.set_override('isolated_images', [image], 'filter_scheduler')
    try:
        record = cloud.planner.create(
            {'name': 'shop', 'members': [
                {'name': 'a', 'flavor': 'plain', 'image': image,
                 'boot_from_volume': True, 'location': 'az1/r1/cmp-3'}]},
            project_id=PROJECT, user_id=USER)
        assert record.status == GroupStatus.PLANNED, record.reasons
        for pointer in {'group': record.uuid, 'member': 'a'}, None:
            server = cloud.create_server(
                'a', 'plain', pointer, imageRef='',
                block_device_mapping_v2=[{
                    'boot_index': 0, 'uuid': image, 'source_type': 'image',
                    'destination_type': 'volume', 'volume_size': 10}])
            cloud.wait_for_status(server, 'ACTIVE')
            assert cloud.host_of(server) == 'cmp-3'
    finally:
        cloud.image.delete(image)
        for name in 'isolated_hosts', 'isolated_images':
            cloud.conf.clear_override(name, 'filter_scheduler')


def test_every_filter_of_nova_is_listed():
    from nova.scheduler import filters
    from nova.scheduler import request_filter
    assert {each.__name__ for each in filters.all_filters()} == {
        rule.name for rule in filter_table.FILTERS}
    assert {each.__name__ for each in request_filter.ALL_REQUEST_FILTERS
            } == {rule.name for rule in filter_table.REQUEST_FILTERS}


def test_the_properties_of_images_are_those_that_nova_knows():
    from nova.objects import fields, image_meta

    from nova_holistic.model.nova import image_fields
    known = image_meta.ImageMetaProps.fields
    assert set(known) == image_fields.FIELDS
    assert {name for name, each in known.items()
            if isinstance(each, fields.FlexibleBooleanField)
            } == image_fields.SWITCHES


@pytest.mark.parametrize('required', [
    'a', 's== a', 's!= a', 's< b', '<or> a <or> b', '<or> b', '<in> a',
    '<all-in> a b', '<all-in> a', '>= 4', '<= 4', '== 4', '!= 4', '= 4', '4',
    '<or> 4 <or> 5', '', 's==', '>='])
@pytest.mark.parametrize('value', ['a', 'ab', '4', '4.0', '5', ''])
def test_operators_mean_what_they_mean_to_nova(value, required):
    from nova.scheduler.filters import extra_specs_ops

    from nova_holistic.constraints import operators
    try:
        expected = bool(extra_specs_ops.match(value, required))
    except ValueError:
        expected = False
    assert operators.matches(value, required) == expected
