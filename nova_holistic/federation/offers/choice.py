# SPDX-License-Identifier: Apache-2.0
"""The result of a search: the parts of each cloud."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.federation.child import Offer

Set = Mapping[int, int]
"""Index of a kind to the number of its parts, all in one cloud."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The parts of each cloud, with an offer for them.

    :ivar sets: cloud to its parts
    :ivar offers: cloud to its offer for these parts together
    :ivar violations: weighted violations, including those of preferences about
        clouds
    :ivar perfect: whether no preference is violated and each offer has reached
        its bound
    :ivar bound: no choice that this search may make, with as few violations,
        has a lower value; None: not proved
    """

    sets: Mapping[str, Set]
    offers: Mapping[str, Offer]
    violations: float
    perfect: bool
    bound: float | None = None

    @property
    def value(self) -> float:
        """Value of the objective, added over all clouds."""
        return sum(offer.value for offer in self.offers.values())
