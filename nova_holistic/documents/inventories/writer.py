# SPDX-License-Identifier: Apache-2.0
"""Converts a snapshot into an inventory document with the same hosts."""

from collections.abc import Mapping
from collections import Counter
import dataclasses
from typing import Any

from nova_holistic.documents.inventories.nested_providers import parents_first
from nova_holistic.documents.inventories.pools import pool_document
from nova_holistic.documents.inventories.sharing_providers import (
    sharing_documents)
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.nova.image import Image

ZONE = 'availability_zone'
"""Label of the zone of a host, if ``az`` is not a level of the tree."""

_DEFAULTS = {field.name: field.default
             for field in dataclasses.fields(Inventory)
             if field.default is not dataclasses.MISSING}


def inventory_document(snapshot: Snapshot) -> dict[str, Any]:
    """Plain data for JSON.

    A host without a known domain of a level gets its own domain. Flavors that
    a document cannot express are left out: those with traits, and those that
    the planner does not support.
    """
    flavors = {name: dict(flavor.resources)
               for name, flavor in sorted(snapshot.flavors.items())
               if _expressible(flavor)}
    return {
        'levels': list(snapshot.levels),
        'hosts': [_host(host, snapshot.levels) for host in snapshot.hosts],
        **_given(
            sharing_providers=sharing_documents(snapshot.hosts, _resources),
            pools=[pool_document(pool, _position(pool, snapshot.levels))
                   for pool in snapshot.pools],
            default_volume_type=snapshot.default_volume_type,
            links=[{**_given(level=link.level),
                    'domain': '/'.join(link.domain),
                    'uplink_mbps': link.uplink_mbps,
                    'used_mbps': link.used_mbps} for link in snapshot.links],
            flavors=flavors,
            images={name: _image(image) for name, image
                    in sorted(snapshot.images.items())})}


def _host(host: Host, levels: tuple[str, ...]) -> dict[str, Any]:
    return {
        'name': host.name,
        **_given(node=host.node if host.node != host.name else '',
                 uuid=host.uuid),
        **_position(host, levels),
        'resources': _resources(host.inventories),
        **_given(providers=_providers(host)),
        **_given(traits=sorted(host.traits),
                 aggregates=sorted(host.aggregates),
                 servers=host.servers,
                 statistics=dict(host.statistics)),
        **({} if host.enabled else {'enabled': False})}


def _position(host: Host, levels: tuple[str, ...]) -> dict[str, Any]:
    """The keys of the location and the labels."""
    above = levels[:-1]
    known = dict(zip(above, host.location))
    labels = dict(host.labels)
    if 'az' not in above and host.availability_zone is not None:
        labels[ZONE] = host.availability_zone
    return {
        'location': [known.get(level) or f'no-{level}-of-{host.name}'[:255]
                     for level in above],
        **_given(labels=labels)}


def _providers(host: Host) -> list[dict[str, Any]]:
    """The providers below the root provider. Their names are UUIDs where two
    have the same name."""
    below = [each for each in host.providers if not each.sharing]
    names = Counter(each.name for each in below)
    named = {each.uuid: each.name if names[each.name] == 1 else each.uuid
             for each in below}
    return [{
        'name': named[each.uuid],
        **_given(uuid='' if each.uuid == each.name else each.uuid,
                 parent=named.get(each.parent)),
        'resources': _resources(each.inventories),
        **_given(traits=sorted(each.traits))}
        for each in parents_first(below)]


def _resources(inventories: Mapping[str, Inventory]) -> dict[str, Any]:
    return {name: _inventory(inventory)
            for name, inventory in inventories.items()}


def _inventory(inventory: Inventory) -> dict[str, Any]:
    found = dataclasses.asdict(inventory)
    return {name: value for name, value in found.items()
            if name == 'used' or value != _DEFAULTS.get(name)}


def _image(image: Image) -> dict[str, Any]:
    return {**image.properties, **_given(
        disk_format=image.disk_format, min_disk=image.min_disk,
        min_ram=image.min_ram)}


def _expressible(flavor: Flavor) -> bool:
    return bool(flavor.resources) and not (
        flavor.unplannable or flavor.required_traits
        or flavor.forbidden_traits or flavor.request_groups)


def _given(**values: Any) -> Mapping[str, Any]:
    """The values that are not empty; empty is the default."""
    return {name: value for name, value in values.items() if value}
