# SPDX-License-Identifier: Apache-2.0
"""At each level, a host has at most one name."""

from collections.abc import Collection, Mapping

from nova_holistic.topology.base import Aggregate
from nova_holistic.topology.errors import AmbiguousLocation

ZONE_KEY = 'availability_zone'
"""Metadata key by which Nova makes an aggregate an availability zone."""


def name_hosts(level: str, key: str,
               aggregates: Collection[Aggregate]) -> Mapping[str, str]:
    """The name of the domain of each host at a level, from the metadata of
    aggregates.

    :param key: key of the metadata; an aggregate without it is ignored
    :raises AmbiguousLocation: two aggregates disagree on a host
    """
    said_by: dict[str, tuple[str, str]] = {}
    for aggregate in aggregates:
        name = aggregate.metadata.get(key)
        if not name:
            continue
        for host in aggregate.hosts:
            before = said_by.setdefault(host, (aggregate.name, name))
            if before[1] != name:
                raise AmbiguousLocation(
                    host, level, before, (aggregate.name, name))
    return {host: name for host, (_, name) in said_by.items()}
