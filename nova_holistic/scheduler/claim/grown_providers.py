# SPDX-License-Identifier: Apache-2.0
"""Chooses the providers of a new member that uses more than the root provider
of its host."""

from collections.abc import Sequence
from dataclasses import replace

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.disjoint_allocations import Choice, choose
from nova_holistic.holds.independent_parts import is_isolated, merged
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.records import Place


def with_providers(holds: HoldClient, wanted: Requirements,
                   places: Sequence[Place]) -> Sequence[Place]:
    """The first place whose host has providers for the member, with the
    allocation from these providers.

    :param places: in the order in which they are tried
    :returns: one place; empty if Placement proposes no providers on any of the
        hosts
    :raises HoldsError: Placement does not answer as expected
    """
    for place in places:
        found = holds.candidates(place.provider, wanted)
        chosen = choose([
            Choice(options, 0 if is_isolated(part) else None)
            for part, options in found.parts], found.free)
        if chosen is not None:
            return [replace(place, allocation=merged(
                [part for part, _ in found.parts], chosen))]
    return []
