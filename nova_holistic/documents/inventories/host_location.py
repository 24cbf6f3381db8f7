# SPDX-License-Identifier: Apache-2.0
"""The location of a host in an inventory document."""

from collections.abc import Mapping, Sequence
from typing import Any

from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.frozen import FrozenMapping

_ZONE_LABELS = ('az', 'availability_zone')
"""Labels with a host's zone if the tree has no level ``az``."""


def read_location(document: Mapping[str, Any], levels: Sequence[str],
                  place: str) -> dict[str, Any]:
    """The location, labels and availability zone, as fields of a Host.

    :param document: document of a host or storage pool that matches the schema
    :param place: its position
    :raises InvalidDocument: the location does not fit the levels
    """
    location = tuple(document.get('location', ()))
    above = levels[:-1]
    if len(location) != len(above):
        raise InvalidDocument(
            join(place, 'location'),
            f'must have one name for each level above host '
            f'({", ".join(above) or "none"}), not {len(location)}')
    labels = document.get('labels', {})
    for label in labels:
        if label in levels:
            raise InvalidDocument(
                join(place, 'labels', label), 'is a level of the tree')
    return {'location': location, 'labels': FrozenMapping(labels),
            'availability_zone': _zone(dict(zip(above, location)), labels)}


def _zone(location: Mapping[str, str],
          labels: Mapping[str, str]) -> str | None:
    if 'az' in location:
        return location['az']
    return next((labels[key] for key in _ZONE_LABELS if key in labels), None)
