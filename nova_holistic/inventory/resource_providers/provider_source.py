# SPDX-License-Identifier: Apache-2.0
"""Where resource providers are read from."""

import abc
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nova_holistic.inventory.resource_providers.provider import Provider


@dataclass(frozen=True, slots=True)
class Listed:
    """A resource provider in the list of all.

    :ivar name: of a compute node's provider: its hypervisor host name
    :ivar generation: grows with each change of its inventories and traits,
        and with each new allocation
    :ivar root: whether it has no parent
    :ivar parent: UUID of its parent; '' if it has none
    """

    name: str
    generation: int
    root: bool
    parent: str = ''


Listing = Mapping[str, Listed]
"""All resource providers by UUID."""


def names_of_roots(listing: Listing) -> Mapping[str, str]:
    """The name of each provider without a parent, by UUID."""
    return {uuid: each.name for uuid, each in listing.items() if each.root}


class ProviderSource(abc.ABC):
    """Reads resource providers. ``read`` is for one caller at a time."""

    @abc.abstractmethod
    def list(self) -> Listing:
        """All providers, in their current state.

        :raises HolisticError: the source does not answer, or answers nonsense
        """

    @abc.abstractmethod
    def read(self, uuids: Collection[str], listing: Listing | None = None,
             *, counted: bool = True) -> Mapping[str, Provider]:
        """Those of the providers that exist; the same objects for those that
        did not change since the read before.

        :param listing: what ``list`` returned just before; the default is to
            list again
        :param counted: whether the consumers of all have to be counted
        :raises HolisticError: the source does not answer, or answers nonsense
        """

    @abc.abstractmethod
    def reread(self, uuids: Collection[str]
               ) -> Mapping[str, Provider | None]:
        """The current providers by UUID; None if a provider no longer exists.
        Threads may call this at any time.

        :raises HolisticError: the source does not answer, or answers nonsense
        """

    def reread_use(self, uuids: Collection[str]
                   ) -> Mapping[str, Provider | None]:
        """All providers with the current usage. Other changes may be left to
        the next ``read`` or ``reread``.

        :raises HolisticError: the source does not answer, or answers nonsense
        """
        return self.reread(uuids)

    @abc.abstractmethod
    def with_trait(self, trait: str) -> frozenset[str]:
        """UUIDs of all providers with a trait.

        :raises HolisticError: the source does not answer, or answers nonsense
        """
