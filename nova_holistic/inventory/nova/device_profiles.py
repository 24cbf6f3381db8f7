# SPDX-License-Identifier: Apache-2.0
"""The device profiles of Cyborg that flavors request, as Placement sees them.

A flavor with ``accel:device_profile: fpga`` requests each group of the
profile, as in nova.accelerator.cyborg._CyborgClient.get_device_request_groups.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
import json
import re
from typing import Any

from nova_holistic.exceptions import HolisticError
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.request_group import RequestGroup

PROFILE = 'accel:device_profile'
"""The extra spec: the name of a device profile."""

_KEY = re.compile(r'(resources|trait)[A-Za-z0-9_-]{0,64}:([A-Z0-9_]+)')


class InvalidProfile(HolisticError):
    """A value of ``[inventory] device_profile`` is not a device profile."""


@dataclass(frozen=True, slots=True)
class DeviceProfiles:
    """The request groups of each profile, by its name, with the suffixes that
    Nova uses."""

    profiles: Mapping[str, tuple[RequestGroup, ...]] = FrozenMapping()

    @classmethod
    def from_conf(cls, values: Iterable[str]) -> 'DeviceProfiles':
        """The profiles of the option.

        :param values: device profiles with name and groups, as Cyborg shows
            them, in JSON
        :raises InvalidProfile: one of them is not a device profile, or two
            have the same name
        """
        found: dict[str, tuple[RequestGroup, ...]] = {}
        for number, value in enumerate(values, 1):
            place = f'[inventory] device_profile, value {number}'
            profile = _parsed(value, place)
            if profile['name'] in found:
                raise InvalidProfile(
                    f'{place}: profile {profile["name"]} is defined twice')
            found[profile['name']] = tuple(
                _group(i, each, place)
                for i, each in enumerate(profile['groups']))
        return cls(FrozenMapping(found))

    def unplannable_reason(self, specs: Mapping[str, str]) -> str:
        """Why the devices of a flavor cannot be planned; '' if they can, or
        if it requests none."""
        name = specs.get(PROFILE, '')
        if name and name not in self.profiles:
            return (f'extra spec {PROFILE}: profile {name} is not in '
                    '[inventory] device_profile')
        return ''

    def request_groups(self, specs: Mapping[str, str]
                       ) -> tuple[RequestGroup, ...]:
        """The groups of a flavor without objections."""
        return self.profiles.get(specs.get(PROFILE, ''), ())


def _parsed(value: str, place: str) -> Mapping[str, Any]:
    try:
        profile = json.loads(value)
    except ValueError as error:
        raise InvalidProfile(f'{place}: not JSON: {error}') from error
    if not isinstance(profile, dict) or not isinstance(
            profile.get('name'), str) or not profile['name']:
        raise InvalidProfile(f'{place}: must be an object with a name')
    groups = profile.get('groups')
    if not isinstance(groups, list) or not groups or not all(
            isinstance(each, dict) for each in groups):
        raise InvalidProfile(f'{place}: groups must be a list of objects')
    return profile


def _group(number: int, items: Mapping[str, Any], place: str) -> RequestGroup:
    """A request group. Keys other than resources and traits, such as
    ``accel:…``, are ignored, because only Cyborg uses them."""
    resources: dict[str, int] = {}
    traits: dict[str, str] = {}
    for key, value in items.items():
        match = _KEY.fullmatch(key)
        if match is None:
            continue
        if match[1] == 'trait':
            traits[match[2]] = value
            continue
        if not re.fullmatch(r'[1-9][0-9]*', str(value)):
            raise InvalidProfile(f'{place}: groups[{number}]: {key} must be a '
                                 'positive number')
        resources[match[2]] = int(value)
    if not resources:
        raise InvalidProfile(
            f'{place}: groups[{number}] requests no resources')
    return RequestGroup(
        f'device_profile_{number}', FrozenMapping(resources), *(
            frozenset(name for name, value in traits.items()
                      if value == wanted)
            for wanted in ('required', 'forbidden')))
