# SPDX-License-Identifier: Apache-2.0
"""The resources of a member that come from several providers of its host."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class ProviderAllocation:
    """An allocation request of Placement.

    :ivar resources: amounts by resource class, by UUID of the provider
    :ivar mappings: UUIDs of the providers that serve each request group, by
        its suffix; '' for what the member requests outside groups
    """

    resources: FrozenMapping[str, FrozenMapping[str, int]]
    mappings: FrozenMapping[str, tuple[str, ...]]

    @classmethod
    def from_placement(cls, request: Mapping[str, Any]
                       ) -> 'ProviderAllocation':
        """:param request: one of Placement's allocation requests"""
        return cls(
            FrozenMapping({
                provider: FrozenMapping(each['resources'])
                for provider, each in request['allocations'].items()}),
            FrozenMapping({suffix: tuple(providers) for suffix, providers
                           in request['mappings'].items()}))

    def to_placement(self) -> dict[str, Any]:
        """The allocation request, as Placement and Nova write it."""
        return {
            'allocations': {
                provider: {'resources': dict(amounts)}
                for provider, amounts in self.resources.items()},
            'mappings': {suffix: list(providers) for suffix, providers
                         in self.mappings.items()}}
