# SPDX-License-Identifier: Apache-2.0
"""The number of hosts that all policies on domains need together."""

from fractions import Fraction
import functools
import itertools
import random

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.location import Location
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.host_counts.limited_traffic import fewest_pairs
from nova_holistic.solver.phases.host_relaxation import relax_policies
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited
from tests.unit.solver import oracle
from tests.unit.solver.scenario import plan

LEVELS = ('az', 'rack', 'host')


def _zones(racks=4, free=None):
    """Return a cloud of three zones with racks of three hosts.

    :param free: free Mbit/s of the uplink of each rack; None means no limit
    """
    places = [(f'z{zone}', f'r{rack}') for zone in range(3)
              for rack in range(racks)]
    return cloud(*(
        host(f'{zone}{rack}h{number}', zone, rack, vcpus=64)
        for zone, rack in places for number in range(3)), levels=LEVELS,
        links=() if free is None else [Link(place, 1000 + free, 1000)
                                       for place in places])


def _bound(wanted, snapshot):
    known = Incumbent(bind(wanted, snapshot), snapshot, {},
                      load_objective('fewest-hosts'), 0.0)
    relax_policies(known, in_time())
    return known._bounds.at(0)


def _apart(number, *policies, name='apart'):
    """Return a group whose members are on different hosts."""
    return group(servers('m', number), name=name,
                 policies=[AntiAffinity(), *policies])


def _broad(level, number, name='broad'):
    """Return a group of members in as many domains."""
    return group(servers('m', number), name=name, policies=[
        Spread(level=level, min_domains=number)])


def _pair(*relationships, second=3):
    """Return two sides; the members of the first one are on three hosts."""
    return group(
        name='pair', groups=[_apart(3, name='a'),
                             group(servers('m', second), name='b')],
        relationships=relationships)


def test_members_in_one_zone_and_members_in_all_zones():
    """Six members are on different hosts of one zone. Two others are in the
    other two zones."""
    wanted = group(groups=[_apart(6, Affinity(level='az')), _broad('az', 3)])
    assert _bound(wanted, _zones()) == pytest.approx(8)


@pytest.mark.parametrize('level', ['az', 'rack'])
def test_an_even_spread_needs_all_zones(level):
    even = group(servers('m', 6), name='even', policies=[
        Spread(level='az', max_skew=0)])
    wanted = group(groups=[_apart(3, Affinity(level=level)), even])
    assert _bound(wanted, _zones()) == pytest.approx(5)


def test_members_in_one_rack_and_members_in_many_racks():
    """Three hosts are in one rack, and six others in six racks."""
    wanted = group(groups=[_apart(3, Affinity(level='rack')),
                           _broad('rack', 7)])
    assert _bound(wanted, _zones()) == pytest.approx(9)


def test_members_of_one_rack_need_hosts_with_room():
    """A host has room for two of the six members."""
    wanted = group(groups=[
        group(servers('m', 6, vcpus=32), name='near', policies=[
            Affinity(level='rack')]), _broad('rack', 7)])
    assert _bound(wanted, _zones()) >= 9


def test_related_members_in_one_rack():
    """Both sides of the relationship are in one rack, and the members of one
    side are on three hosts."""
    pair = _pair(RelationshipAffinity(level='rack', between=('a', 'b')),
                 second=2)
    assert _bound(group(groups=[pair, _broad('rack', 7)]),
                  _zones()) == pytest.approx(9)


@pytest.mark.parametrize('free, most', [(299, 9), (300, 7)])
def test_traffic_over_full_uplinks_keeps_members_in_one_rack(free, most):
    """A member alone in a rack sends 300 Mbit/s over its uplink, and two
    members of both sides send 400."""
    wanted = group(groups=[
        _pair(Bandwidth(level='rack', mbps=100, between=('a', 'b'))),
        _broad('rack', 7)])
    snapshot = _zones(free=free)
    assert _bound(wanted, snapshot) == pytest.approx(most)


def test_preferred_traffic_inside_a_rack():
    """A plan that violates no preference has both sides in one rack."""
    pair = _pair(Bandwidth(level='rack', mbps=10, weight=0.1,
                           between=('a', 'b')))
    assert _bound(group(groups=[pair, _broad('rack', 7)]),
                  _zones()) == pytest.approx(9)


def test_traffic_to_no_servers_may_leave_the_rack():
    whole = group(groups=[_pair(Bandwidth(
        level='rack', mbps=10, weight=0.1, between=('a', 'b'))),
        _broad('rack', 7)])
    left = whole.only({m.path for m in whole.all_members()
                       if not m.path.startswith('pair/b')})
    assert _bound(left, _zones()) == pytest.approx(7)


@pytest.mark.parametrize('domains, least', [(11, 3), (12, 7), (24, 7)])
def test_policies_of_many_members_are_counted_first(domains, least):
    """The cloud has twelve racks. If the policy of many members is not
    counted, three hosts are necessary: few members are on different hosts, and
    a host has at most eight of the many members."""
    many = group(servers('m', 14), name='many', policies=[
        Spread(level='rack', min_domains=7)])
    wanted = group(groups=[_broad('rack', 3, name='few'), many])
    with limited('decomposition', counted_domains=domains):
        assert _bound(wanted, _zones()) == pytest.approx(least)


def test_a_spread_over_racks_of_a_large_cloud():
    """The cloud has 5,000 racks, and three policies do not make the group
    diverse."""
    snapshot = cloud(*(host(f'h{n}', 'z', f'r{n}') for n in range(5000)),
                     levels=LEVELS)
    wanted = group(groups=[_broad('rack', 7), *(
        group(servers('m', 3), name=f'near{n}', policies=[
            Affinity(level='rack')]) for n in range(2))])
    found = plan(snapshot, wanted, objective='fewest-hosts',
                 settings=Settings(timer=standing)).objective
    assert (found.value, found.bound) == (7, 7)


@pytest.mark.parametrize('first', range(1, 5))
@pytest.mark.parametrize('second', range(1, 5))
def test_the_fewest_pairs_of_divided_members(first, second):
    sides = [*itertools.product('a', range(first)),
             *itertools.product('b', range(second))]
    pairs = [(one, other) for one in sides for other in sides
             if one[0] < other[0]]
    assert fewest_pairs(first, second) == min(
        sum((one in inside) != (other in inside) for one, other in pairs)
        for number in range(1, len(sides))
        for inside in itertools.combinations(sides, number))


def test_members_in_disjoint_racks():
    """At most one member of each side is in a rack, and no rack holds members
    of both sides."""
    def side(name, number):
        return group(servers('m', number), name=name, policies=[
            AntiAffinity(level='rack')])

    pair = group(
        name='pair', groups=[side('a', 4), side('b', 5)],
        relationships=[RelationshipAntiAffinity(
            level='rack', between=('a', 'b'))])
    assert _bound(pair, _zones()) == pytest.approx(9)


def test_disjoint_racks_have_different_hosts():
    """Three members are on three hosts, which may be in one rack. The members
    of the other side are on further hosts."""
    pair = _pair(RelationshipAntiAffinity(level='rack', between=('a', 'b')))
    assert _bound(pair, _zones()) == pytest.approx(4)


def test_disjoint_racks_and_the_room_of_their_hosts():
    """A host has room for 64 members. Therefore, 65 members are on more than
    one host, and the members of the other side are on a further host."""
    pair = group(
        name='pair', groups=[group(servers('m', 65), name='a'),
                             group(servers('m', 2), name='b')],
        relationships=[RelationshipAntiAffinity(
            level='rack', between=('a', 'b'))])
    assert _bound(pair, _zones()) > 2.01


def test_exclusive_members_do_not_share_the_counted_hosts():
    alone = group(servers('m', 4), name='alone', policies=[Exclusive()])
    wanted = group(groups=[_apart(6, Affinity(level='az')), _broad('az', 3),
                           alone])
    assert _bound(wanted, _zones()) == pytest.approx(9)


def test_a_policy_of_counted_and_exclusive_members_is_omitted():
    """The exclusive members are in two of the three zones."""
    alone = group(servers('m', 2), name='alone',
                  policies=[Exclusive(), AntiAffinity()])
    wanted = group(servers('m', 1), groups=[alone], policies=[
        Spread(level='az', min_domains=3)])
    assert _bound(wanted, _zones()) == pytest.approx(3)


def test_hosts_of_different_traits_count_separately():
    """Two of eight hosts have the trait, one in each zone."""
    snapshot = cloud(*(
        host(f'h{n}', f'z{n % 2}', f'r{n % 4}', vcpus=64,
             traits=frozenset({'T'} if n < 2 else ())) for n in range(8)),
        levels=LEVELS)
    fast = group(servers('m', 1), name='fast', policies=[
        Traits(has=frozenset('T')), Location(path=('z1',))])
    slow = _apart(3, Traits(lacks=frozenset('T')), Affinity(level='az'),
                  name='slow')
    assert _bound(group(groups=[fast, slow]), snapshot) == pytest.approx(4)


def test_capacity_in_the_zone_counts():
    """The large hosts are in the first zone, and the members in the second."""
    snapshot = cloud(*(
        host(f'z{zone}h{n}', f'z{zone}', f'r{n}', vcpus=4 if zone else 64)
        for zone in range(2) for n in range(6)), levels=LEVELS)
    wanted = group(groups=[
        group(servers('m', 15), name='second', policies=[
            Location(path=('z1',))]),
        group(servers('m', 4), name='any'), _broad('az', 2)])
    assert _bound(wanted, snapshot) == pytest.approx(5)


def _random_policies(chance):
    level = chance.choice(('az', 'rack', 'rack', 'feed'))
    return chance.choice((
        (), (AntiAffinity(),), (Affinity(level=level),),
        (AntiAffinity(level=level, max_per_domain=chance.choice(
            (1, 2, Fraction(1, 2)))),),
        (Affinity(level=level), AntiAffinity()),
        (Spread(level=level, max_skew=chance.choice((0, 1))),),
        (Spread(level=level, min_domains=2),),
        (Affinity(level='az'), Spread(level='rack', max_skew=1)),
        (Exclusive(),), (Traits(has=frozenset('T')),)))


def _random_case(seed):
    chance = random.Random(seed)
    hosts = [host(
        f'h{n}', chance.choice(('az1', 'az2')),
        *([chance.choice(('r1', 'r2'))] if chance.random() < 0.97 else []),
        inventories={'VCPU': Inventory(chance.choice((1, 2, 4, 8))),
                     'MEMORY_MB': Inventory(chance.choice((2, 4, 8)))},
        labels={'feed': chance.choice('AB')},
        traits=frozenset({'T'} if chance.random() < 0.7 else ()),
        servers=int(chance.random() < 0.3)) for n in range(5)]

    def nested(name, number):
        wanted = Requirements(FrozenMapping({
            'VCPU': chance.choice((1, 1, 2)),
            'MEMORY_MB': chance.choice((1, 1, 3))}))
        return group(MemberDescription('m', wanted, number), name=name,
                     policies=_random_policies(chance))

    kind = chance.choice((
        None, RelationshipAffinity, RelationshipAntiAffinity,
        functools.partial(Bandwidth, mbps=100)))
    relationships = [kind(level=chance.choice(('az', 'rack')),
                          between=('a', 'b'))] if kind else []
    wanted = group(groups=[nested('a', 2), nested('b', chance.choice((2, 3)))],
                   policies=chance.choice(((), (), _random_policies(chance))),
                   relationships=relationships)
    links = [Link(path, chance.choice((0, 200, 400, 1000)))
             for path in sorted({each.location for each in hosts})
             if len(path) == 2 and chance.random() < 0.9]
    return wanted, cloud(*hosts, levels=LEVELS, links=links)


@pytest.mark.parametrize('cells', [1, 2, 64])
def test_no_plan_has_fewer_hosts(cells):
    """With one cell, no level has few domains; with two, levels of two
    domains do."""
    proved = exact = 0
    number = times(60)
    for seed in range(number):
        wanted, snapshot = _random_case(1000 * cells + seed)
        values = [
            oracle.value('fewest-hosts', wanted, snapshot, {}, where)
            for where in oracle.placements(wanted, snapshot, {})
            if oracle.violations(wanted, snapshot, {}, where) is not None]
        with limited('decomposition', counted_cells=cells):
            bound = _bound(wanted, snapshot)
        least = min(values, default=float('inf'))
        assert bound <= least + 1e-6, seed
        proved += bound > 1 + 1e-6
        exact += least - bound <= 1e-6
    assert proved > number / 4
    assert exact > number / 4


def test_the_answer_of_a_group_with_many_policies_is_optimal():
    """The plan has eight hosts in racks of one zone, and none fewer is
    possible."""
    wanted = group(groups=[
        _apart(6, Affinity(level='az')), _broad('az', 3), *(
            group(servers('m', 2), name=f'near{n}', policies=[
                Affinity(level='rack')]) for n in range(4))])
    found = plan(_zones(racks=50), wanted, objective='fewest-hosts',
                 settings=Settings(timer=standing)).objective
    assert (found.value, found.bound) == (8, 8)
