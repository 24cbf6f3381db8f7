# SPDX-License-Identifier: Apache-2.0
"""The devices that flavors request by names of other services or options."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.inventory.nova.device_profiles import DeviceProfiles
from nova_holistic.inventory.nova.pci_aliases import PciAliases
from nova_holistic.model.request_group import RequestGroup


@dataclass(frozen=True, slots=True)
class FlavorDevices:
    """The devices that flavors may request.

    :ivar aliases: PCI devices
    :ivar profiles: accelerators
    """

    aliases: PciAliases = PciAliases()
    profiles: DeviceProfiles = DeviceProfiles()

    @classmethod
    def from_conf(cls, options) -> 'FlavorDevices':
        """The devices of the options ``pci_alias`` and ``device_profile``.

        :param options: the option group ``[inventory]``
        :raises InvalidAlias: a value of ``pci_alias`` is invalid
        :raises InvalidProfile: a value of ``device_profile`` is invalid
        """
        return cls(PciAliases.from_conf(options.pci_alias),
                   DeviceProfiles.from_conf(options.device_profile))

    def unplannable_reason(self, specs: Mapping[str, str]) -> str:
        """Why the devices of a flavor cannot be planned; '' if they can, or
        if it requests none."""
        return (self.aliases.unplannable_reason(specs)
                or self.profiles.unplannable_reason(specs))

    def request_groups(self, specs: Mapping[str, str]
                       ) -> tuple[RequestGroup, ...]:
        """The groups of a flavor without objections."""
        return (self.aliases.request_groups(specs)
                + self.profiles.request_groups(specs))
