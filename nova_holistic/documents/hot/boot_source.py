# SPDX-License-Identifier: Apache-2.0
"""The boot source of an OS::Nova::Server: an image or a volume."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.documents.hot.functions import function_name, Resolver
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument

DEVICES = 'block_device_mapping_v2'
_OLD_DEVICES = 'block_device_mapping'
_OLD_ROOTS = ('vda', '/dev/vda')
"""Names of the root disk in the older property."""
_SOURCES = ('volume_id', 'snapshot_id', 'image', 'image_id')
"""Keys of a device that is a volume. Its default ``boot_index`` is 0 in Heat,
and -1 for all other devices."""
_LONGEST = 255
_UNKNOWN = object()
"""A value that is known only when the stack is created."""


@dataclass(frozen=True, slots=True)
class BootSource:
    """
    :ivar image: name or UUID; None if the server has none, or if it is known
        only when the stack is created
    :ivar volume: whether the root disk is a volume
    """

    image: str | None = None
    volume: bool = False


def read_boot(properties: Mapping[str, Any], resolver: Resolver,
              place: str) -> BootSource:
    """The boot source in the properties of a server. The value of an
    unevaluated function is unknown."""
    image = _text(properties.get('image'), resolver, join(place, 'image'))
    has_image = _has(properties, 'image', resolver, place)
    for device, where in _devices(properties, DEVICES, resolver, place):
        if device is None:
            # Without an image, one of the unknown devices is the root disk.
            if not has_image:
                return BootSource(None, True)
        elif _is_root_volume(device, resolver, where):
            return BootSource(image or _text(
                device.get('image') or device.get('image_id'), resolver,
                join(where, 'image')), True)
    if not has_image:
        for device, where in _devices(
                properties, _OLD_DEVICES, resolver, place):
            if device is None or _known(
                    device.get('device_name'), resolver, where) in _OLD_ROOTS:
                return BootSource(None, True)
    return BootSource(image)


def _is_root_volume(device: Mapping[str, Any], resolver: Resolver,
                    place: str) -> bool:
    index = device.get('boot_index')
    if index is None:
        return any(_has(device, key, resolver, place) for key in _SOURCES)
    return str(_known(index, resolver, place)) == '0'


def _has(around: Mapping[str, Any], key: str, resolver: Resolver,
         place: str) -> bool:
    """Whether the key has a value, which may be known only when the stack is
    created."""
    try:
        return bool(resolver.value(around.get(key), join(place, key)))
    except InvalidDocument:
        return True


def _devices(properties: Mapping[str, Any], key: str, resolver: Resolver,
             place: str) -> Iterator[tuple[Mapping[str, Any] | None, str]]:
    """The devices with their positions. None stands for devices that are known
    only when the stack is created."""
    place = join(place, key)
    devices = _evaluated(properties.get(key), resolver, place)
    if devices is _UNKNOWN:
        yield None, place
    for i, device in enumerate(devices if isinstance(devices, list) else ()):
        device = _evaluated(device, resolver, join(place, i))
        if device is _UNKNOWN:
            yield None, join(place, i)
        elif isinstance(device, dict):
            yield device, join(place, i)


def _evaluated(value: Any, resolver: Resolver, place: str) -> Any:
    """The value of a function; any other value remains unchanged."""
    try:
        return resolver.value(value, place) if function_name(value) else value
    except InvalidDocument:
        return _UNKNOWN


def _known(value: Any, resolver: Resolver, place: str) -> Any:
    """The value; None if it is known only when the stack is created."""
    try:
        return resolver.value(value, place)
    except InvalidDocument:
        return None


def _text(value: Any, resolver: Resolver, place: str) -> str | None:
    found = _known(value, resolver, place)
    return found if isinstance(found, str) and (
        0 < len(found) <= _LONGEST) else None
