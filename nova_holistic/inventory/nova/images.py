# SPDX-License-Identifier: Apache-2.0
"""Images as Glance knows them."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode
import uuid

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.image import Image

_OPEN = ('public', 'community')
_SHARED = 'shared'
_OWN = frozenset([
    'checksum', 'container_format', 'created_at', 'direct_url', 'disk_format',
    'file', 'id', 'locations', 'min_disk', 'min_ram', 'name', 'os_hash_algo',
    'os_hash_value', 'os_hidden', 'owner', 'protected', 'schema', 'self',
    'size', 'status', 'stores', 'tags', 'updated_at', 'virtual_size',
    'visibility'])
"""Keys of an image in Glance's API v2 that are not properties."""


def read_image(glance: ServiceClient, name: str,
               project_id: str | None) -> Image | None:
    """The image with this UUID or name, if a project may use it.

    :param project_id: None: any project
    :returns: None if the project may use no such image
    :raises ServiceFailed: Glance does not answer, gives an invalid answer, or
        has several such images with this name
    """
    found = _by_uuid(glance, name) if _is_uuid(name) else None
    candidates = [found] if found is not None else _by_name(glance, name)
    usable = [item for item in candidates
              if _is_usable(glance, item, project_id)]
    if len(usable) > 1:
        raise ServiceFailed(
            glance.name, '/v2/images', f'{len(usable)} images have the name '
            f'{name!r}; give the UUID of one of them')
    return _image(glance, usable[0], name) if usable else None


def _is_uuid(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name.lower()
    except ValueError:
        return False


def _by_uuid(glance: ServiceClient, name: str) -> Mapping[str, Any] | None:
    item: Mapping[str, Any] | None = glance.get(
        f'/v2/images/{name.lower()}', None, missing_ok=True)
    return item


def _by_name(glance: ServiceClient, name: str) -> Iterator[Mapping[str, Any]]:
    # Glance has an operator "in" for names. Without quotes, Glance may take a
    # plain name for this operator.
    quoted = 'in:"' + name.replace('\\', '\\\\').replace('"', '\\"') + '"'
    path = '/v2/images?' + urlencode({'name': quoted})
    with glance.reading(path):
        yield from (item for item in glance.get(path, None)['images']
                    if item['name'] == name and item['status'] == 'active')


def _is_usable(glance: ServiceClient, item: Mapping[str, Any],
               project_id: str | None) -> bool:
    visibility = item.get('visibility')
    if project_id is None or visibility in _OPEN or (
            item.get('owner') == project_id):
        return True
    if visibility != _SHARED:
        return False
    path = f'/v2/images/{quote(item["id"])}/members'
    with glance.reading(path):
        found = glance.get(path, None, missing_ok=True) or {'members': ()}
        return any(member['member_id'] == project_id
                   for member in found['members'])


def _image(glance: ServiceClient, item: Mapping[str, Any], name: str) -> Image:
    with glance.reading('/v2/images'):
        return Image(
            name=name,
            properties=FrozenMapping({
                key: str(value) for key, value in item.items()
                if key not in _OWN and value is not None}),
            disk_format=item.get('disk_format') or '',
            min_disk=int(item.get('min_disk') or 0),
            min_ram=int(item.get('min_ram') or 0),
            id=str(item['id']))
