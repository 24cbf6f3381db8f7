# SPDX-License-Identifier: Apache-2.0
"""Resources that a member requires from a single resource provider of its
host."""

from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping

NONE, ISOLATE = 'none', 'isolate'
"""Values of Placement's ``group_policy``."""

PCI_PREFIX = '_pci'
"""Beginning of the suffixes of groups that request PCI devices by alias."""


@dataclass(frozen=True, slots=True)
class RequestGroup:
    """A granular group of Placement: ``resources1``, ``required1``.

    :ivar suffix: distinguishes the groups of a member
    :ivar resources: amounts by resource class, all from the same provider
    :ivar required_traits: traits that this provider has
    :ivar forbidden_traits: traits that this provider does not have
    """

    suffix: str
    resources: FrozenMapping[str, int]
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()
