# SPDX-License-Identifier: Apache-2.0
"""Reads resource providers from Placement's API, and reads only changed
providers again.

A provider's generation grows with every change of its inventories and traits
and with every new allocation. The deletion of an allocation does not change
the generation: ``use_changes`` finds it.
"""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from nova_holistic.inventory.parallel_reads import read_each
from nova_holistic.inventory.resource_providers.provider import (
    generation_of, Provider)
from nova_holistic.inventory.resource_providers.provider_source import (
    Listed, Listing, ProviderSource, Sharing, SHARING_TRAIT)
from nova_holistic.inventory.resource_providers.use_changes import (
    find_changed, PLACEMENT_VERSION, UseLists)
from nova_holistic.inventory.service_client import ServiceClient

_FIRST = (('VCPU', 1), ('MEMORY_MB', 1))
"""Demands for which most providers have capacity. If no provider is known, two
lists with these demands contain the usage and the traits of most providers."""


class ProviderReader(ProviderSource):
    """Caches providers, and reads those that changed.

    Callers must not call ``read`` at the same time. Threads may call
    ``reread`` and ``reread_use`` at any time, also during ``read``. For a
    provider with any free capacity, the result of ``read`` was true at some
    moment during the call. A provider without any free capacity may be more
    over-committed in the result than in Placement, with more consumers.

    Requests of ``read``:

    - a list of all providers, unless the caller has one,
    - the lists of usage,
    - one for each provider of which only allocations were deleted,
    - two or three for each other provider that changed or is not known yet.
      A new provider without allocations takes only one, and so does any new
      provider if consumers need not be counted.
    """

    def __init__(self, placement: ServiceClient, threads: int):
        """:param threads: number of threads that read providers"""
        self._placement = placement
        self._threads = threads
        self._known: Mapping[str, Provider] = {}
        self._sharing: frozenset[str] = frozenset()

    def read(self, uuids: Collection[str], listing: Listing | None = None,
             *, counted: bool = True) -> Mapping[str, Provider]:
        """See ``ProviderSource.read``.

        :raises ServiceFailed: Placement does not answer, or gives an invalid
            answer
        """
        generations = {
            uuid: each.generation for uuid, each
            in (self.list() if listing is None else listing).items()}
        lists = UseLists(self._placement)
        present = [uuid for uuid in uuids if uuid in generations]
        same = {uuid: self._known[uuid] for uuid in present
                if uuid in self._known
                and self._known[uuid].generation == generations[uuid]}
        changed = find_changed(same, lists)
        for demand in _FIRST:
            if not same and any(uuid not in lists.uses for uuid in present):
                # One answer contains the usage and the traits of all.
                lists.used(demand)
        wanted = [uuid for uuid in present
                  if uuid not in same or uuid in changed
                  or counted and not same[uuid].is_counted]
        fetched = read_each(
            wanted, partial(self._fetch_listed, generations, lists, counted),
            self._threads)
        found = {uuid: fetched[uuid] if uuid in fetched else same[uuid]
                 for uuid in present}
        self._known = {uuid: provider for uuid, provider in found.items()
                       if provider is not None}
        return self._known

    def reread(self, uuids: Collection[str]
               ) -> Mapping[str, Provider | None]:
        """See ``ProviderSource.reread``.

        Requests: one for each provider, and two more if its inventories,
        traits or generation have changed.

        :raises ServiceFailed: Placement does not answer, or gives an invalid
            answer
        """
        return self._read_again(
            uuids, partial(self._fetch, generations={}, traits={}))

    def reread_use(self, uuids: Collection[str]
                   ) -> Mapping[str, Provider | None]:
        """See ``ProviderSource.reread_use``.

        Requests: one for each provider that is known.

        :raises ServiceFailed: Placement does not answer, or gives an invalid
            answer
        """
        return self._read_again(uuids, self._fetch_use)

    def _read_again(self, uuids: Collection[str],
                    fetch: Callable[[str], Provider | None],
                    ) -> Mapping[str, Provider | None]:
        found = read_each(sorted(uuids), fetch, self._threads)
        known = {**self._known, **found}
        for uuid, provider in found.items():
            if provider is None:
                del known[uuid]
        # Another thread may replace the mapping at this moment. Providers that
        # are lost then are read again later.
        self._known = known
        return found

    def with_trait(self, trait: str) -> frozenset[str]:
        """See ``ProviderSource.with_trait``; one request.

        :raises ServiceFailed: Placement does not answer, or gives an invalid
            answer
        """
        path = f'/resource_providers?required={trait}'
        with self._placement.reading(path):
            return frozenset(item['uuid'] for item in self._placement.get(
                path, PLACEMENT_VERSION)['resource_providers'])

    def sharing(self, listing: Listing, uuids: Collection[str]
                ) -> Mapping[str, Sharing]:
        """See ``ProviderSource.sharing``; no request without UUIDs, and
        otherwise one, and two more for each provider that shares its
        resources.

        :raises ServiceFailed: Placement does not answer, or gives an invalid
            answer
        """
        found = self.with_trait(SHARING_TRAIT) & frozenset(
            uuids) if uuids else frozenset[str]()
        roots = read_each(sorted(found), self._roots, self._threads)
        self._sharing = found
        return {uuid: Sharing(listing[uuid].name, those - {uuid})
                for uuid, those in roots.items()}

    def _roots(self, uuid: str) -> frozenset[str]:
        """UUIDs of the root providers of all trees that contain a provider of
        an aggregate of this provider."""
        answer = self._part(uuid, 'aggregates')
        with self._placement.reading(f'/resource_providers/{uuid}'):
            aggregates = answer['aggregates'] if answer else ()
        if not aggregates:
            return frozenset()
        path = f'/resource_providers?member_of=in:{",".join(aggregates)}'
        with self._placement.reading(path):
            return frozenset(
                item['root_provider_uuid'] for item in self._placement.get(
                    path, PLACEMENT_VERSION)['resource_providers'])

    def list(self) -> Listing:
        """See ``ProviderSource.list``; one request.

        :raises ServiceFailed: Placement does not answer, or gives an invalid
            answer
        """
        path = '/resource_providers'
        with self._placement.reading(path):
            answer = self._placement.get(path, PLACEMENT_VERSION)
            found = {item['uuid']: Listed(
                item['name'], item['generation'],
                item['parent_provider_uuid'] is None,
                item['parent_provider_uuid'] or '')
                for item in answer['resource_providers']}
        known = self._known
        if not known.keys() <= found.keys():
            # A provider that is created again with the same UUID may have the
            # generation of the deleted one.
            self._known = {uuid: provider for uuid, provider in known.items()
                           if uuid in found}
        return found

    def _fetch_listed(self, generations: Mapping[str, int], lists: UseLists,
                      counted: bool, uuid: str) -> Provider | None:
        """As ``_fetch``, without a request for the allocations of a new
        provider that has none, or whose consumers need not be counted.

        :param generations: generations that were read before the lists
        :param lists: lists that were read for this call
        """
        if uuid in self._sharing:
            return self._fetch_sharing(uuid)
        used = lists.uses.get(uuid)
        if used is None or uuid in self._known or (
                counted and any(used.values())):
            return self._fetch(uuid, generations, lists.traits)
        inventories = self._part(uuid, 'inventories')
        if inventories is None:
            return None
        with self._placement.reading(f'/resource_providers/{uuid}'):
            # If the generation differs, a consumer may have allocated
            # something after the list was read.
            if generation_of(inventories) == generations[uuid] and (
                    inventories['inventories'].keys() <= used.keys()):
                return Provider.with_use(
                    inventories, used, lists.traits[uuid])
        return self._fetch(uuid, generations, lists.traits)

    def _fetch(self, uuid: str, generations: Mapping[str, int],
               traits: Mapping[str, Collection[str]]) -> Provider | None:
        """One provider; None if it no longer exists.

        :param generations: generations that were read before the traits
        """
        if uuid in self._sharing:
            return self._fetch_sharing(uuid)
        allocations = self._part(uuid, 'allocations')
        if allocations is None:
            return None
        with self._placement.reading(f'/resource_providers/{uuid}'):
            known = self._known.get(uuid)
            if known and known.generation == generation_of(allocations):
                # Only the usage can have changed.
                return known.with_allocations(allocations)
            inventories = self._part(uuid, 'inventories')
            if inventories is None:
                return None
            answers = [allocations, inventories]
            if uuid in traits and (
                    generation_of(inventories) == generations[uuid]):
                return Provider.from_placement(answers, traits[uuid])
            answers.append(self._part(uuid, 'traits'))
            if answers[-1] is None:
                return None
            return Provider.from_placement(answers, answers[-1]['traits'])

    def _fetch_use(self, uuid: str) -> Provider | None:
        """One provider with its current usage. Its generation remains, so that
        the next reading finds other changes."""
        known = self._known.get(uuid)
        if known is None or uuid in self._sharing:
            return self._fetch(uuid, generations={}, traits={})
        allocations = self._part(uuid, 'allocations')
        if allocations is None:
            return None
        with self._placement.reading(f'/resource_providers/{uuid}'):
            return known.with_allocations(allocations)

    def _fetch_sharing(self, uuid: str) -> Provider | None:
        """A provider that shares its resources. It may have the allocations of
        many servers, so only their sums are read."""
        inventories = self._part(uuid, 'inventories')
        usages = self._part(uuid, 'usages')
        traits = self._part(uuid, 'traits')
        if inventories is None or usages is None or traits is None:
            return None
        with self._placement.reading(f'/resource_providers/{uuid}'):
            return Provider.of_sharing(
                inventories, usages['usages'], traits['traits'])

    def _part(self, uuid: str, part: str) -> Any:
        return self._placement.get(f'/resource_providers/{uuid}/{part}',
                                   PLACEMENT_VERSION, missing_ok=True)
