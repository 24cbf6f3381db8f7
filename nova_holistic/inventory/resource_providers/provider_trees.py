# SPDX-License-Identifier: Apache-2.0
"""Trees of resource providers, from a source that reads single providers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from nova_holistic.inventory.resource_providers.provider import Provider
from nova_holistic.inventory.resource_providers.provider_source import (
    Listing, ProviderSource, roots_of, Sharing)
from nova_holistic.model.cloud.nested_provider import NestedProvider

Read = Callable[[Collection[str]], Mapping[str, Provider | None]]


class ProviderTrees(ProviderSource):
    """Each provider that is read contains the providers below it.

    The latest list determines the providers below it. If a provider has none,
    the other source reads it with the same requests as without trees.
    """

    def __init__(self, source: ProviderSource):
        self._source = source
        self._listing: Listing = {}
        # Roots of nested providers, and nested providers of roots, by UUID.
        self._roots: Mapping[str, str] = {}
        self._below: Mapping[str, Sequence[str]] = {}
        # The parts of each tree: an unchanged tree stays the same object.
        self._known: dict[str, tuple[Sequence[Provider | None], Provider]] = {}

    def list(self) -> Listing:
        listing = self._source.list()
        self._learn(listing)
        return listing

    def read(self, uuids: Collection[str], listing: Listing | None = None,
             *, counted: bool = True) -> Mapping[str, Provider]:
        if listing is None:
            listing = self._source.list()
        self._learn(listing)
        found = self._with_trees(
            uuids, lambda all_of_them: self._source.read(
                all_of_them, listing, counted=counted))
        return {uuid: provider for uuid, provider in found.items()
                if provider is not None}

    def reread(self, uuids: Collection[str]
               ) -> Mapping[str, Provider | None]:
        """See ``ProviderSource.reread``. In place of a nested provider, its
        root is returned."""
        return self._with_trees(self._of_roots(uuids), self._source.reread)

    def reread_use(self, uuids: Collection[str]
                   ) -> Mapping[str, Provider | None]:
        """See ``ProviderSource.reread_use``. In place of a nested provider,
        its root is returned."""
        return self._with_trees(
            self._of_roots(uuids), self._source.reread_use)

    def sharing(self, listing: Listing, uuids: Collection[str]
                ) -> Mapping[str, Sharing]:
        return self._source.sharing(listing, uuids)

    def with_trait(self, trait: str) -> frozenset[str]:
        return self._source.with_trait(trait)

    def _learn(self, listing: Listing) -> None:
        if listing is self._listing:
            return
        roots, below = roots_of(listing), {}
        for uuid, root in roots.items():
            below.setdefault(root, []).append(uuid)
        self._listing, self._roots = listing, roots
        self._below = {root: sorted(uuids) for root, uuids in below.items()}
        # Another thread may add a tree at the same time.
        self._known = {root: tree for root, tree in list(self._known.items())
                       if root in self._below}

    def _of_roots(self, uuids: Collection[str]) -> Collection[str]:
        roots = self._roots
        return {roots.get(uuid, uuid) for uuid in uuids} if roots else uuids

    def _with_trees(self, uuids: Collection[str], read: Read
                    ) -> Mapping[str, Provider | None]:
        below = {uuid: self._below[uuid] for uuid in uuids
                 if uuid in self._below}
        if not below:
            return read(uuids)
        found = read([*uuids, *(each for tree in below.values()
                                for each in tree)])
        return {uuid: self._tree(uuid, found, below.get(uuid, ()))
                for uuid in uuids if uuid in found}

    def _tree(self, uuid: str, found: Mapping[str, Provider | None],
              below: Sequence[str]) -> Provider | None:
        root = found[uuid]
        if root is None or not below:
            return root
        parts = [root, *(found.get(each) for each in below)]
        known = self._known.get(uuid)
        if known is not None and len(known[0]) == len(parts) and all(
                part is other for part, other in zip(parts, known[0])):
            return known[1]
        tree = replace(root, below=tuple(
            self._nested(each, uuid, provider) for each in below
            if (provider := found.get(each)) is not None))
        self._known[uuid] = parts, tree
        return tree

    def _nested(self, uuid: str, root: str,
                provider: Provider) -> NestedProvider:
        listed = self._listing[uuid]
        return NestedProvider(
            uuid, listed.name, '' if listed.parent == root else listed.parent,
            provider.inventories, provider.traits)
