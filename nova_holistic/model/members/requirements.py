# SPDX-License-Identifier: Apache-2.0
"""The requirements of a member for its host."""

from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.volume import Volume
from nova_holistic.model.nova.image import Image
from nova_holistic.model.request_group import NONE, RequestGroup


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements of one server; members with equal requirements are
    interchangeable.

    :ivar resources: amount of each of Placement's resource classes, in that
        class's own unit; empty until a flavor is resolved
    :ivar flavor: name or id of a Nova flavor, instead of ``resources``
    :ivar aggregates: names of host aggregates, all of which must contain the
        host
    :ivar location: a directed location, coarse to fine; ``()`` means any
        location
    :ivar image: the image that the server is created from: its name or UUID,
        or its properties
    :ivar boot_from_volume: whether the root disk is a volume, so that the host
        does not provide it
    :ivar server_group: UUID of a server group of Nova
    :ivar counted: amounts of classes that Placement does not know, by which
        the planner limits the number of servers on a host; they are added to
        ``resources`` when the flavor is resolved
    :ivar request_groups: resources of which each group must come from one
        provider, in addition to ``resources``
    :ivar group_policy: whether different groups must come from different
        providers (``isolate``), or may come from the same one (``none``)
    :ivar same_subtree: sets of suffixes of groups. The provider of one group
        of a set is the provider of the others, or above them
    :ivar volume: if the member is a volume and not a server; its resources and
        traits are added when the group is bound to a snapshot
    """

    resources: FrozenMapping[str, int] = FrozenMapping()
    flavor: str | None = None
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()
    availability_zone: str | None = None
    aggregates: frozenset[str] = frozenset()
    location: tuple[str, ...] = ()
    image: str | Image | None = None
    boot_from_volume: bool = False
    server_group: str | None = None
    counted: FrozenMapping[str, int] = FrozenMapping()
    request_groups: tuple[RequestGroup, ...] = ()
    group_policy: str = NONE
    same_subtree: tuple[frozenset[str], ...] = ()
    volume: Volume | None = None
