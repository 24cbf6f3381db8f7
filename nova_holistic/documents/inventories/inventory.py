# SPDX-License-Identifier: Apache-2.0
"""Converts an inventory document into a Snapshot in which every host has a
location."""

from collections.abc import Iterator, Sequence
import math
from typing import Any

from nova_holistic.documents.images import image_of
from nova_holistic.documents.inventories.host_location import read_location
from nova_holistic.documents.inventories.nested_providers import (
    read_providers, read_resources)
from nova_holistic.documents.inventories.pools import read_pool
from nova_holistic.documents.inventories.quick_check import QuickCheck
from nova_holistic.documents.inventories.sharing_providers import (
    with_sharing_providers)
from nova_holistic.documents.inventories.unique_uuids import check_uuids
from nova_holistic.documents.schemas.inventory import DOCUMENT
from nova_holistic.documents.source.json_text import NEW_OBJECTS
from nova_holistic.documents.validation import brief, join, validator
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.garbage_collection import few_collections
from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.snapshot import Host, Link, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor

_check_shape = validator(DOCUMENT)


def parse_inventory(document: Any) -> Snapshot:
    """Read a snapshot.

    :raises InvalidDocument: the document is invalid; with all mistakes
    """
    with few_collections(NEW_OBJECTS):
        if not _quick_check.accepts(document):
            _check_shape(document)
        return _snapshot(document)


def _snapshot(document: dict) -> Snapshot:
    mistakes = Mistakes()
    levels = tuple(document['levels'])
    if levels[-1] != HOST:
        raise InvalidDocument(
            join('levels', len(levels) - 1),
            f'the last level must be {HOST!r}, not {brief(levels[-1])}')
    hosts = []
    for i, host in enumerate(document['hosts']):
        with mistakes.collected():
            hosts.append(_host(host, levels, join('hosts', i)))
    pools = []
    for i, pool in enumerate(document.get('pools', ())):
        with mistakes.collected():
            pools.append(read_pool(pool, levels, join('pools', i)))
    # From here on, positions in the list of hosts equal those in the document.
    mistakes.must_be_none()
    hosts = with_sharing_providers(
        hosts, document.get('sharing_providers', ()), mistakes)
    with mistakes.collected():
        _check_names(hosts)
    check_uuids(document, mistakes)
    with mistakes.collected():
        _check_pools(pools, hosts)
    links = _links(document.get('links', ()), levels, [*hosts, *pools],
                   mistakes)
    images = {}
    for name, properties in document.get('images', {}).items():
        with mistakes.collected():
            images[name] = image_of(properties, join('images', name), name)
    mistakes.must_be_none()
    return Snapshot(
        levels, tuple(hosts), links,
        FrozenMapping({
            name: _flavor(name, resources)
            for name, resources in document.get('flavors', {}).items()}),
        images=FrozenMapping(images), pools=tuple(pools),
        default_volume_type=document.get('default_volume_type'))


def _integers(document: dict) -> Iterator[Any]:
    """All values that must be whole numbers, and ratios that are NaN. No
    comparison with a limit refuses NaN."""
    for host in document['hosts']:
        yield host.get('servers')
        yield from _integers_of(host)
        for provider in host.get('providers', ()):
            yield from _integers_of(provider)
    for provider in document.get('sharing_providers', ()):
        yield from _integers_of(provider)
    for pool in document.get('pools', ()):
        yield pool.get('volumes')
    for link in document.get('links', ()):
        yield from link.values()
    for resources in document.get('flavors', {}).values():
        yield from resources.values()
    for properties in document.get('images', {}).values():
        yield from (properties.get('min_disk'), properties.get('min_ram'))


def _integers_of(provider: dict) -> Iterator[Any]:
    for fields in provider['resources'].values():
        for name, value in fields.items():
            if name != 'allocation_ratio' or value != value:
                yield value


_quick_check = QuickCheck(DOCUMENT, _integers)


def _flavor(name: str, resources: dict[str, int]) -> Flavor:
    return Flavor(name, name, FrozenMapping(
        {key: amount for key, amount in resources.items() if amount}))


def _host(document: dict, levels: tuple[str, ...], place: str) -> Host:
    return Host(
        name=document['name'],
        node=document.get('node', document['name']),
        uuid=document.get('uuid', '').lower(),
        inventories=read_resources(document['resources'], place),
        providers=read_providers(
            document.get('providers', ()), join(place, 'providers')),
        traits=frozenset(document.get('traits', ())),
        aggregates=frozenset(document.get('aggregates', ())),
        servers=document.get('servers', 0),
        enabled=document.get('enabled', True),
        statistics=FrozenMapping({
            name: _statistic(value, join(place, 'statistics', name))
            for name, value in document.get('statistics', {}).items()}),
        **read_location(document, levels, place))


def _statistic(value: float, place: str) -> float:
    # YAML has NaN, which is neither too small nor too large.
    if math.isnan(value):
        raise InvalidDocument(place, 'must be a finite number')
    return float(value)


def _check_names(hosts: Sequence[Host]) -> None:
    taken: dict[str, int] = {}
    for i, host in enumerate(hosts):
        if host.name in taken:
            raise InvalidDocument(
                join('hosts', i, 'name'),
                f'{brief(host.name)} is already the name of '
                f'hosts[{taken[host.name]}]')
        taken[host.name] = i


def _check_pools(pools: Sequence[Host], hosts: Sequence[Host]) -> None:
    """Check that no pool has the name of another pool or of a host."""
    taken = {host.name: join('hosts', i) for i, host in enumerate(hosts)}
    for i, pool in enumerate(pools):
        if pool.name in taken:
            raise InvalidDocument(
                join('pools', i, 'name'),
                f'{brief(pool.name)} is already the name of '
                f'{taken[pool.name]}')
        taken[pool.name] = join('pools', i)


def _links(documents: list[dict], levels: tuple[str, ...],
           hosts: Sequence[Host], mistakes: Mistakes) -> tuple[Link, ...]:
    paths = {path[:depth] for path in (h.location + (h.name,) for h in hosts)
             for depth in range(1, len(path) + 1)}
    labels = {label for host in hosts for label in host.labels.items()}
    links: dict[tuple[str | None, tuple[str, ...]], Link] = {}
    for i, document in enumerate(documents):
        text, label = document['domain'], document.get('level')
        domain = (text,) if label else tuple(text.split('/'))
        place = join('links', i, 'domain')
        if label in levels:
            mistakes.add(InvalidDocument(
                join('links', i, 'level'), f'{brief(label)} is a level of '
                'the tree: only links of labels have a level'))
        elif label and (label, text) not in labels:
            mistakes.add(InvalidDocument(
                place, f'no host has the label {label}: {brief(text)}'))
        elif not label and domain not in paths:
            mistakes.add(InvalidDocument(
                place, f'no host is in {brief(text)}'))
        if (label, domain) in links:
            mistakes.add(InvalidDocument(
                place, f'{brief(text)} already has a link'))
        links[label, domain] = Link(
            domain, document['uplink_mbps'], document.get('used_mbps', 0),
            label)
    return tuple(links.values())
