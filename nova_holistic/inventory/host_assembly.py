# SPDX-License-Identifier: Apache-2.0
"""One host of a snapshot, from the data of Nova and Placement about it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections import defaultdict
import operator

from nova_holistic.inventory.nova.computes import Compute
from nova_holistic.inventory.resource_providers.provider import Provider
from nova_holistic.inventory.resource_providers.provider_source import (
    Sharing)
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.shared_resources import with_shared_resources
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.base import Aggregate, Location

DISABLED_TRAIT = 'COMPUTE_STATUS_DISABLED'
"""Nova's scheduler selects no host whose provider has this trait."""

Place = tuple[Compute, Location, frozenset[str]]
"""All that a host has from Nova: its compute node, its location, and the names
and UUIDs of its aggregates."""
HostParts = tuple[Place, Provider, tuple[NestedProvider, ...]]
"""All parts of a host: its place, its root provider, and the providers that
share their resources with it."""


def names_by_host(
        aggregates: Iterable[Aggregate]) -> Mapping[str, frozenset[str]]:
    """Names and UUIDs of the aggregates that hold each host."""
    names: dict[str, set[str]] = {}
    for aggregate in aggregates:
        for host in aggregate.hosts:
            names.setdefault(host, set()).update(
                (aggregate.name, aggregate.uuid))
    return {host: frozenset(found) for host, found in names.items()}


def host_of(place: Place, provider: Provider,
            shared: Sequence[NestedProvider] = ()) -> Host:
    """The host of a root provider.

    :param shared: the providers that share their resources with it
    """
    compute, location, aggregates = place
    return with_shared_resources(Host(
        name=compute.name, node=compute.node, uuid=compute.uuid,
        location=location.path, inventories=provider.inventories,
        traits=provider.traits, aggregates=aggregates,
        availability_zone=location.availability_zone,
        labels=location.labels, servers=provider.consumers,
        hypervisor=compute.hypervisor, providers=provider.below,
        enabled=compute.enabled and DISABLED_TRAIT not in provider.traits),
        shared)


def updated_host(host: Host, before: HostParts, now: HostParts) -> Host:
    """The host after a change of its parts; the same object if it is equal.

    :param before: the parts of the given host
    """
    if now[0] is before[0] and now[1] is before[1]:
        return host if now[2] is before[2] else (
            with_shared_resources(host, now[2]))
    found = host_of(*now)
    return host if found == host else found


class SharingProviders:
    """The providers that share their resources, and the hosts that they share
    them with. Callers must not use one object at the same time."""

    def __init__(self) -> None:
        self._sharing: Mapping[str, Sharing] = FrozenMapping()
        # UUIDs of the sharing providers of each root provider.
        self._of_root: Mapping[str, tuple[str, ...]] = FrozenMapping()
        # An unchanged provider stays the same object.
        self._known: dict[str, tuple[Provider, NestedProvider]] = {}
        # All hosts of the same providers get one object.
        self._sets: dict[tuple[str, ...], tuple[NestedProvider, ...]] = {}

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._sharing

    def put(self, sharing: Mapping[str, Sharing]) -> bool:
        """Replace all of them. Return whether something has changed."""
        if sharing == self._sharing:
            return False
        found: dict[str, list[str]] = defaultdict(list)
        for uuid in sorted(sharing):
            for root in sharing[uuid].roots:
                found[root].append(uuid)
        self._sharing, self._known, self._sets = sharing, {}, {}
        self._of_root = {root: tuple(uuids) for root, uuids in found.items()}
        return True

    def of(self, root: str, providers: Mapping[str, Provider],
           ) -> tuple[NestedProvider, ...]:
        """The providers that share their resources with a root provider; the
        same object as before if nothing has changed.

        :param providers: all providers that are known, by UUID
        """
        if not self._sharing:
            return ()
        uuids = self._of_root.get(root, ())
        found = tuple([self._nested(uuid, providers[uuid]) for uuid in uuids
                       if uuid in providers])
        known = self._sets.get(uuids)
        if known is not None and len(known) == len(found) and all(
                map(operator.is_, known, found)):
            return known
        self._sets[uuids] = found
        return found

    def uuids_of(self, roots: Collection[str]) -> frozenset[str]:
        """UUIDs of the providers that share resources with some of the roots.
        """
        if not self._sharing:
            return frozenset()
        return frozenset(uuid for root in roots
                         for uuid in self._of_root.get(root, ()))

    def _nested(self, uuid: str, provider: Provider) -> NestedProvider:
        known = self._known.get(uuid)
        if known is not None and known[0] is provider:
            return known[1]
        nested = NestedProvider(
            uuid, self._sharing[uuid].name, '', provider.inventories,
            provider.traits, sharing=True)
        if known is not None and known[1] == nested:
            nested = known[1]
        self._known[uuid] = provider, nested
        return nested
