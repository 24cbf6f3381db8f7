# SPDX-License-Identifier: Apache-2.0
"""For random flavors, a member requires what Nova would request from
Placement."""

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
}


@dataclass(frozen=True)
class Case:
    """A flavor of a member that may boot from a volume."""

    specs: dict
    sizes: dict
    volume: bool

    @classmethod
    def of(cls, number):
        generator = random.Random(number)
        sizes = {name: generator.choice(values) for name, values in {
            'vcpus': [1, 2, 4], 'ram': [1024], 'disk': [0, 10],
            'OS-FLV-EXT-DATA:ephemeral': [0, 5], 'swap': [0, 1, 2000]}.items()}
        return cls(some(generator, SPECS, 4), sizes, generator.random() < .3)


def some(generator, table, most):
    return {name: generator.choice(table[name]) for name in generator.sample(
        sorted(table), generator.randint(0, most))}


@pytest.fixture(scope='module', autouse=True)
def nova():
    from nova import objects
    objects.register_all()


def test_a_member_requires_what_nova_requests():
    compared = 0
    for number in range(times(5000)):
        case = Case.of(number)
        theirs = _request(case)
        own = theirs and _requirements(case)
        if own is not None:
            assert own == theirs, case
            compared += 1
    assert compared > times(1000)


def _request(case):
    """Resources and groups of Nova's request; None if Nova refuses it."""
    from nova import exception
    from nova import objects
    from nova.scheduler import utils
    from nova.virt import hardware
    sizes = case.sizes
    flavor = objects.Flavor(
        id=1, flavorid='1', name='f', vcpus=sizes['vcpus'],
        memory_mb=sizes['ram'], root_gb=sizes['disk'], swap=sizes['swap'],
        ephemeral_gb=sizes['OS-FLV-EXT-DATA:ephemeral'],
        extra_specs=case.specs)
    image = objects.ImageMeta.from_dict({'id': 'i', 'properties': {}})
    try:
        hardware.numa_get_constraints(flavor, image)
        asked = utils.ResourceRequest.from_request_spec(objects.RequestSpec(
            flavor=flavor, image=image, is_bfv=case.volume,
            requested_resources=[],
            request_level_params=objects.RequestLevelParams()))
    except exception.NovaException:
        return None
    groups = {suffix: (dict(group.resources), set(group.required_traits),
                       set(group.forbidden_traits))
              for suffix, group in asked._rg_by_id.items()}
    return groups.pop(None, ({}, set(), set()))[0], groups


def _requirements(case):
    """Resources and groups of the member; None if it cannot be planned."""
    flavor = flavor_from_nova({
        'id': '1', 'name': 'f', **case.sizes, 'extra_specs': case.specs})
    member = MemberDescription('m', Requirements(
        flavor='f', boot_from_volume=case.volume))
    snapshot = Snapshot(('host',), (), flavors=FrozenMapping({'f': flavor}))
    try:
        (bound,) = bind(Group('g', members=(member,)), snapshot).all_members()
    except InvalidDocument:
        return None
    needs = bound.requirements
    return dict(needs.resources), {
        each.suffix: (dict(each.resources), set(each.required_traits),
                      set(each.forbidden_traits))
        for each in needs.request_groups}
