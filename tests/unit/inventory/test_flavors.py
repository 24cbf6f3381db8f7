# SPDX-License-Identifier: Apache-2.0
"""A flavor of Nova becomes amounts and traits, or has a reason why it
cannot."""

import pytest

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.inventory.nova.flavors import flavor_from_nova
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import RequestGroup


def flavor(disk=20, ephemeral=0, swap=0, **specs):
    return flavor_from_nova({
        'id': '42', 'name': 'some', 'vcpus': 2, 'ram': 2048, 'disk': disk,
        'OS-FLV-EXT-DATA:ephemeral': ephemeral, 'swap': swap,
        'extra_specs': specs})


def spec(key, value, **more):
    return flavor(**{key: value}, **more)


PLAIN = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 20}


def test_a_plain_flavor_is_converted():
    plain = flavor()
    assert (plain.name, plain.id) == ('some', '42')
    assert plain.resources == PLAIN
    assert not plain.required_traits | plain.forbidden_traits
    assert plain.unplannable == ''


@pytest.mark.parametrize(('swap', 'disk'), [
    (0, 20), (1, 21), (1024, 21), (1025, 22), (4096, 24)])
def test_swap_is_rounded_up_to_whole_gibibytes_of_disk(swap, disk):
    assert flavor(swap=swap).resources['DISK_GB'] == disk


def test_root_ephemeral_and_swap_add_up():
    assert flavor(disk=20, ephemeral=30, swap=512).resources['DISK_GB'] == 51


def test_a_flavor_without_disk_requests_no_disk():
    assert flavor(disk=0).resources == {'VCPU': 2, 'MEMORY_MB': 2048}


@pytest.mark.parametrize(('key', 'value', 'resources'), [
    ('resources:VCPU', '5', PLAIN | {'VCPU': 5}),
    ('resources:CUSTOM_FPGA', '1', PLAIN | {'CUSTOM_FPGA': 1}),
    ('resources:DISK_GB', '0', {'VCPU': 2, 'MEMORY_MB': 2048}),
    ('resources:VCPU', '0', {'MEMORY_MB': 2048, 'DISK_GB': 20}),
    ('resources:VCPU', 'many', PLAIN),
    ('resources:VCPU', '-1', PLAIN),
    ('resources:PCPU', '2', {'PCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 20}),
    ('resources1:VCPU', '2', {'MEMORY_MB': 2048, 'DISK_GB': 20}),
    ('resources1:PCPU', '0', {'MEMORY_MB': 2048, 'DISK_GB': 20}),
    ('resources_a:DISK_GB', '0', {'VCPU': 2, 'MEMORY_MB': 2048}),
    ('resources1:MEMORY_MB', 'much', PLAIN),
    ('resources:UNKNOWN', '1', PLAIN),
    ('hw:cpu_policy', 'shared', PLAIN),
    ('hw:cpu_policy', 'dedicated',
     {'PCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 20}),
    ('quota:cpu_shares', '7', PLAIN),
])
def test_extra_specs_override_amounts(key, value, resources):
    assert spec(key, value).resources == resources


def test_isolated_emulator_threads_take_one_more_dedicated_cpu():
    isolated = flavor(**{'hw:cpu_policy': 'dedicated',
                         'hw:emulator_threads_policy': 'isolate'})
    assert isolated.resources['PCPU'] == 3


def test_a_mixed_policy_takes_dedicated_and_shared_cpus():
    mixed = flavor(**{'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0'})
    assert mixed.unplannable == ''
    assert (mixed.resources['PCPU'], mixed.resources['VCPU']) == (1, 1)


@pytest.mark.parametrize('mask', ['0-1', '^0-1', '2', 'x', '1-0', ','])
def test_a_mask_without_both_kinds_makes_a_flavor_unplannable(mask):
    assert 'hw:cpu_dedicated_mask' in flavor(**{
        'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': mask}).unplannable


def test_traits_are_required_and_forbidden():
    made = flavor(**{'trait:CUSTOM_NVME': 'required',
                     'trait:CUSTOM_SLOW': 'forbidden',
                     'trait:CUSTOM_ODD': 'perhaps'})
    assert made.required_traits == {'CUSTOM_NVME'}
    assert made.forbidden_traits == {'CUSTOM_SLOW'}


@pytest.mark.parametrize(('key', 'value'), [
    ('accel:device_profile', 'gpu'),
    ('pci_passthrough:alias', 'gpu:1'), ('pci_passthrough:other', 'x'),
    ('hw:pmem', 'small'),
    ('hw:mem_encryption', 'true'), ('hw:cpu_policy', 'mixed'),
    ('hw:cpu_dedicated_mask', '0'),
])
def test_an_unsupported_extra_spec_makes_a_flavor_unplannable(key, value):
    assert key in spec(key, value).unplannable


@pytest.mark.parametrize(('key', 'value'), [
    ('hw:numa_nodes', '2'), ('hw:mem_page_size', 'large'),
    ('hw:cpu_realtime', 'yes')])
def test_numa_nodes_do_not_change_the_amounts(key, value):
    """Nova's filter decides, and the engine learns the hosts that it refuses.
    """
    made = spec(key, value)
    assert (made.unplannable, made.resources) == (
        '', spec('hw:other', '1').resources)


def test_suffixed_extra_specs_are_request_groups():
    made = flavor(**{
        'resources1:VGPU': '1', 'resources1:CUSTOM_X': '2',
        'resources1:CUSTOM_Y': '0', 'trait1:CUSTOM_A': 'required',
        'trait1:CUSTOM_B': 'forbidden', 'trait1:CUSTOM_C': 'perhaps',
        'resources_NIC:SRIOV_NET_VF': '1', 'group_policy': 'isolate'})
    assert made.unplannable == ''
    assert made.resources == PLAIN
    assert made.group_policy == 'isolate'
    assert made.request_groups == (
        RequestGroup('1', FrozenMapping({'VGPU': 1, 'CUSTOM_X': 2}),
                     frozenset(['CUSTOM_A']), frozenset(['CUSTOM_B'])),
        RequestGroup('_NIC', FrozenMapping({'SRIOV_NET_VF': 1})))


def test_nova_requests_no_class_that_it_does_not_know():
    made = flavor(**{'resources1:UNKNOWN': '1', 'resources2:VGPU': '1'})
    assert made.unplannable == ''
    assert made.request_groups == (
        RequestGroup('2', FrozenMapping({'VGPU': 1})),)


def test_a_root_volume_does_not_change_the_disk_of_a_group():
    assert spec('resources1:DISK_GB', '20').root_gb == 0


@pytest.mark.parametrize(('specs', 'text'), [
    # Placement refuses such requests.
    ({'trait1:CUSTOM_X': 'required'}, 'trait1 requests no resources'),
    ({'resources1:VGPU': '1', 'resources2:VGPU': '1'}, 'group_policy'),
    ({'resources1:VGPU': '1', 'resources2:VGPU': '1', 'group_policy': 'x'},
     'group_policy'),
])
def test_groups_that_placement_refuses_make_a_flavor_unplannable(specs, text):
    assert text in flavor(**specs).unplannable


def test_a_member_has_the_groups_of_its_flavor():
    group = Group('g', members=(MemberDescription(
        'm', Requirements(flavor='some')),))
    made = spec('resources1:VGPU', '1')
    (member,) = bind(group, Snapshot(('host',), (), flavors=FrozenMapping(
        {'some': made}))).all_members()
    assert member.requirements.request_groups == made.request_groups


def test_a_member_with_an_unplannable_flavor_is_refused():
    group = Group('g', members=(MemberDescription(
        'm', Requirements(flavor='some'), place='members[0]'),))
    snapshot = Snapshot(('host',), (), flavors=FrozenMapping(
        {'some': spec('hw:cpu_policy', 'mixed')}))
    with pytest.raises(InvalidDocument) as error:
        bind(group, snapshot)
    assert error.value.place == 'members[0].flavor'
    assert 'hw:cpu_policy' in error.value.message
