# SPDX-License-Identifier: Apache-2.0
"""The change of the usage of a resource provider."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class UseChange:
    """All numbers are negative if allocations were deleted.

    :ivar consumers: number of consumers
    :ivar amounts: amounts by resource class
    """

    consumers: int = 0
    amounts: Mapping[str, int] = FrozenMapping()

    def __add__(self, other: 'UseChange') -> 'UseChange':
        return UseChange(
            self.consumers + other.consumers, FrozenMapping({
                name: self.amounts.get(name, 0) + other.amounts.get(name, 0)
                for name in {**self.amounts, **other.amounts}}))

    def __neg__(self) -> 'UseChange':
        return UseChange(-self.consumers, FrozenMapping({
            name: -amount for name, amount in self.amounts.items()}))
