# SPDX-License-Identifier: Apache-2.0
"""A Nova flavor, as far as placement is concerned."""

from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class Flavor:
    """The resources and traits that a flavor asks of Placement.

    :ivar id: Nova's flavorid; the name again where there is none (a file)
    :ivar unplannable: why members of this flavor cannot be planned; '' where
        they can
    """

    name: str
    id: str
    resources: FrozenMapping[str, int]
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()
    unplannable: str = ''
