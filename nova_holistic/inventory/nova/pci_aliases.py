# SPDX-License-Identifier: Apache-2.0
"""The PCI devices that flavors request by alias, as Placement sees them.

A flavor with ``pci_passthrough:alias: gpu:2`` requests two groups with one
unit each, as in nova.objects.RequestSpec.
generate_request_groups_from_pci_requests with ``[filter_scheduler]
pci_in_placement``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
import json
import re
from typing import Any

import os_resource_classes
import os_traits

from nova_holistic.exceptions import HolisticError
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.request_group import PCI_PREFIX, RequestGroup

ALIAS = 'pci_passthrough:alias'
"""The extra spec: ``name:count``, several of them separated by commas."""

_REQUEST = re.compile(r'\s*(?P<name>[^:,]*[^:,\s])\s*:\s*(?P<count>\d+)\s*')


class InvalidAlias(HolisticError):
    """A value of ``[inventory] pci_alias`` is not an alias of Nova."""


@dataclass(frozen=True, slots=True)
class PciAliases:
    """The aliases of Nova, by name: the group of one device, without suffix.

    The names of resource classes and traits are those in Placement.
    """

    devices: Mapping[str, RequestGroup] = FrozenMapping()

    @classmethod
    def from_conf(cls, values: Iterable[str]) -> 'PciAliases':
        """The aliases of the option.

        :param values: values as in Nova's option ``[pci] alias``
        :raises InvalidAlias: Nova would refuse one of them, or Placement does
            not know its devices
        """
        devices: dict[str, RequestGroup] = {}
        for number, value in enumerate(values, 1):
            place = f'[inventory] pci_alias, value {number}'
            alias = _parsed(value, place)
            name = alias['name'].strip()
            if name in devices:
                raise InvalidAlias(
                    f'{place}: alias {name} is defined twice, but with PCI '
                    'devices in Placement an alias has one definition')
            devices[name] = RequestGroup(
                '', FrozenMapping({_resource_class(alias, place): 1}),
                _traits(alias.get('traits', '')))
        return cls(FrozenMapping(devices))

    def unplannable_reason(self, specs: Mapping[str, str]) -> str:
        """Why the devices of a flavor cannot be planned; '' if they can, or
        if it requests none."""
        if ALIAS not in specs:
            return ''
        for requested in specs[ALIAS].split(','):
            match = _REQUEST.fullmatch(requested)
            if match is None:
                return f'extra spec {ALIAS}: {requested!r} is not name:count'
            if match['name'] not in self.devices:
                return (f'extra spec {ALIAS}: alias {match["name"]} is not '
                        'in [inventory] pci_alias')
        return ''

    def request_groups(self, specs: Mapping[str, str]
                       ) -> tuple[RequestGroup, ...]:
        """One group for each device of a flavor without objections."""
        if ALIAS not in specs or self.unplannable_reason(specs):
            return ()
        return tuple(
            RequestGroup(f'{PCI_PREFIX}{number}_{i}', device.resources,
                         device.required_traits)
            for number, (device, count) in enumerate(
                self._devices(specs[ALIAS]))
            for i in range(count))

    def _devices(self, value: str) -> Iterable[tuple[RequestGroup, int]]:
        for requested in value.split(','):
            match = _REQUEST.fullmatch(requested)
            yield self.devices[match['name']], int(match['count'])


def _parsed(value: str, place: str) -> Mapping[str, Any]:
    try:
        alias = json.loads(value)
    except ValueError as error:
        raise InvalidAlias(f'{place}: not JSON: {error}') from error
    if not isinstance(alias, dict) or not all(
            isinstance(each, str) for each in alias.values()) or not alias.get(
                'name', '').strip():
        raise InvalidAlias(f'{place}: must be an object of texts with a name')
    return alias


def _resource_class(alias: Mapping[str, str], place: str) -> str:
    if name := alias.get('resource_class'):
        name = name.upper()
        if name in os_resource_classes.STANDARDS or (
                os_resource_classes.is_custom(name)):
            return name
        return os_resource_classes.normalize_name(name)
    if 'vendor_id' not in alias or 'product_id' not in alias:
        raise InvalidAlias(f'{place}: needs a resource_class, or a vendor_id '
                           'and a product_id')
    return 'CUSTOM_PCI_{vendor_id}_{product_id}'.format(**alias).upper()


def _traits(text: str) -> frozenset[str]:
    if not text:
        return frozenset()
    standard, others = os_traits.check_traits(text.split(','))
    return frozenset(standard) | {
        each.upper() if os_traits.is_custom(each.upper())
        else os_traits.normalize_name(each) for each in others}
