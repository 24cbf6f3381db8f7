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
        its suffix; '' is the suffix of the resources outside groups
    """

    resources: FrozenMapping[str, FrozenMapping[str, int]]
    mappings: FrozenMapping[str, tuple[str, ...]]

    @classmethod
    def from_placement(cls, request: Mapping[str, Any]
                       ) -> 'ProviderAllocation':
        """Convert one of Placement's allocation requests.

        :param request: an item of ``allocation_requests``
        """
        return cls(
            FrozenMapping({
                provider: FrozenMapping(allocation['resources'])
                for provider, allocation in request['allocations'].items()}),
            FrozenMapping({suffix: tuple(providers) for suffix, providers
                           in request['mappings'].items()}))

    def to_placement(self) -> dict[str, Any]:
        """The allocation request in the format of Placement and Nova."""
        return {
            'allocations': {
                provider: {'resources': dict(amounts)}
                for provider, amounts in self.resources.items()},
            'mappings': {suffix: list(providers) for suffix, providers
                         in self.mappings.items()}}
