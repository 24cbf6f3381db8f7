# SPDX-License-Identifier: Apache-2.0
"""The traits that Nova requests because of a flavor and an image."""

from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.extra_specs import (
    implied_traits, named_traits, root_traits)
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.nova.image import Image


@dataclass(frozen=True, slots=True)
class RequestedTraits:
    """Traits of a request without those of its other request groups.

    :ivar grouped: required in the request group without a suffix
    :ivar root: required of the root provider outside request groups
    :ivar forbidden: forbidden in the request group without a suffix
    """

    grouped: frozenset[str] = frozenset()
    root: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()

    @property
    def required(self) -> frozenset[str]:
        """All required traits."""
        return self.grouped | self.root


def requested_traits(flavor: Flavor | None,
                     image: Image | None) -> RequestedTraits:
    """The traits for a server with this flavor and image.

    Nova reads some extra specs and image properties together: the version of a
    TPM may be in the flavor, and its model in the image.
    """
    specs = flavor.extra_specs if flavor else FrozenMapping()
    required, forbidden = _other_traits(flavor) if flavor else (set(), set())
    both = {**specs, **(image.as_extra_specs if image else {})}
    implied, excluded = implied_traits(both)
    if image:
        required |= image.required_traits
    return RequestedTraits(
        frozenset(required | implied), frozenset(root_traits(both)),
        frozenset(forbidden | excluded))


def _other_traits(flavor: Flavor) -> tuple[set[str], set[str]]:
    """Traits of a flavor, required and forbidden, without those that Nova
    derives from its other extra specs alone."""
    specs = flavor.extra_specs
    required, forbidden = named_traits(specs)
    implied, excluded = implied_traits(specs)
    derived = implied | root_traits(specs)
    return (required | flavor.required_traits - derived,
            forbidden | flavor.forbidden_traits - excluded)
