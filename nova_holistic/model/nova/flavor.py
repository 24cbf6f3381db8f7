# SPDX-License-Identifier: Apache-2.0
"""The part of a Nova flavor that determines the placement."""

from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.request_group import NONE, RequestGroup


@dataclass(frozen=True, slots=True)
class Flavor:
    """The resources and traits that a flavor requires in Placement.

    :ivar id: Nova's flavorid; in a file, the name
    :ivar unplannable: reason why members of this flavor cannot be planned; ''
        if they can
    :ivar root_gb: the part of DISK_GB that is the root disk: a server that
        boots from a volume does not request it
    :ivar image_limits: MiB of memory and GiB of root disk, with which Nova
        compares min_ram and min_disk of an image; None if unknown
    :ivar extra_specs: all of them; some of Nova's filters read them
    :ivar request_groups: resources of which each group comes from one
        provider, in addition to ``resources``
    :ivar group_policy: of Placement, for these groups
    """

    name: str
    id: str
    resources: FrozenMapping[str, int]
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()
    unplannable: str = ''
    root_gb: int = 0
    image_limits: tuple[int, int] | None = None
    extra_specs: FrozenMapping[str, str] = FrozenMapping()
    request_groups: tuple[RequestGroup, ...] = ()
    group_policy: str = NONE
