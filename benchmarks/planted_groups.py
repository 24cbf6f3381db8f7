# SPDX-License-Identifier: Apache-2.0
"""Groups for a planted plan, with one function for each kind. It chooses hosts
that satisfy its policies, and declares exactly the policies that they satisfy.

A function is given the cloud and the group's name, and returns the group; its
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


def apart(cloud, name):
    return cloud.leaf(name, cloud.open(6), AntiAffinity())


def quarter(cloud, name):
    """At most a quarter in a rack, as far as the racks are enough."""
    racks = Counter()
    where = []
    for host in cloud.open(cloud.count):
        if racks[cloud.rack(host)] < 2 and len(where) < 8:
            racks[cloud.rack(host)] += 1
            where.append(host)
    share = Fraction(25, 100) if len(where) == 8 else Fraction(50, 100)
    if where and max(racks.values()) > max(1, int(share * len(where))):
        where = where[:1]
    return cloud.leaf(name, where, AntiAffinity(
        level='rack', max_per_domain=share))


def near(cloud, name):
    rack = cloud.some_rack()
    hosts = cloud.open(3, lambda h: cloud.rack(h) == rack)
    return cloud.leaf(name, hosts * 2, Affinity(level='rack'))


def packed(cloud, name):
    return cloud.leaf(name, cloud.open(1) * 3, Affinity())


def zoned(cloud, name):
    """One zone, any: and there no two on a host."""
    zone = cloud.some_zone()
    hosts = cloud.open(6, lambda h: cloud.zone(h) == zone)
    return cloud.leaf(name, hosts, Affinity(level='az'), AntiAffinity())


def even(cloud, name):
    per_zone = [cloud.open(2, lambda h, z=zone: cloud.zone(h) == z)
                for zone in range(3)]
    number = min(map(len, per_zone))
    return cloud.leaf(name, [h for hosts in per_zone for h in hosts[:number]],
                      Spread(level='az', max_skew=0))


def broad(cloud, name):
    """In as many racks as the hosts chosen are in."""
    hosts = cloud.open(7)
    racks = len({cloud.rack(h) for h in hosts})
    return cloud.leaf(name, hosts, Spread(
        level='rack', min_domains=max(1, racks)))


def fed(cloud, name):
    """Evenly on all power feeds, which cross the racks."""
    per_feed = [cloud.open(2, lambda h, f=feed: cloud.feed(h) == f)
                for feed in range(4)]
    number = min(map(len, per_feed))
    return cloud.leaf(name, [h for hosts in per_feed for h in hosts[:number]],
                      Spread(level='power_feed', max_skew=0),
                      AntiAffinity())


def one_feed(cloud, name):
    """All on one power feed, any."""
    feed = cloud.chance.randrange(4)
    return cloud.leaf(name, cloud.open(
        4, lambda h: cloud.feed(h) == feed), Affinity(level='power_feed'))


def alone(cloud, name):
    return cloud.leaf(name, cloud.untouched(2) * 2, Exclusive())


def zonal(cloud, name):
    return cloud.leaf(name, cloud.open(
        3, lambda h: cloud.zone(h) == 0), Location(path=('az0',)))


def named(cloud, name):
    return cloud.leaf(name, cloud.open(
        3, lambda h: cloud.zone(h) == 1), AvailabilityZone(zone='az1'))


def fast(cloud, name):
    return cloud.leaf(name, cloud.open(3, cloud.fast), Traits(
        has=frozenset({'CUSTOM_FAST'})))


def slow(cloud, name):
    return cloud.leaf(name, cloud.open(
        3, lambda h: not cloud.fast(h)), Traits(
            lacks=frozenset({'CUSTOM_FAST'})))


def disks(cloud, name):
    return cloud.leaf(name, cloud.open(3, cloud.with_disks), Aggregates(
        names=frozenset({'ssd'})))


def talking(cloud, name):
    """Two sides with traffic over the uplinks of their racks."""
    hosts = cloud.open(6)
    mbps = cloud.chance.choice((10, 40, 100))
    return _two(cloud, name, hosts[:3], hosts[3:], Bandwidth(
        level='rack', mbps=mbps, between=SIDES))


def together(cloud, name):
    """Two sides in one rack. The members of each side are on different
    hosts."""
    rack = cloud.some_rack()
    hosts = [cloud.open(2, lambda h: cloud.rack(h) == rack)
             for _ in SIDES]
    return _two(cloud, name, *hosts, RelationshipAffinity(
        level='rack', between=SIDES))


def separate(cloud, name):
    """Two sides without a common rack."""
    middle = cloud.chance.randrange(1, cloud.racks)
    first = cloud.open(3, lambda h: cloud.rack(h) < middle)
    second = cloud.open(3, lambda h: cloud.rack(h) >= middle)
    return _two(cloud, name, first, second, RelationshipAntiAffinity(
        level='rack', between=SIDES))


def _two(cloud, name, first, second, *relationships):
    if not first or not second:
        return Group(name)
    for each in relationships:
        if isinstance(each, Bandwidth) and each.hard:
            cloud.talk(first, second, each.mbps)
    return Group(name, (), (
        cloud.leaf('a', first, AntiAffinity()),
        cloud.leaf('b', second)), (), relationships)


def nested(cloud, name):
    """Two tiers in one zone; at most two servers of both on a host."""
    zone = cloud.some_zone()
    web = cloud.open(4, lambda h: cloud.zone(h) == zone)
    db = cloud.open(4, lambda h: cloud.zone(h) == zone)
    racks = Counter({cloud.rack(h): 0 for h in range(cloud.count)
                     if cloud.zone(h) == zone})
    racks.update(map(cloud.rack, db))
    skew = max(racks.values()) - min(racks.values())
    return Group(name, (), (
        cloud.leaf('web', web, AntiAffinity()),
        cloud.leaf('db', db, Spread(level='rack', max_skew=skew))), (
            Affinity(level='az'), AntiAffinity(max_per_domain=2)))


def preferring(cloud, name):
    """A preference or two that the planted plan need not meet."""
    return cloud.leaf(name, cloud.open(4), *cloud.chance.sample((
        SoftAffinity(level='rack'), SoftAntiAffinity(),
        Affinity(level='az', weight=2.0),
        AntiAffinity(level='rack', max_per_domain=Fraction(1, 4), weight=2.0),
        Spread(level='az', max_skew=1, weight=1.0), Exclusive(weight=1.0),
        Location(path=('az2',), weight=3.0),
        AvailabilityZone(zone='az0', weight=1.0),
        Traits(has=frozenset({'CUSTOM_FAST'}), weight=1.0),
        Aggregates(names=frozenset({'ssd'}), weight=1.0)), 2))


def inclined(cloud, name):
    """Two sides of which one would like something of the other."""
    hosts = cloud.open(6)
    return _two(cloud, name, hosts[:3], hosts[3:], cloud.chance.choice((
        RelationshipAffinity(level='rack', between=SIDES, weight=1.0),
        RelationshipAntiAffinity(level='rack', between=SIDES, weight=1.0),
        Bandwidth(level='rack', mbps=10, between=SIDES, weight=0.1))))


PLANTS = (apart, quarter, near, packed, zoned, even, broad, fed, one_feed,
          alone, zonal, named, fast, slow, disks, talking, together, separate,
          nested, preferring, inclined)
