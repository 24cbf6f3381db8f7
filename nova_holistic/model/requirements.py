# SPDX-License-Identifier: Apache-2.0
"""What a member asks of its host."""

from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class Requirements:
    """What one server needs; members with equal requirements are alike.

    :ivar resources: amount of each of Placement's resource classes, in that
        class's own unit; empty until a flavor is resolved
    :ivar flavor: name or id of a Nova flavor, instead of ``resources``
    :ivar aggregates: names of host aggregates, all of which must hold the host
    :ivar location: a directed location, coarse to fine; ``()`` is anywhere
    """

    resources: FrozenMapping[str, int] = FrozenMapping()
    flavor: str | None = None
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()
    availability_zone: str | None = None
    aggregates: frozenset[str] = frozenset()
    location: tuple[str, ...] = ()
