# SPDX-License-Identifier: Apache-2.0
"""Groups to be planned: leaf groups of members of each flavor."""

from fractions import Fraction

from clouds import FLAVORS

from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import (
    AntiAffinity, SoftAntiAffinity)
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread

LEAVES = 10
PER_HOST = 4
"""Maximum number of members of one leaf group on a host."""


def leaf(name, members, policies=(), extra=0):
    """Members of each flavor, as many as make up the number."""
    each, more = divmod(members, len(FLAVORS))
    return Group(name, tuple(
        MemberDescription(flavor, Requirements(flavor=flavor),
                          each + (number < more) + (number == 0) * extra)
        for number, flavor in enumerate(FLAVORS)
        if each + (number < more) + (number == 0) * extra), (),
        (AntiAffinity(max_per_domain=PER_HOST), *policies))


def shop(members, extra=0, leaves=LEAVES):
    """Leaf groups with a limit on each host; of all members no rack has more
    than a tenth, and zones differ by at most 4."""
    return Group('shop', (), tuple(
        leaf(f'leaf{n}', members // leaves, extra=extra * (n == 0))
        for n in range(leaves)), (
            AntiAffinity(level='rack', max_per_domain=Fraction(1, 10)),
            Spread(level='az', max_skew=4)))


def related_shop(members, leaves=LEAVES):
    """A shop with relationships and preferences for some leaf groups."""
    plain = shop(members, leaves=leaves)
    soft = {0: (SoftAntiAffinity(level='rack',
                                 max_per_domain=Fraction(1, 5)),),
            1: (Affinity(level='az', weight=2.0),),
            2: (Spread(level='az', max_skew=10, weight=1.0),)}
    return Group(
        'shop', (), tuple(
            leaf(f'leaf{n}', members // leaves, soft.get(n, ()))
            for n in range(leaves)), plain.policies, (
            RelationshipAntiAffinity(level='host', between=(
                'leaf3/small', 'leaf4/small')),
            RelationshipAntiAffinity(level='rack', between=(
                'leaf5/memory', 'leaf6/memory')),
            RelationshipAffinity(level='az', between=(
                'leaf7/memory-0', 'leaf8/memory-0'))))


def chatty_shop(members, leaves=LEAVES):
    """The related shop, with traffic between pairs of its servers and between
    whole tiers: web, app and db, and two leaf groups apart from these.

    The clouds have no links with limited capacity: the traffic between tiers
    affects only the objective.
    """
    plain = related_shop(members, leaves)
    web, app, db = 'leaf7', 'leaf8', 'leaf9'
    return Group(
        'shop', (), plain.groups, plain.policies, (
            *plain.relationships,
            Bandwidth(level='rack', mbps=10, weight=0.001, between=(
                'leaf7/small-0', 'leaf7/large-0')),
            Bandwidth(level='rack', mbps=10, weight=0.001, between=(
                'leaf8/small-0', 'leaf8/large-0')),
            Bandwidth(level='rack', mbps=10, between=(web, app)),
            Bandwidth(level='rack', mbps=10, between=(app, db)),
            Bandwidth(level='rack', mbps=5, between=('leaf1', 'leaf2'))))
