# SPDX-License-Identifier: Apache-2.0
"""For random flavors and images, a member requires what Nova would request
from Placement."""

from dataclasses import dataclass
import random

import pytest

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.inventory.nova.flavors import flavor_from_nova
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.nova.image import Image
from tests.effort import times

SPECS = {
    'resources:VCPU': ['0', '1', '5', 'x', '-1'],
    'resources:MEMORY_MB': ['0', '512'], 'resources:DISK_GB': ['0', '7'],
    'resources:PCPU': ['0', '2'], 'resources:CUSTOM_X': ['0', '1'],
    'resources:UNKNOWN': ['1'], 'resources:custom_y': ['1'],
    'resources1:VCPU': ['0', '2'], 'resources1:MEMORY_MB': ['0', '100'],
    'resources1:DISK_GB': ['0', '3'], 'resources1:PCPU': ['0', '2'],
    'resources2:VGPU': ['1'], 'resources2:UNKNOWN': ['1'],
    'resources_A:VCPU': ['2'], 'trait1:CUSTOM_T': ['required', 'forbidden'],
    'group_policy': ['none', 'isolate', 'x'],
    'hw:cpu_policy': ['shared', 'dedicated', 'mixed'],
    'hw:cpu_dedicated_mask': ['0', '1', '0-1', '^0'],
    'hw:emulator_threads_policy': ['share', 'isolate'],
    'trait:CUSTOM_T': ['required', 'forbidden', 'x'],
    'trait:COMPUTE_SOUND_MODEL_VIRTIO': ['required'],
    'trait:COMPUTE_SECURITY_TPM_TIS': ['required'],
    'hw:mem_encryption': ['false', '0'],
}
SWITCH = ['true', ' Yes ', '1', 'false', 'no', '0']
SHARED = {
    'hw:cpu_thread_policy': ['prefer', 'isolate', 'require'],
    'hw:ephemeral_encryption': SWITCH,
    'hw:ephemeral_encryption_format': ['luks', 'plain'],
    'hw:maxphysaddr_mode': ['emulate', 'passthrough'],
    'hw:pci_numa_affinity_policy': ['required', 'legacy', 'socket'],
    'hw:sound_model': ['virtio', 'sb16'],
    'hw:tpm_version': ['1.2', '2.0'], 'hw:tpm_model': ['tpm-tis', 'tpm-crb'],
    'hw:virtio_packed_ring': SWITCH,
    'os:secure_boot': ['required', 'disabled', 'optional'],
}
"""Extra specs that an image may have as well."""
PROPERTIES = {
    **{key.replace(':', '_'): values for key, values in SHARED.items()},
    'hw_cpu_policy': ['shared'], 'hw_mem_encryption': ['false'],
    'hw_firmware_type': ['uefi', 'bios'], 'hw_firmware_stateless': SWITCH,
    'trait:CUSTOM_I': ['required', 'x'], 'hw_pmem': ['a'],
}


@dataclass(frozen=True)
class Case:
    """Flavor and image of a member that may boot from a volume."""

    specs: dict
    properties: dict
    sizes: dict
    volume: bool

    @classmethod
    def of(cls, number):
        generator = random.Random(number)
        sizes = {name: generator.choice(values) for name, values in {
            'vcpus': [1, 2, 4], 'ram': [1024], 'disk': [0, 10],
            'OS-FLV-EXT-DATA:ephemeral': [0, 5], 'swap': [0, 1, 2000]}.items()}
        return cls(
            {**some(generator, SPECS, 3), **some(generator, SHARED, 2)},
            some(generator, PROPERTIES, 3), sizes, generator.random() < .3)


def some(generator, table, most):
    return {name: generator.choice(table[name]) for name in generator.sample(
        sorted(table), generator.randint(0, most))}


@pytest.fixture(scope='module', autouse=True)
def nova():
    from nova import objects
    objects.register_all()


def test_a_member_requires_what_nova_requests():
    compared = 0
    for number in range(times(4000)):
        case = Case.of(number)
        theirs = _request(case)
        own = theirs and _requirements(case)
        if own is not None:
            assert own == theirs, case
            compared += 1
    assert compared > times(1500)


def _request(case):
    """Groups and traits of Nova's request; None if Nova refuses it."""
    from nova import exception
    from nova import objects
    from nova.scheduler import request_filter
    from nova.scheduler import utils
    from nova.virt import hardware
    sizes = case.sizes
    flavor = objects.Flavor(
        id=1, flavorid='1', name='f', vcpus=sizes['vcpus'],
        memory_mb=sizes['ram'], root_gb=sizes['disk'], swap=sizes['swap'],
        ephemeral_gb=sizes['OS-FLV-EXT-DATA:ephemeral'],
        extra_specs=case.specs)
    image = objects.ImageMeta.from_dict(
        {'id': 'i', 'name': 'i', 'properties': dict(case.properties)})
    spec = objects.RequestSpec(
        flavor=flavor, image=image, is_bfv=case.volume, requested_resources=[],
        request_level_params=objects.RequestLevelParams())
    try:
        hardware.numa_get_constraints(flavor, image)
        for each in (request_filter.packed_virtqueue_filter,
                     request_filter.ephemeral_encryption_filter,
                     request_filter.virtio_sound_filter):
            each(None, spec)
        asked = utils.ResourceRequest.from_request_spec(spec)
    except exception.NovaException:
        return None
    groups = {suffix: (dict(group.resources), set(group.required_traits),
                       set(group.forbidden_traits))
              for suffix, group in asked._rg_by_id.items()}
    resources, required, forbidden = groups.pop(None, ({}, set(), set()))
    return resources, required | spec.root_required, forbidden, groups


def _requirements(case):
    """Groups and traits of the member; None if it cannot be planned."""
    flavor = flavor_from_nova({
        'id': '1', 'name': 'f', **case.sizes, 'extra_specs': case.specs})
    member = MemberDescription('m', Requirements(
        flavor='f', boot_from_volume=case.volume,
        image=Image('i', FrozenMapping(case.properties))))
    snapshot = Snapshot(('host',), (), flavors=FrozenMapping({'f': flavor}))
    try:
        (bound,) = bind(Group('g', members=(member,)), snapshot).all_members()
    except InvalidDocument:
        return None
    needs = bound.requirements
    return dict(needs.resources), needs.required_traits, (
        needs.forbidden_traits), {
            each.suffix: (dict(each.resources), each.required_traits,
                          each.forbidden_traits)
            for each in needs.request_groups}
