# SPDX-License-Identifier: Apache-2.0
"""Changes that make an unplaceable group fit, and the number of copies of a
group for which the cloud has capacity."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AddedHosts:
    """Hosts added at one location.

    :ivar location: one name for each level above host, coarse to fine; names
        that the snapshot does not have are new domains
    :ivar beside: name of an existing host whose zone, aggregates and labels
        the added hosts have
    """

    location: tuple[str, ...]
    beside: str
    hosts: int


@dataclass(frozen=True, slots=True)
class MoreHosts:
    """The group fits after empty hosts of one kind are added.

    :ivar like: name of an existing host that has the resources and traits of
        the added hosts
    :ivar added: where the hosts are added, sorted by location
    :ivar in_new_domains: whether some of these locations are new domains. If
        not, the hosts are added to domains of existing hosts.
    :ivar smallest: whether it is proved that fewer hosts of one kind are not
        enough
    """

    hosts: int
    like: str
    added: tuple[AddedHosts, ...]
    in_new_domains: bool
    smallest: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A hard policy, or a requirement of one member description.

    :ivar position: where it is in the group document
    :ivar at: path of the group or of the member description, '' at the top
    :ivar name: of the policy, e.g. ``anti-affinity rack``, or of the
        requirement: availability_zone, aggregates, location or traits
    """

    position: str
    at: str
    name: str


@dataclass(frozen=True, slots=True)
class AsPreferences:
    """The group fits if these rules are preferences.

    :ivar rules: in document order
    :ivar smallest: whether it is proved that fewer rules are not enough
    """

    rules: tuple[Rule, ...]
    smallest: bool


@dataclass(frozen=True, slots=True)
class LowerCount:
    """The group fits if one member description has a lower count.

    :ivar position: of the count in the group document
    :ivar member: path of the member description
    :ivar instead_of: the count that the document has
    :ivar largest: whether it is proved that no larger count fits
    """

    position: str
    member: str
    count: int
    instead_of: int
    largest: bool


@dataclass(frozen=True, slots=True)
class Relaxations:
    """Each relaxation alone makes the group fit.

    :ivar preferences: single rules in document order; if none is enough, at
        most one set of rules
    :ivar counts: in document order
    :ivar hosts: None if none was found
    :ivar undecided: what may help but was neither found nor excluded:
        positions of rules and of counts, ``rules`` for sets of rules, and
        ``hosts``
    """

    preferences: tuple[AsPreferences, ...] = ()
    counts: tuple[LowerCount, ...] = ()
    hosts: MoreHosts | None = None
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Headroom:
    """How many copies of a group fit on the cloud at the same time.

    :ivar at_least: a plan with this number of copies was found
    :ivar at_most: it is proved that no more copies fit; None if nothing limits
        the number of copies
    """

    at_least: int
    at_most: int | None
