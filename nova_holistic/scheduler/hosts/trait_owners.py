# SPDX-License-Identifier: Apache-2.0
"""The resource providers that have a trait."""

from collections.abc import Callable, Collection, Mapping
import time

from keystoneauth1 import exceptions as ks_exceptions
import nova.conf

from nova_holistic.scheduler.claim.request_refusal import RequestRefused

CONF = nova.conf.CONF

TRAITS_VERSION = '1.18'
"""Placement's microversion that finds providers by a required trait."""

REMEMBERED = 64
"""Maximum number of cached traits."""


class TraitOwners:
    """Caches the providers with each trait for [holistic] traits_lifetime
    seconds, because Placement's answer names every provider with the trait."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        """:param clock: in seconds"""
        self._clock = clock
        self._found: dict[str, tuple[float, frozenset[str]]] = {}
        self._used: set[str] = set()

    def owners(self, placement, traits: Collection[str]
               ) -> Mapping[str, frozenset[str]]:
        """UUIDs of the providers with each of the traits, by the trait. One
        request is sent for each trait that is not cached.

        :raises RequestRefused: Placement does not answer
        """
        self._used.update(traits)
        return {trait: self._owners(placement, trait)
                for trait in sorted(traits)}

    def renew(self, placement) -> None:
        """Read the traits again whose lifetime is half over, if they were
        used since this method last read them.

        :raises RequestRefused: Placement does not answer
        """
        half = CONF.holistic.traits_lifetime / 2
        for trait, (read_at, _) in sorted(self._found.items()):
            if trait in self._used and self._clock() - read_at >= half:
                self._used.discard(trait)
                self._read(placement, trait)

    def _owners(self, placement, trait: str) -> frozenset[str]:
        now = self._clock()
        read_at, found = self._found.get(trait, (None, frozenset()))
        if (read_at is not None
                and now - read_at < CONF.holistic.traits_lifetime):
            return found
        return self._read(placement, trait)

    def _read(self, placement, trait: str) -> frozenset[str]:
        now = self._clock()
        found = providers_with_trait(placement, trait)
        if trait not in self._found and len(self._found) >= REMEMBERED:
            self._found = {}
        before = self._found.get(trait)
        if before is not None and before[1] == found:
            # The same object makes comparisons of all owners fast.
            found = before[1]
        self._found[trait] = now, found
        return found


def providers_with_trait(placement, trait: str) -> frozenset[str]:
    """UUIDs of the providers that have a trait.

    :raises RequestRefused: Placement does not answer
    """
    try:
        response = placement.get(
            f'/resource_providers?required={trait}',
            microversion=TRAITS_VERSION, raise_exc=False)
    except ks_exceptions.ClientException as error:
        raise RequestRefused('Placement does not answer') from error
    if response.status_code == 400:
        # Placement does not know the trait, so no provider has it.
        return frozenset()
    if response.status_code != 200:
        raise RequestRefused('Placement returned an unexpected answer')
    return frozenset(provider['uuid'] for provider
                     in response.json()['resource_providers'])
