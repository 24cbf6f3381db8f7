# SPDX-License-Identifier: Apache-2.0
"""The storage pools that Cinder's scheduler knows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from keystoneauth1.adapter import Adapter

from nova_holistic.inventory.cinder.extra_specs import satisfies
from nova_holistic.inventory.cinder.pool_locations import (
    Locate, pool_locations)
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.cloud.pool_capacity import PoolCapacity, UNLIMITED
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.storage_pools import pool_traits, VOLUME_GB
from nova_holistic.topology.base import TopologyDriver

VERSION = '3.0'
"""Version of Cinder's API. All releases since Mitaka support it."""

DEFAULT_RATIO = 20.0
"""Cinder's max_over_subscription_ratio of a pool that reports none, or
``auto`` and no volumes."""

TYPE_ZONES = 'RESKEY:availability_zones'
"""Extra spec with the availability zones of a volume type, which Cinder's API
and not its CapabilitiesFilter reads."""


def with_cinder_pools(snapshot: Snapshot, cinder: Adapter,
                      topology: TopologyDriver) -> Snapshot:
    """The snapshot with the pools of Cinder, which replace its former pools.

    :raises ServiceFailed: Cinder does not answer, or gives an invalid answer
    """
    return replace(snapshot, pools=read_pools(
        ServiceClient('cinder', cinder), pool_locations(snapshot, topology)))


def read_pools(cinder: ServiceClient, locate: Locate) -> Sequence[Host]:
    """All pools, sorted by name. Pools of services that are disabled or down
    are disabled.

    The services report their capacity periodically. It does not include
    volumes that were created since the last report.

    Requests: two, and one for each page of volume types.

    :raises ServiceFailed: Cinder does not answer, or gives an invalid answer
    """
    path = '/types'
    with cinder.reading(path):
        types = {item['name']: item.get('extra_specs') or {}
                 for item in cinder.pages(path, 'volume_types', VERSION,
                                          is_public='None')}
    path = '/os-services?binary=cinder-volume'
    with cinder.reading(path):
        services = _services(cinder.get(path, VERSION)['services'])
    path = '/scheduler-stats/get_pools?detail=True'
    with cinder.reading(path):
        return tuple(sorted(
            (_pool(item['name'], item['capabilities'], types, locate, services)
             for item in cinder.get(path, VERSION)['pools']),
            key=lambda pool: pool.name))


def pool_capacity(capabilities: Mapping[str, Any]) -> PoolCapacity:
    """The capacity of a pool, with the defaults of Cinder's scheduler.

    :raises ValueError: a capacity is neither a number nor unlimited
    """
    provisioned = capabilities.get(
        'provisioned_capacity_gb', capabilities.get(
            'allocated_capacity_gb', 0))
    total = _capacity(capabilities.get('total_capacity_gb', 0))
    free = _capacity(capabilities.get('free_capacity_gb', 0))
    thin = bool(capabilities.get('thin_provisioning_support', False))
    ratio = capabilities.get('max_over_subscription_ratio') or DEFAULT_RATIO
    if ratio == 'auto':
        ratio = DEFAULT_RATIO
        if provisioned and not isinstance(total, str) and not isinstance(
                free, str):
            ratio = 1 + provisioned / (total - free + 1)
    return PoolCapacity(
        total, free, float(provisioned),
        float(capabilities.get('reserved_percentage') or 0),
        float(ratio) if thin else 1.0, thin)


def _capacity(value: Any) -> float | str:
    return value if value in UNLIMITED else float(value)


def _pool(name: str, capabilities: Mapping[str, Any],
          types: Mapping[str, Mapping[str, str]], locate: Locate,
          services: Mapping[str, tuple[str, bool]]) -> Host:
    zone, enabled = services.get(name.partition('#')[0], ('', False))
    location = locate(name, zone)
    return Host(
        name=name, node=name, uuid='', location=location.path,
        inventories=FrozenMapping({
            VOLUME_GB: pool_capacity(capabilities).inventory()}),
        traits=pool_traits([
            name for name, specs in types.items()
            if satisfies(capabilities, specs) and _is_offered(zone, specs)]),
        availability_zone=location.availability_zone,
        labels=location.labels, enabled=enabled)


def _is_offered(zone: str, extra_specs: Mapping[str, str]) -> bool:
    """Whether a volume type exists in an availability zone."""
    zones = extra_specs.get(TYPE_ZONES)
    return zones is None or zone in (
        each.strip() for each in zones.split(','))


def _services(items: Sequence[Mapping[str, Any]]
              ) -> Mapping[str, tuple[str, bool]]:
    """The zone of each host and cluster, and whether a service of it is
    enabled and up."""
    found: dict[str, tuple[str, bool]] = {}
    for item in items:
        works = (item['status'], item['state']) == ('enabled', 'up')
        for name in filter(None, (item['host'], item.get('cluster'))):
            found[name] = (
                item['zone'], works or found.get(name, ('', False))[1])
    return found
