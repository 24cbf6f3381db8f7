# SPDX-License-Identifier: Apache-2.0
"""The part of an image that determines the placement."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.extra_specs import (
    CPU_POLICY, unsupported_property)
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.nova.image_fields import fields_of

_STATELESS = 'COMPUTE_SECURITY_STATELESS_FIRMWARE'
_PREFIXES = {'hw_': 'hw:', 'os_': 'os:'}
"""Image properties with the meaning of the extra spec of the same name."""


@dataclass(frozen=True, slots=True)
class Image:
    """The properties of an image that decide on which hosts its servers may
    be.

    Properties and their meanings are those of nova.objects.image_meta.

    :ivar name: name in the description; empty for an image that is described
        by its properties
    :ivar properties: values of Glance by name
    :ivar id: UUID; empty if it is not known
    :ivar min_disk: GiB of root disk that a flavor must have
    :ivar min_ram: MiB of memory that a flavor must have
    """

    name: str = ''
    properties: FrozenMapping[str, str] = FrozenMapping()
    disk_format: str = ''
    min_disk: int = 0
    min_ram: int = 0
    id: str = ''

    @property
    def required_traits(self) -> frozenset[str]:
        """Traits that only the image requires; extra specs of the flavor and
        properties of the image require others together."""
        found = fields_of(self.properties)
        named = frozenset(found.get('traits_required', ()))
        stateless = (found.get('hw_firmware_stateless')
                     and found.get('hw_firmware_type') == 'uefi')
        return named | {_STATELESS} if stateless else named

    @property
    def as_extra_specs(self) -> Mapping[str, str]:
        """The properties that have the meaning of an extra spec."""
        return {
            replacement + name.removeprefix(prefix): str(value)
            for name, value in fields_of(self.properties).items()
            for prefix, replacement in _PREFIXES.items()
            if name.startswith(prefix)}

    def unplannable_reason(self, flavor: Flavor | None, volume: bool) -> str:
        """The reason why no server can be planned with this image; '' if
        servers can.

        :param flavor: flavor of the server; None if the description has
            amounts
        :param volume: whether the server boots from a volume; min_disk is then
            compared with its size
        """
        if flavor is not None and flavor.image_limits is not None:
            memory_mb, root_gb = flavor.image_limits
            if self.min_ram > memory_mb:
                return (f'needs {self.min_ram} MiB of memory; flavor '
                        f'{flavor.name} has {memory_mb}')
            # To Nova, a root disk of 0 has no limit.
            if not volume and root_gb and self.min_disk > root_gb:
                return (f'needs {self.min_disk} GiB of root disk; flavor '
                        f'{flavor.name} has {root_gb}')
        specs = self.as_extra_specs
        key, reason = unsupported_property(specs)
        if key:
            return f'cannot be planned: property {key}: {reason}'
        policy = specs.get(CPU_POLICY, 'shared')
        if flavor is not None:
            policy_of_flavor = flavor.extra_specs.get(CPU_POLICY, 'shared')
            if policy not in ('shared', policy_of_flavor):
                return (f'cannot be planned: property hw_cpu_policy={policy} '
                        f'changes the amounts of the flavor; choose a flavor '
                        f'with {CPU_POLICY}={policy}')
        return ''
