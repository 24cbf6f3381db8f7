# SPDX-License-Identifier: Apache-2.0
"""A request matches a description, or the error states the difference."""

from nova import objects
from nova.scheduler import utils
import pytest

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler.claim import request_check
from nova_holistic.scheduler.claim.request_refusal import RequestRefused

SMALL = FrozenMapping({'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10})


@pytest.fixture(autouse=True, scope='module')
def registered():
    objects.register_all()


def spec(extra_specs=None, *, swap=0, is_bfv=False, zone=None, **more):
    flavor = objects.Flavor(
        name='small', flavorid='42', vcpus=2, memory_mb=2048, root_gb=10,
        ephemeral_gb=0, swap=swap, extra_specs=extra_specs or {})
    made = objects.RequestSpec(
        flavor=flavor, image=objects.ImageMeta(
            properties=objects.ImageMetaProps()),
        is_bfv=is_bfv, availability_zone=zone, requested_resources=[],
        request_level_params=objects.RequestLevelParams(), **more)
    return made


def check(made, requirements):
    request_check.check_match(
        made, utils.ResourceRequest.from_request_spec(made), requirements)


@pytest.mark.parametrize('requirements', [
    Requirements(SMALL),
    Requirements(SMALL, flavor='small'),
    Requirements(SMALL, flavor='42'),
    Requirements(FrozenMapping({**SMALL, 'VGPU': 0})),
    Requirements(SMALL, availability_zone='az1'),
    Requirements(SMALL, required_traits=frozenset(['CUSTOM_FAST'])),
])
def test_an_equivalent_description_matches(requirements):
    check(spec(), requirements)


def test_described_traits_may_be_requested():
    traits = {'trait:CUSTOM_FAST': 'required',
              'trait:CUSTOM_NOISY': 'forbidden'}
    check(spec(traits), Requirements(
        SMALL, required_traits=frozenset(['CUSTOM_FAST']),
        forbidden_traits=frozenset(['CUSTOM_NOISY'])))


@pytest.mark.parametrize('made, requirements, message', [
    ({}, Requirements(SMALL, flavor='large'),
     'requests flavor small, but the description states flavor large'),
    ({'swap': 1024}, Requirements(SMALL), 'requests DISK_GB=11'),
    ({'is_bfv': True}, Requirements(SMALL),
     'requests MEMORY_MB=2048, VCPU=2, but the description states DISK_GB=10'),
    ({'extra_specs': {'resources:CUSTOM_LICENCE': '1'}}, Requirements(SMALL),
     'requests CUSTOM_LICENCE=1'),
    ({'extra_specs': {'trait:CUSTOM_FAST': 'required'}}, Requirements(SMALL),
     'requires the trait CUSTOM_FAST'),
    ({'extra_specs': {'trait:CUSTOM_FAST': 'forbidden'}}, Requirements(
        SMALL, required_traits=frozenset(['CUSTOM_FAST'])),
     'forbids the trait CUSTOM_FAST'),
    ({'zone': 'az2'}, Requirements(SMALL, availability_zone='az1'),
     'zone az2, but the description states availability zone az1'),
    ({'extra_specs': {'resources1:MEMORY_MB': '2048'}}, Requirements(SMALL),
     'other providers than the host'),
])
def test_a_difference_is_named(made, requirements, message):
    with pytest.raises(RequestRefused, match=message):
        check(spec(**made), requirements)


def destination(**fields):
    return spec(requested_destination=objects.Destination(**fields))


@pytest.mark.parametrize('made', [
    spec, lambda: spec(force_hosts=['cmp-1']),
    lambda: spec(force_hosts=['CMP-1'], force_nodes=['node-1']),
    lambda: destination(host='cmp-1'), lambda: destination(node='node-1')])
def test_a_request_may_name_the_planned_host(made):
    request_check.check_destination(made(), 'cmp-1', 'node-1')


@pytest.mark.parametrize('made', [
    lambda: spec(force_hosts=['cmp-2']), lambda: spec(force_nodes=['node-2']),
    lambda: destination(host='cmp-2'), lambda: destination(node='node-2')])
def test_a_request_for_another_host_is_refused(made):
    with pytest.raises(RequestRefused,
                       match='another host than the planned one'):
        request_check.check_destination(made(), 'cmp-1', 'node-1')
