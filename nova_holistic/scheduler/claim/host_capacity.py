# SPDX-License-Identifier: Apache-2.0
"""The free capacity of the resource providers that serve one host.

A server gets its resources from the root provider of its host, from providers
below it, and from providers that share their resources with the host through
an aggregate of Placement.
"""

from collections.abc import Collection, Mapping
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
import os_traits

from nova_holistic.holds import allocation_bodies
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.table.records import MemberRecord

VERSION = '1.19'
"""Microversion of Placement with ``in_tree`` and root providers."""

Free = Mapping[tuple[str, str], int]
"""Free amounts by UUID of the provider and resource class."""


class HostCapacity:
    """Reads providers from Placement, each of them once."""

    def __init__(self, placement):
        """:param placement: keystoneauth Adapter for the placement service"""
        self._placement = placement
        self._inventories: dict[str, Mapping[str, int]] = {}
        self._free: dict[str, Mapping[str, int]] = {}
        self._sharing: dict[str, frozenset[str]] | None = None

    def free(self, root: str, classes: Collection[str]) -> Free:
        """The free amounts of the providers of a host.

        Requests: two for the root provider. If it has no capacity of some of
        the classes, one more for the tree, two for each other provider, and
        for the first such host also one for all providers that share their
        resources, and two for each of them.

        :param root: UUID of the root provider
        :param classes: resource classes that are needed
        :raises RequestRefused: Placement does not answer
        """
        providers = [root]
        free = self._free_of(root)
        # Placement allocates nothing of an inventory without capacity.
        if any(self._inventories[root].get(name, 0) <= 0 for name in classes):
            providers += [each for each in self._below(root) if each != root]
            providers += [uuid for uuid, roots in self._shared().items()
                          if root in roots and uuid not in providers]
        return {(uuid, name): amount for uuid in providers
                for name, amount in (
                    free if uuid == root else self._free_of(uuid)).items()}

    def _free_of(self, uuid: str) -> Mapping[str, int]:
        if uuid not in self._free:
            path = f'/resource_providers/{uuid}'
            used = self._get(f'{path}/usages').get('usages', {})
            self._inventories[uuid] = {
                name: int((each['total'] - each['reserved'])
                          * each['allocation_ratio'])
                for name, each in self._get(f'{path}/inventories').get(
                    'inventories', {}).items()}
            self._free[uuid] = {
                name: capacity - used.get(name, 0) for name, capacity
                in self._inventories[uuid].items()}
        return self._free[uuid]

    def _below(self, root: str) -> Collection[str]:
        return self._list(f'in_tree={root}').keys()

    def _shared(self) -> Mapping[str, frozenset[str]]:
        """The root providers of the hosts that use each provider that shares
        its resources."""
        if self._sharing is None:
            self._sharing = {uuid: self._users(uuid) for uuid in self._list(
                f'required={os_traits.MISC_SHARES_VIA_AGGREGATE}')}
        return self._sharing

    def _users(self, uuid: str) -> frozenset[str]:
        aggregates = self._get(f'/resource_providers/{uuid}/aggregates').get(
            'aggregates', ())
        return frozenset(self._list(
            f'member_of=in:{",".join(aggregates)}').values()
            if aggregates else ())

    def _list(self, query: str) -> Mapping[str, str]:
        """UUIDs of providers, each with the UUID of its root provider."""
        return {each['uuid']: each['root_provider_uuid'] for each in self._get(
            f'/resource_providers?{query}').get('resource_providers', ())}

    def _get(self, path: str) -> dict[str, Any]:
        try:
            response = self._placement.get(
                path, microversion=VERSION, raise_exc=False)
        except ks_exceptions.ClientException as error:
            raise RequestRefused('Placement does not answer') from error
        return response.json() if response.status_code == 200 else {}


def freed(free: Free, row: MemberRecord) -> Free:
    """The free amounts after the hold of a member is dropped."""
    found = dict(free)
    for uuid, allocation in allocation_bodies.allocations(row).items():
        for name, amount in allocation['resources'].items():
            found[uuid, name] = found.get((uuid, name), 0) + amount
    return found


def is_enough(request, free: Free) -> bool:
    """Whether the providers may be able to serve a request: some provider has
    the resources of each request group, and all providers together have the
    total of each class. Only Placement can decide whether they are.

    :param request: nova.scheduler.utils.ResourceRequest
    """
    totals: dict[str, int] = {}
    for (_, name), amount in free.items():
        totals[name] = totals.get(name, 0) + max(0, amount)
    providers = {uuid for uuid, _ in free}
    return all(
        totals.get(name, 0) >= amount for name, amount
        in request.merged_resources().items()) and all(
            any(all(free.get((uuid, name), 0) >= amount
                    for name, amount in part.items()) for uuid in providers)
            for part in _parts(request))


def _parts(request) -> list[Mapping[str, int]]:
    """Resources that one provider must serve: those of each request group,
    and each class outside request groups."""
    found: list[Mapping[str, int]] = []
    for suffix, group in request._rg_by_id.items():
        if suffix is None:
            found += [{name: amount} for name, amount
                      in group.resources.items()]
        else:
            found.append(dict(group.resources))
    return found
