# SPDX-License-Identifier: Apache-2.0
"""Racks and rooms from a file."""

from collections.abc import Collection, Mapping
from typing import Any

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.base import Aggregate, Location, TopologyDriver
from nova_holistic.topology.errors import InvalidLevels
from nova_holistic.topology.level_names import name_zones, ZONE_KEY
from nova_holistic.topology.levels import check_levels
from nova_holistic.topology.links import parse_links
from nova_holistic.topology.option_file import in_file, read_document

OPTION = '[topology] path'


class FileTopology(TopologyDriver):
    """The location of a host comes from a file; a host that is not in the file
    has none.

    The file is an inventory document. The driver reads ``levels``, the
    ``name``, ``location`` and ``labels`` of each host, the same keys of
    ``pools``, and ``links``; it ignores all other keys. The availability zone
    of a host is always that of Nova, because Nova refuses a host outside the
    requested zone.
    The file is read once.
    """

    def __init__(self, path: str, default_zone: str = 'nova'):
        """:raises HolisticError: the file cannot be read, or is invalid"""
        document = read_document(path, OPTION)
        try:
            self.levels, self._locations = _parse(document)
            self.links = parse_links(document, self.levels)
        except InvalidDocument as error:
            raise in_file(path, error) from error
        self._default_zone = default_zone

    @classmethod
    def from_conf(cls, conf) -> 'FileTopology':
        return cls(conf.topology.path,
                   conf.topology.default_availability_zone)

    def locate(self, hosts: Collection[str],
               aggregates: Collection[Aggregate]) -> Mapping[str, Location]:
        zones = name_zones(ZONE_KEY, aggregates)
        return {host: Location(
            *self._locations.get(host, ((), FrozenMapping())),
            zones.get(host, self._default_zone)) for host in hosts}


Places = Mapping[str, tuple[tuple[str, ...], FrozenMapping[str, str]]]


def _parse(document: Any) -> tuple[tuple[str, ...], Places]:
    """Levels, and the path and labels of each host and storage pool."""
    document = _expect(document, dict, '')
    levels = _texts(document.get('levels'), 'levels')
    try:
        levels = check_levels(levels)
    except InvalidLevels as error:
        raise InvalidDocument('levels', str(error)) from error
    places: dict[str, tuple[tuple[str, ...], FrozenMapping[str, str]]] = {}
    for key, items in (('hosts', document.get('hosts')),
                       ('pools', document.get('pools', []))):
        for index, host in enumerate(_expect(items, list, key)):
            place = f'{key}[{index}]'
            host = _expect(host, dict, place)
            name = _expect(host.get('name'), str, f'{place}.name')
            if name in places:
                raise InvalidDocument(
                    f'{place}.name', f'{name!r} is given twice')
            places[name] = (_path(host, levels, place), _labels(host, place))
    return levels, places


def _path(host: Mapping[str, Any], levels: tuple[str, ...],
          place: str) -> tuple[str, ...]:
    path = _texts(host.get('location', []), f'{place}.location')
    if len(path) > len(levels) - 1:
        raise InvalidDocument(
            f'{place}.location', f'{len(path)} names for the '
            f'{len(levels) - 1} levels above host')
    return path


def _labels(host: Mapping[str, Any],
            place: str) -> FrozenMapping[str, str]:
    place = f'{place}.labels'
    labels = _expect(host.get('labels', {}), dict, place)
    return FrozenMapping({
        key: _expect(value, str, f'{place}.{key}')
        for key, value in labels.items()})


def _texts(value: Any, place: str) -> tuple[str, ...]:
    return tuple(_expect(item, str, f'{place}[{index}]')
                 for index, item in enumerate(_expect(value, list, place)))


_KINDS = {dict: 'a mapping', list: 'a list', str: 'text'}


def _expect(value: Any, kind: type, place: str) -> Any:
    if not isinstance(value, kind) or (kind is str and not value):
        raise InvalidDocument(place, f'must be {_KINDS[kind]}')
    return value
