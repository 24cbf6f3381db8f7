# SPDX-License-Identifier: Apache-2.0
"""The values in the properties of a server in a template.

The values are read before the server exists.
"""

from collections.abc import Mapping, Sequence
import re
from typing import Any

from heat.common import exception
from heat.engine import function

SERVER = 'OS::Nova::Server'
RESOURCE_GROUP = 'OS::Heat::ResourceGroup'
SCALING_GROUP = 'OS::Heat::AutoScalingGroup'
GROUP_HINT = 'holistic_group'
MEMBER_HINT = 'holistic_member'
HINTS = 'scheduler_hints'
_SOURCES = ('volume_id', 'snapshot_id', 'image', 'image_id')
"""Keys of a block device that is a volume."""
_PATH = re.compile('[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*')


def path(properties: Mapping[str, Any], place: Sequence[str]) -> str:
    """The path of the member of a server.

    :raises StackValidationFailed: the path is invalid, or not known yet
    """
    where = (*place, HINTS, MEMBER_HINT)
    member = resolved(properties[HINTS].get(MEMBER_HINT), where)
    if not isinstance(member, str) or not _PATH.fullmatch(member):
        raise invalid(where, f'{member!r} is not the path of a member: names '
                             'of letters, digits, "_", "." or "-", joined by '
                             'slashes')
    return member


def description(properties: Mapping[str, Any],
                place: Sequence[str]) -> dict[str, Any]:
    """The requirements of a server, as a member of a group document.

    :raises StackValidationFailed: a requirement is not known yet
    """
    member = {}
    for name in ('flavor', 'availability_zone', 'image'):
        value = resolved(properties.get(name), (*place, name))
        if value is not None:
            member[name] = str(value)
    if 'flavor' not in member:
        raise invalid((*place, 'flavor'),
                      'it is not known before the servers are created')
    volume = _root_volume(properties, place)
    if volume is not None:
        member['boot_from_volume'] = True
        image = volume.get('image') or volume.get('image_id')
        if image:
            member.setdefault('image', image)
    return member


def _root_volume(properties: Mapping[str, Any],
                 place: Sequence[str]) -> Mapping[str, Any] | None:
    """The device from which a server boots; None if it is a local disk."""
    # In Nova, an image takes precedence over the older property.
    older = () if properties.get('image') else ('block_device_mapping',)
    for name in ('block_device_mapping_v2', *older):
        devices = resolved(properties.get(name), (*place, name)) or []
        for device in devices:
            root = (_has_first_index(device) if name.endswith('2')
                    else device.get('device_name') in ('vda', '/dev/vda'))
            if root:
                return device
    return None


def _has_first_index(device: Mapping[str, Any]) -> bool:
    index = device.get('boot_index')
    if index is None:
        # Heat's default is 0 for volumes, and -1 for all other devices.
        return any(device.get(key) for key in _SOURCES)
    return str(index) == '0'


def resolved(value: Any, place: Sequence[str]) -> Any:
    """
    :raises StackValidationFailed: the value is not known yet
    """
    try:
        return function.resolve(value)
    except Exception as error:
        raise invalid(place, str(error)) from error


def invalid(place: Sequence[str],
            message: str) -> exception.StackValidationFailed:
    """The error of Heat for a property, with its position."""
    return exception.StackValidationFailed(
        error='Property error', path=list(place), message=message)
