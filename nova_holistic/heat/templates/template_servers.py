# SPDX-License-Identifier: Apache-2.0
"""The values in the properties of a server in a template.

The values are read before the server exists.
"""

from collections.abc import Mapping, Sequence
import re
from typing import Any

from oslo_utils import uuidutils

from nova_holistic.heat.templates.unknown_values import (
    contains, invalid, NOT_KNOWN, plain, resolved, UNKNOWN)

SERVER = 'OS::Nova::Server'
RESOURCE_GROUP = 'OS::Heat::ResourceGroup'
SCALING_GROUP = 'OS::Heat::AutoScalingGroup'
GROUP_HINT = 'holistic_group'
MEMBER_HINT = 'holistic_member'
HINTS = 'scheduler_hints'
_SOURCES = ('volume_id', 'snapshot_id', 'image', 'image_id')
"""Keys of a block device that is a volume."""
_PATH = re.compile('[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*')


def pointers(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The scheduler hints of a server; empty if it has none."""
    hints = plain(properties.get(HINTS))
    return hints if isinstance(hints, Mapping) else {}


def path(properties: Mapping[str, Any], place: Sequence[str]) -> str:
    """The path of the member of a server.

    :raises StackValidationFailed: the path is invalid, or not known yet
    """
    where = (*place, HINTS, MEMBER_HINT)
    member = resolved(pointers(properties).get(MEMBER_HINT), where)
    if not isinstance(member, str) or not _PATH.fullmatch(member):
        raise invalid(where, f'{member!r} is not the path of a member: names '
                             'of letters, digits, "_", "." or "-", joined by '
                             'slashes')
    return member


def description(properties: Mapping[str, Any],
                place: Sequence[str]) -> dict[str, Any]:
    """The requirements of a server, as a member of a group document. An image
    or a server group that is not known yet is left out.

    :raises StackValidationFailed: another requirement is not known yet, or
        the availability zone contains a host
    """
    member = {}
    for name in ('flavor', 'availability_zone'):
        value = resolved(properties.get(name), (*place, name))
        # Nova ignores an empty text.
        if value not in (None, ''):
            member[name] = str(value)
    if 'flavor' not in member:
        raise invalid((*place, 'flavor'), NOT_KNOWN)
    if ':' in member.get('availability_zone', ''):
        raise invalid((*place, 'availability_zone'),
                      'it forces a host, which may contradict the plan')
    volume = _root_volume(properties)
    if volume is not None:
        member['boot_from_volume'] = True
    for image in (plain(properties.get('image')), volume and (
            volume.get('image') or volume.get('image_id'))):
        if image and not contains(image, UNKNOWN):
            member.setdefault('image', str(image))
    group = pointers(properties).get('group')
    if uuidutils.is_uuid_like(group):
        member['server_group'] = group
    return member


def _root_volume(properties: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The device from which a server boots; None if it is a local disk."""
    # In Nova, an image takes precedence over the older property.
    older = () if plain(properties.get('image')) else (
        'block_device_mapping',)
    for name in ('block_device_mapping_v2', *older):
        devices = plain(properties.get(name))
        for device in devices if isinstance(devices, list) else ():
            if isinstance(device, Mapping) and (
                    _has_first_index(device) if name.endswith('2')
                    else device.get('device_name') in ('vda', '/dev/vda')):
                return device
    return None


def _has_first_index(device: Mapping[str, Any]) -> bool:
    index = device.get('boot_index')
    if index is None:
        # Heat's default is 0 for volumes, and -1 for all other devices.
        return any(device.get(key) for key in _SOURCES)
    return str(index) == '0'
