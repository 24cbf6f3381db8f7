# SPDX-License-Identifier: Apache-2.0
"""The interface of sources of resource providers."""

import abc
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nova_holistic.inventory.resource_providers.provider import Provider


@dataclass(frozen=True, slots=True)
class Listed:
    """A resource provider in the list of all.

    :ivar name: name; that of a compute node is its hypervisor host name
    :ivar generation: grows with each change of inventories or traits, and
        with each new allocation
    :ivar root: whether it has no parent
    :ivar parent: UUID of its parent; '' if it has none
    """

    name: str
    generation: int
    root: bool
    parent: str = ''


Listing = Mapping[str, Listed]
"""All resource providers by UUID."""


SHARING_TRAIT = 'MISC_SHARES_VIA_AGGREGATE'
"""A provider with this trait shares its resources with the providers of its
aggregates."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """A provider that shares its resources.

    :ivar name: its name
    :ivar roots: UUIDs of the root providers of the trees that it shares them
        with
    """

    name: str
    roots: frozenset[str]


def names_of_roots(listing: Listing) -> Mapping[str, str]:
    """The name of each provider without a parent, by UUID."""
    return {uuid: provider.name for uuid, provider in listing.items()
            if provider.root}


def roots_of(listing: Listing) -> Mapping[str, str]:
    """UUIDs of the root providers of all nested providers, by UUID."""
    found = {}
    for uuid in listing:
        root = uuid
        while root in listing and listing[root].parent:
            root = listing[root].parent
        if root != uuid:
            found[uuid] = root
    return found


class ProviderSource(abc.ABC):
    """Reads resource providers. Callers must not call ``read`` at the same
    time."""

    @abc.abstractmethod
    def list(self) -> Listing:
        """The current list of all providers.

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """

    @abc.abstractmethod
    def read(self, uuids: Collection[str], listing: Listing | None = None,
             *, counted: bool = True) -> Mapping[str, Provider]:
        """The providers by UUID, without providers that do not exist. A
        provider that did not change since the previous call is the same
        object.

        :param listing: result of ``list`` just before; None: this method reads
            the list itself
        :param counted: whether the consumers of all providers must be counted
        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """

    @abc.abstractmethod
    def reread(self, uuids: Collection[str]
               ) -> Mapping[str, Provider | None]:
        """The current providers by UUID; None if a provider no longer exists.
        Threads may call this at any time.

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """

    def reread_use(self, uuids: Collection[str]
                   ) -> Mapping[str, Provider | None]:
        """The providers with the current usage by UUID. Other changes may be
        missing until the next ``read`` or ``reread``.

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """
        return self.reread(uuids)

    @abc.abstractmethod
    def with_trait(self, trait: str) -> frozenset[str]:
        """UUIDs of all providers with a trait.

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """

    def sharing(self, listing: Listing, uuids: Collection[str]
                ) -> Mapping[str, Sharing]:
        """Those of the providers that share their resources, by UUID.

        :param listing: result of ``list`` just before
        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """
        return {}
