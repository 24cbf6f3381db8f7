# SPDX-License-Identifier: Apache-2.0
"""Chooses the providers of a new member that uses more than the root provider
of its host."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.disjoint_allocations import Choice, choose
from nova_holistic.holds.independent_parts import is_isolated, merged
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.provider_allocation import ProviderAllocation
from nova_holistic.table.records import Place


def with_providers(holds: HoldClient, wanted: Requirements,
                   places: Sequence[Place]) -> Sequence[Place]:
    """The first place whose host has providers for the member, with the
    allocation from these providers.

    :param places: in the order in which they are tried; those of equal members
        with their allocations
    :returns: one place; empty if Placement proposes no providers on any of the
        hosts
    :raises HoldsError: Placement does not answer as expected
    """
    for place in dict.fromkeys(
            replace(place, allocation=None) for place in places):
        found = next(_allocations(holds, wanted, place, places), None)
        if found is not None:
            return [replace(place, allocation=found)]
    return []


def _allocations(holds: HoldClient, wanted: Requirements, place: Place,
                 places: Sequence[Place]) -> Iterator[ProviderAllocation]:
    """Possible allocations of the member at a place.

    :param places: as for ``with_providers``
    """
    found = holds.candidates(place.provider, wanted)
    chosen = choose([
        Choice(options, 0 if is_isolated(part) else None)
        for part, options in found.parts], found.free)
    if chosen is not None:
        yield merged([part for part, _ in found.parts], chosen)
    elif not wanted.request_groups:
        # Placement does not propose providers that share their resources with
        # this host. An equal member uses the same providers.
        yield from (other.allocation for other in places
                    if other.provider == place.provider and other.allocation
                    and _uses_shared(holds, place, other.allocation))


def _uses_shared(holds: HoldClient, place: Place,
                 allocation: ProviderAllocation) -> bool:
    """Whether all providers of the allocation except the root provider share
    their resources with the host."""
    others = allocation.resources.keys() - {place.provider}
    return bool(others) and others.isdisjoint(holds.providers(place.provider))
