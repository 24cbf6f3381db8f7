# SPDX-License-Identifier: Apache-2.0
"""The part of Glance's API that this project uses, for the images of Nova's
fake of Glance."""

from dataclasses import dataclass
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

_PLAIN = ('id', 'name', 'status', 'min_disk', 'min_ram', 'disk_format',
          'container_format')
PREFIX = '/v2/images'


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of an Adapter."""

    status_code: int
    document: Any

    @property
    def text(self):
        return json.dumps(self.document)

    def json(self):
        return self.document


class ImageService:
    """Replaces a keystoneauth Adapter of Glance.

    :ivar is_unavailable: whether every request fails with HTTP status 503
    """

    def __init__(self, glance):
        """:param glance: nova.tests.fixtures.GlanceFixture"""
        self._glance = glance
        self.is_unavailable = False

    def create(self, name, properties=None, **fields):
        """Create an image, and return its UUID.

        :param fields: further fields, such as min_disk, visibility or owner
        """
        return self._glance.create(None, {
            'name': name, 'properties': dict(properties or {}),
            'disk_format': 'raw', 'container_format': 'bare', 'min_disk': 0,
            'min_ram': 0, 'is_public': True, **fields})['id']

    def delete(self, image):
        """Delete an image."""
        self._glance.images.pop(image)

    def get(self, path, microversion=None, raise_exc=False):
        """The response with one image, or with the images of one name.

        :param path: ``/v2/images/UUID``, or ``/v2/images?name=NAME``
        """
        if self.is_unavailable:
            return Answer(503, {'message': 'no'})
        parts = urlsplit(path)
        if parts.path == PREFIX:
            name = parse_qs(parts.query)['name'][0]
            plain = name.removeprefix('in:"').removesuffix('"')
            return Answer(200, {'images': [
                _shown(image) for image in self._glance.images.values()
                if image['name'] == plain]})
        found = self._glance.images.get(parts.path.removeprefix(f'{PREFIX}/'))
        if found is None:
            return Answer(404, {'message': 'no such image'})
        return Answer(200, _shown(found))


def _shown(image):
    """The image in version 2 of the API, where properties are top-level keys.
    """
    return {**image['properties'],
            **{key: image[key] for key in _PLAIN if key in image},
            'visibility': image.get('visibility', 'public'),
            'owner': image.get('owner')}
