# SPDX-License-Identifier: Apache-2.0
"""The boot source of an OS::Nova::Server: an image or a volume."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.documents.hot.functions import function_name, Resolver
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument

DEVICES = 'block_device_mapping_v2'
_LONGEST = 255


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
    for device, where in _devices(properties, resolver, place):
        if str(_known(device.get('boot_index'), resolver, where)) == '0':
            return BootSource(image or _text(
                device.get('image'), resolver, join(where, 'image')), True)
    return BootSource(image)


def _devices(properties: Mapping[str, Any], resolver: Resolver, place: str
             ) -> Iterator[tuple[Mapping[str, Any], str]]:
    place = join(place, DEVICES)
    devices = properties.get(DEVICES)
    if function_name(devices):
        devices = _known(devices, resolver, place)
    if not isinstance(devices, list):
        return
    for i, device in enumerate(devices):
        if function_name(device):
            device = _known(device, resolver, join(place, i))
        if isinstance(device, dict):
            yield device, join(place, i)


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
