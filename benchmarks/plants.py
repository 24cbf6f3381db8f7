# SPDX-License-Identifier: Apache-2.0
"""Groups for a planted plan, one function a kind: each chooses hosts that
keep its policies, and asks for just what they keep.

A function is given the garden and the group's name, and returns the group; its
members are counted on the hosts that it chose. Every type of policy and of
relationship is in one of them, and each again as a preference, which the
planted plan need not meet.
"""

from collections import Counter
from fractions import Fraction

from nova_holistic.model.group import Group
from nova_holistic.policies.affinity import Affinity, SoftAffinity
from nova_holistic.policies.aggregates import Aggregates
from nova_holistic.policies.anti_affinity import (
    AntiAffinity, SoftAntiAffinity)
from nova_holistic.policies.availability_zone import AvailabilityZone
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.location import Location
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits

SIDES = ('a', 'b')


def apart(garden, name):
    return garden.leaf(name, garden.open(6), AntiAffinity())


def quarter(garden, name):
    """At most a quarter in a rack, as far as the racks are enough."""
    racks = Counter()
    where = []
    for host in garden.open(garden.count):
        if racks[garden.rack(host)] < 2 and len(where) < 8:
            racks[garden.rack(host)] += 1
            where.append(host)
    share = Fraction(25, 100) if len(where) == 8 else Fraction(50, 100)
    if where and max(racks.values()) > max(1, int(share * len(where))):
        where = where[:1]
    return garden.leaf(name, where, AntiAffinity(
        level='rack', max_per_domain=share))


def near(garden, name):
    rack = garden.some_rack()
    hosts = garden.open(3, lambda h: garden.rack(h) == rack)
    return garden.leaf(name, hosts * 2, Affinity(level='rack'))


def packed(garden, name):
    return garden.leaf(name, garden.open(1) * 3, Affinity())


def zoned(garden, name):
    """One zone, any: and there no two on a host."""
    zone = garden.some_zone()
    hosts = garden.open(6, lambda h: garden.zone(h) == zone)
    return garden.leaf(name, hosts, Affinity(level='az'), AntiAffinity())


def even(garden, name):
    per_zone = [garden.open(2, lambda h, z=zone: garden.zone(h) == z)
                for zone in range(3)]
    number = min(map(len, per_zone))
    return garden.leaf(name, [h for hosts in per_zone for h in hosts[:number]],
                       Spread(level='az', max_skew=0))


def broad(garden, name):
    """In as many racks as the hosts chosen are in."""
    hosts = garden.open(7)
    racks = len({garden.rack(h) for h in hosts})
    return garden.leaf(name, hosts, Spread(
        level='rack', min_domains=max(1, racks)))


def fed(garden, name):
    """Evenly on all power feeds, which cross the racks."""
    per_feed = [garden.open(2, lambda h, f=feed: garden.feed(h) == f)
                for feed in range(4)]
    number = min(map(len, per_feed))
    return garden.leaf(name, [h for hosts in per_feed for h in hosts[:number]],
                       Spread(level='power_feed', max_skew=0),
                       AntiAffinity())


def one_feed(garden, name):
    """All on one power feed, any."""
    feed = garden.chance.randrange(4)
    return garden.leaf(name, garden.open(
        4, lambda h: garden.feed(h) == feed), Affinity(level='power_feed'))


def alone(garden, name):
    return garden.leaf(name, garden.untouched(2) * 2, Exclusive())


def zonal(garden, name):
    return garden.leaf(name, garden.open(
        3, lambda h: garden.zone(h) == 0), Location(path=('az0',)))


def named(garden, name):
    return garden.leaf(name, garden.open(
        3, lambda h: garden.zone(h) == 1), AvailabilityZone(zone='az1'))


def fast(garden, name):
    return garden.leaf(name, garden.open(3, garden.fast), Traits(
        has=frozenset({'CUSTOM_FAST'})))


def slow(garden, name):
    return garden.leaf(name, garden.open(
        3, lambda h: not garden.fast(h)), Traits(
            lacks=frozenset({'CUSTOM_FAST'})))


def disks(garden, name):
    return garden.leaf(name, garden.open(3, garden.with_disks), Aggregates(
        names=frozenset({'ssd'})))


def talking(garden, name):
    """Two sides with traffic over the uplinks of their racks."""
    hosts = garden.open(6)
    mbps = garden.chance.choice((10, 40, 100))
    return _two(garden, name, hosts[:3], hosts[3:], Bandwidth(
        level='rack', mbps=mbps, between=SIDES))


def together(garden, name):
    """Two sides in one rack, each apart from its own."""
    rack = garden.some_rack()
    hosts = [garden.open(2, lambda h: garden.rack(h) == rack)
             for _ in SIDES]
    return _two(garden, name, *hosts, RelationshipAffinity(
        level='rack', between=SIDES))


def separate(garden, name):
    """Two sides without a common rack."""
    middle = garden.chance.randrange(1, garden.racks)
    first = garden.open(3, lambda h: garden.rack(h) < middle)
    second = garden.open(3, lambda h: garden.rack(h) >= middle)
    return _two(garden, name, first, second, RelationshipAntiAffinity(
        level='rack', between=SIDES))


def _two(garden, name, first, second, *relationships):
    if not first or not second:
        return Group(name)
    for each in relationships:
        if isinstance(each, Bandwidth) and each.hard:
            garden.talk(first, second, each.mbps)
    return Group(name, (), (
        garden.leaf('a', first, AntiAffinity()),
        garden.leaf('b', second)), (), relationships)


def nested(garden, name):
    """Two tiers in one zone; at most two servers of both on a host."""
    zone = garden.some_zone()
    web = garden.open(4, lambda h: garden.zone(h) == zone)
    db = garden.open(4, lambda h: garden.zone(h) == zone)
    racks = Counter({garden.rack(h): 0 for h in range(garden.count)
                     if garden.zone(h) == zone})
    racks.update(map(garden.rack, db))
    skew = max(racks.values()) - min(racks.values())
    return Group(name, (), (
        garden.leaf('web', web, AntiAffinity()),
        garden.leaf('db', db, Spread(level='rack', max_skew=skew))), (
            Affinity(level='az'), AntiAffinity(max_per_domain=2)))


def preferring(garden, name):
    """A preference or two that the planted plan need not meet."""
    return garden.leaf(name, garden.open(4), *garden.chance.sample((
        SoftAffinity(level='rack'), SoftAntiAffinity(),
        Affinity(level='az', weight=2.0),
        AntiAffinity(level='rack', max_per_domain=Fraction(1, 4), weight=2.0),
        Spread(level='az', max_skew=1, weight=1.0), Exclusive(weight=1.0),
        Location(path=('az2',), weight=3.0),
        AvailabilityZone(zone='az0', weight=1.0),
        Traits(has=frozenset({'CUSTOM_FAST'}), weight=1.0),
        Aggregates(names=frozenset({'ssd'}), weight=1.0)), 2))


def inclined(garden, name):
    """Two sides of which one would like something of the other."""
    hosts = garden.open(6)
    return _two(garden, name, hosts[:3], hosts[3:], garden.chance.choice((
        RelationshipAffinity(level='rack', between=SIDES, weight=1.0),
        RelationshipAntiAffinity(level='rack', between=SIDES, weight=1.0),
        Bandwidth(level='rack', mbps=10, between=SIDES, weight=0.1))))


PLANTS = (apart, quarter, near, packed, zoned, even, broad, fed, one_feed,
          alone, zonal, named, fast, slow, disks, talking, together, separate,
          nested, preferring, inclined)
