# SPDX-License-Identifier: Apache-2.0
"""Reads flavors. A flavor requires the same resources as in Nova's scheduler.

The rules are those of nova.scheduler.utils.ResourceRequest for a server that
boots from an image without properties. The changes by the image of a member
and by a root volume are applied in nova_holistic.model.binding.
"""

from collections.abc import Iterable, Mapping
import math
import re
from typing import Any

import os_resource_classes

from nova_holistic.inventory.nova.flavor_devices import FlavorDevices
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.extra_specs import (
    CPU_POLICY, DEDICATED, implied_traits, named_traits, root_traits,
    unplannable_reason)
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.nova import flavor_groups, mixed_cpus
from nova_holistic.model.request_group import RequestGroup

FLAVORS_VERSION = '2.75'
"""The list has extra specs (from 2.61), and a flavor without swap has the
value 0 (from 2.75)."""

_RESOURCE = re.compile(r'resources[A-Za-z0-9_-]{0,64}:(.*)$')


def read_flavors(nova: ServiceClient,
                 devices: FlavorDevices = FlavorDevices()
                 ) -> Mapping[str, Flavor]:
    """All public and private flavors, by name and by id.

    Requests: one for each page of up to a thousand.

    If the name of a flavor equals the id of another flavor, the id takes
    precedence, as in Nova's own clients.

    :param devices: devices that flavors may request
    :raises ServiceFailed: Nova does not answer, or gives an invalid answer
    """
    path = '/flavors/detail'
    with nova.reading(path):
        flavors = [flavor_from_nova(item, devices) for item in nova.pages(
            path, 'flavors', FLAVORS_VERSION, linked=True, is_public='None')]
    return FrozenMapping({flavor.name: flavor for flavor in flavors}
                         | {flavor.id: flavor for flavor in flavors})


def flavor_from_nova(item: Mapping[str, Any],
                     devices: FlavorDevices = FlavorDevices()) -> Flavor:
    """The flavor of an item in Nova's list.

    :param devices: devices that flavors may request
    """
    extra_specs = item.get('extra_specs', {})
    specs = _known(extra_specs)
    groups = (flavor_groups.request_groups(specs)
              + devices.request_groups(specs))
    overrides = _overrides(specs, groups)
    required, forbidden = named_traits(specs)
    implied, excluded = implied_traits(specs)
    return Flavor(
        name=item['name'], id=item['id'],
        resources=FrozenMapping(_resources(item, specs, overrides)),
        required_traits=frozenset(required | implied | root_traits(specs)),
        forbidden_traits=frozenset(forbidden | excluded),
        unplannable=(unplannable_reason(specs)
                     or mixed_cpus.unplannable_reason(specs, item['vcpus'])
                     or flavor_groups.unplannable_reason(specs)
                     or devices.unplannable_reason(specs)),
        request_groups=groups,
        group_policy=flavor_groups.group_policy(specs),
        root_gb=0 if 'DISK_GB' in overrides else item['disk'],
        image_limits=(item['ram'], item['disk']),
        extra_specs=FrozenMapping(extra_specs))


def _known(specs: Mapping[str, str]) -> Mapping[str, str]:
    """The extra specs without those of resource classes that Nova does not
    know, which it ignores."""
    return {
        key: value for key, value in specs.items()
        if not (match := _RESOURCE.match(key))
        or match[1] in os_resource_classes.STANDARDS
        or match[1].startswith(os_resource_classes.CUSTOM_NAMESPACE)}


def _resources(item: Mapping[str, Any], specs: Mapping[str, str],
               overrides: Mapping[str, int]) -> Mapping[str, int]:
    """Amounts outside request groups: from the extra specs, and from the
    flavor for resource classes that no extra spec and no group sets."""
    amounts = dict(overrides)
    dedicated = _dedicated_cpus(item['vcpus'], specs)
    if dedicated:
        isolated = specs.get('hw:emulator_threads_policy') == 'isolate'
        amounts['PCPU'] = dedicated + isolated
        if dedicated < item['vcpus']:
            amounts['VCPU'] = item['vcpus'] - dedicated
    if 'VCPU' not in amounts and 'PCPU' not in amounts:
        amounts['VCPU'] = item['vcpus']
    amounts.setdefault('MEMORY_MB', item['ram'])
    # Swap is in MiB and takes whole GiB.
    amounts.setdefault('DISK_GB', item['disk']
                       + item['OS-FLV-EXT-DATA:ephemeral']
                       + math.ceil(item['swap'] / 1024))
    return {name: amount for name, amount in amounts.items() if amount}


def _dedicated_cpus(vcpus: int, specs: Mapping[str, str]) -> int:
    """The number of dedicated processors, without that of the emulator."""
    policy = specs.get(CPU_POLICY)
    if policy == DEDICATED:
        return vcpus
    if policy == mixed_cpus.MIXED and not mixed_cpus.unplannable_reason(
            specs, vcpus):
        return mixed_cpus.dedicated_cpus(specs, vcpus)
    return 0


def _overrides(specs: Mapping[str, str],
               groups: Iterable[RequestGroup]) -> Mapping[str, int]:
    """Amounts of ``resources:CLASS``, including 0, and 0 for the classes that
    request groups set: Nova does not request the amount of the flavor, too.
    """
    by_suffix = flavor_groups.amounts(specs)
    names = {name for values in by_suffix.values() for name in values}.union(
        *(each.resources for each in groups))
    return {**dict.fromkeys(sorted(names), 0), **by_suffix.get('', {})}
