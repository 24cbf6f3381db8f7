# SPDX-License-Identifier: Apache-2.0
"""Greedy construction looks ahead for members that belong in one domain, and
checks policies that counts of members do not describe."""

import random

import numpy as np
import pulp
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.attempt import Attempt, fullest
from nova_holistic.solver.construct.checked_policies import CheckedPolicies
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.construct.greedy import any_plan, plans
from nova_holistic.solver.construct.uplinks import missing_uplinks
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships


def racks(rooms, hosts=4, links=()):
    """Return a cloud of racks.

    :param rooms: VCPUs of each host, for each rack
    :param hosts: number of hosts in each rack
    """
    return cloud(*(host(f'r{rack}h{number}', f'r{rack}', vcpus=vcpus)
                   for rack, vcpus in enumerate(rooms)
                   for number in range(hosts)), links=links)


def of(shop, snapshot, placed=FrozenMapping()):
    return Case.of(bind(shop, snapshot), snapshot, placed)


def constructed(shop, snapshot):
    """Return the hosts of the members in each constructed plan."""
    case = of(shop, snapshot)
    found = [{path: h.name for path, h in case.placement(counts).items()}
             for counts in plans(case, in_time())]
    for hosts in found:
        assert check(shop, snapshot, hosts) == ()
    return found


def test_traffic_between_racks_stays_within_their_uplinks():
    """Six servers that fill a host each need two racks. Only two racks have
    uplinks for the traffic between the servers, and these racks are not the
    largest."""
    snapshot = racks([5] * 10 + [4, 4], links=[
        Link((f'r{rack}',), 1000 if rack > 9 else 100)
        for rack in range(12)])
    shop = group(groups=[
        Group('a', (servers('node', 3, vcpus=4),),
              policies=(AntiAffinity(level='host'),)),
        Group('b', (servers('node', 3, vcpus=4),))],
        relationships=[Bandwidth(between=('a', 'b'), level='rack',
                                 mbps=100)])
    found = constructed(shop, snapshot)
    assert found
    for hosts in found:
        assert {name[:-2] for name in hosts.values()} == {'r10', 'r11'}


def test_each_server_with_traffic_gets_an_uplink_of_its_own():
    """The uplink of a rack carries the traffic of one server, and not that of
    two servers of different sides, although these share the rack. Six racks
    have free uplinks, and another rack has room for half of the servers."""
    snapshot = racks([4] * 6 + [2] * 20, hosts=2, links=[
        Link((f'r{rack}',), 124 if rack < 6 else 31) for rack in range(26)])
    shop = group(groups=[
        Group('a', (servers('node', 3, vcpus=1),),
              policies=(AntiAffinity(level='host'),)),
        Group('b', (servers('node', 3, vcpus=4),))],
        relationships=[Bandwidth(between=('a', 'b'), level='rack', mbps=40)])
    found = constructed(shop, snapshot)
    assert found
    for hosts in found:
        assert {name[:-2] for name in hosts.values()} == {
            f'r{rack}' for rack in range(6)}


def test_an_uplink_without_a_limit_is_better_than_any_other():
    """The inventory has no link for the third rack: its uplink has no limit,
    so traffic begins there. Hosts in no rack violate the policy."""
    snapshot = cloud(
        *(host(f'r{rack}', f'r{rack}') for rack in range(3)), host('lost'),
        links=[Link(('r0',), 100), Link(('r1',), 1000, 200)])
    case = of(group(servers('a', 2), servers('b', 2), relationships=[
        Bandwidth(between=('a', 'b'), level='rack', mbps=10)]), snapshot)
    checked = CheckedPolicies(case)
    assert checked.uplink_scores(0, {}).tolist() == [0.875, 0.0, 0.0, 1.0]


def test_a_full_uplink_of_placed_servers_is_checked_once(monkeypatch):
    """The rack of the first server has neither hosts nor uplink capacity for
    the second one. All hosts of other racks are refused for this reason."""
    snapshot = racks([1] * 40, hosts=1, links=[
        Link((f'r{rack}',), 100 * rack) for rack in range(40)])
    case = of(group(servers('a'), servers('b'), relationships=[
        Bandwidth(between=('a', 'b'), level='rack', mbps=10)]), snapshot)
    attempt = Attempt(case, fullest, RuleCounts(case))
    attempt.put(0, 0)
    checks, check = [], Bandwidth.check
    monkeypatch.setattr(Bandwidth, 'check', lambda *arguments: (
        checks.append(1), check(*arguments))[1])
    assert attempt.choose(1, np.zeros(len(case.table))) is None
    assert len(checks) == 1


def test_servers_with_traffic_begin_where_all_of_them_fit():
    """The uplinks have no capacity, and the emptiest hosts are in small racks.
    """
    snapshot = racks([9] * 5 + [2], hosts=1, links=[
        Link((f'r{rack}',), 0) for rack in range(6)])
    large = racks([4] * 7, hosts=2, links=snapshot.links)
    shop = group(servers('a', 4, vcpus=2), servers('b', 4, vcpus=1),
                 relationships=[Bandwidth(between=('a', 'b'), level='rack',
                                          mbps=10)])
    with_large = cloud(*snapshot.hosts, *(
        h for h in racks([6] * 7, hosts=3).hosts if h.name.startswith('r6')),
        links=[*large.links, Link(('r6',), 0)])
    for hosts in constructed(shop, with_large):
        assert {name[:-2] for name in hosts.values()} == {'r6'}
    assert constructed(shop, with_large)


def test_later_attempts_avoid_the_racks_of_a_failed_attempt():
    """All servers with traffic belong in one rack, because the uplinks have no
    capacity. If the last server has no host, the whole rack is unsuitable."""
    snapshot = racks([1] * 3, hosts=3, links=[
        Link((f'r{rack}',), 0) for rack in range(3)])
    case = of(group(servers('a', 2), servers('b', 2), relationships=[
        Bandwidth(between=('a', 'b'), level='rack', mbps=10)]), snapshot)
    attempt = Attempt(case, fullest, RuleCounts(case))
    assert attempt.run([0, 1], {}, lambda: None) == 1
    rack, = {case.table.hosts[h].location for counts in attempt.counts
             for h in counts}
    avoided = sum(attempt.reached(1))
    assert {each.location for each, number in zip(
        case.table.hosts, avoided) if number} == {rack}


def test_hosts_with_free_uplinks_are_among_the_hosts_of_a_large_cloud():
    """Nearly all uplinks are saturated, and no rack has room for all servers
    with traffic. The hosts of the two other racks have the least capacity."""
    snapshot = cloud(
        *(host(f'r{rack}', f'r{rack}', vcpus=12) for rack in range(1200)),
        *(host(f'free{rack}h{number}', f'free{rack}', vcpus=4)
          for rack in range(2) for number in range(2)),
        links=[*(Link((f'r{rack}',), 100, 100) for rack in range(1200)),
               *(Link((f'free{rack}',), 100, 60) for rack in range(2))])
    shop = group(groups=[
        group(servers('a', 2, vcpus=4), servers('b', 2, vcpus=4), name='busy',
              relationships=[Bandwidth(between=('a', 'b'), level='rack',
                                       mbps=10)]),
        group(servers('other', 4), name='quiet')])
    known = Incumbent(bind(shop, snapshot), snapshot, {},
                      load_objective('fewest-hosts'), 0.01)
    first_plan(known, in_time())
    found = {path: each.name for path, each in known.where.items()}
    assert check(shop, snapshot, found) == ()
    assert {name[:5] for path, name in found.items()
            if path.startswith('busy')} == {'free0', 'free1'}


@pytest.mark.parametrize('mbps, missing', [
    (10, [0.0, 0.0, 0.0, 1.0]), (40, [0.25, 0.0, 0.0, 1.0]),
    (200, [0.85, 0.8, 0.0, 1.0])])
def test_uplinks_without_capacity_for_one_more_server(mbps, missing):
    """A server of one side exchanges traffic with two of the other. The third
    rack has no link in the inventory, and the last host is in no rack."""
    snapshot = cloud(
        *(host(f'r{rack}', f'r{rack}') for rack in range(3)), host('lost'),
        links=[Link(('r0',), 100, 40), Link(('r1',), 100, 20)])
    shop = group(servers('a', 2), servers('b', 2), relationships=[
        Bandwidth(between=('a', 'b'), level='rack', mbps=mbps)])
    case = of(shop, snapshot)
    assert missing_uplinks(case.table, case.policies).tolist() == (
        pytest.approx(missing))


@pytest.mark.parametrize('level, shop', [
    ('rack', group(servers('a', 3, vcpus=3), servers('b', 3, vcpus=3),
                   relationships=[RelationshipAffinity(
                       between=('a', 'b'), level='rack')])),
    ('rack', group(servers('a', 6, vcpus=3), policies=[
        Affinity(level='rack')])),
    ('host', group(servers('a', 2, vcpus=2), servers('b', 2, vcpus=2),
                   policies=[Affinity(level='host')]))])
def test_members_that_stay_together_begin_where_all_of_them_fit(level, shop):
    """The first attempt succeeds, so no attempt is repeated."""
    snapshot = cloud(
        *racks([7] * 8, hosts=2).hosts,
        *(host(f'r9h{number}', 'r9', vcpus=3) for number in range(6)),
        host('r10h0', 'r10', vcpus=8))
    case = of(shop, snapshot)
    attempt = Attempt(case, fullest, RuleCounts(case))
    order = range(len(case.classes))
    assert attempt.run(order, {}, lambda: None) is None
    found = {path: h.name for path, h
             in case.placement(attempt.counts).items()}
    assert check(shop, snapshot, found) == ()


@pytest.mark.parametrize('cases', [
    test_oracle_policies, test_oracle_relationships])
def test_no_domain_of_a_plan_is_ruled_out(cases):
    """The hosts of any plan are possible for the first member of each class,
    regardless of the members that are placed there later."""
    proved_plan = 0
    for seed in range(7000, 7000 + times(40)):
        shop, snapshot, placed = cases.random_case(seed)
        answer = solve(shop, snapshot, placed=placed)
        if not isinstance(answer, Plan):
            continue
        reduced = snapshot.without_servers(placed.values())
        case = of(shop, reduced, placed)
        attempt = Attempt(case, fullest, RuleCounts(case))
        for c, each in enumerate(case.classes):
            possible, _ = attempt._look_ahead.confinement.allows(
                c, attempt.counts, attempt._names, attempt.free)
            for member in each.members if possible is not None else ():
                proved_plan += 1
                assert possible[case.table.index[
                    answer.hosts()[member.path]]]
    assert proved_plan


@pytest.mark.parametrize('cases', [
    test_oracle_policies, test_oracle_relationships])
def test_hosts_do_not_depend_on_members_that_were_removed(cases):
    """After members come and go, the same hosts are allowed at the same cost
    as if the other members were placed on an empty cloud."""
    seen = set()
    for seed in range(6000, 6000 + times(40)):
        shop, snapshot, placed = cases.random_case(seed)
        case = of(shop, snapshot.without_servers(placed.values()), placed)
        if not case.classes:
            # All members stay on their hosts.
            continue
        changed, chance, inside = RuleCounts(case), random.Random(seed), []
        for _ in range(12):
            c = chance.randrange(len(case.classes))
            place = c, chance.randrange(len(case.table))
            if inside and chance.random() < 0.5:
                changed.remove(*inside.pop(chance.randrange(len(inside))))
            else:
                changed.add(*place)
                inside.append(place)
            fresh = RuleCounts(case)
            for each in inside:
                fresh.add(*each)
            (allowed, cost), (expected, expected_cost) = (
                counts.allowed_hosts(c) for counts in (changed, fresh))
            seen.update(expected.tolist())
            assert (allowed == expected).all()
            assert cost == pytest.approx(expected_cost)
    assert seen == {False, True}


def test_a_plan_that_was_taken_apart_is_checked_again():
    """``take`` discards the refusals that depended on the member."""
    snapshot = racks([2, 2], hosts=1, links=[
        Link(('r0',), 0), Link(('r1',), 0)])
    shop = group(servers('a', 1), servers('b', 1), relationships=[
        Bandwidth(between=('a', 'b'), level='rack', mbps=10)])
    case = of(shop, snapshot)
    attempt = Attempt(case, fullest, RuleCounts(case))
    nobody = np.zeros(2)
    attempt.put(0, 0)
    assert attempt.choose(1, np.array([1.0, 0.0])) == 0
    attempt.take(0, 0)
    attempt.put(0, 1)
    assert attempt.choose(1, nobody) == 1


def test_any_plan_of_the_relationships_passes_the_check():
    found = 0
    for seed in range(8000, 8000 + times(100)):
        shop, snapshot, placed = test_oracle_relationships.random_case(seed)
        reduced = snapshot.without_servers(placed.values())
        case = of(shop, reduced, placed)
        counts = any_plan(case, in_time())
        if counts is not None:
            found += 1
            assert check(shop, snapshot, {
                path: h.name for path, h in case.placement(counts).items()},
                placed) == ()
    assert found


class NotBoth(Policy):
    """An external policy: members are in at most one of r0 and r1."""

    type = 'not-both'
    keys = {}

    def check(self, scope, placement, snapshot):
        used = {placement[m.path].location[0] for m in scope.members
                if m.path in placement}
        return Violations(int({'r0', 'r1'} <= used))

    def encode(self, scope, encoder):
        encoder.require(pulp.lpSum(
            encoder.used(scope, domain) for domain in encoder.domains('rack')
            if domain.path[0] in ('r0', 'r1')) <= 1)


def test_a_policy_about_some_domains_does_not_confine_members():
    """One rack is too small for all members, but they may use a second rack.
    """
    snapshot = racks([2, 2, 2], hosts=1)
    shop = group(servers('a', 4), policies=[NotBoth()])
    for hosts in constructed(shop, snapshot):
        assert not {'r0h0', 'r1h0'} <= set(hosts.values())
    assert constructed(shop, snapshot)
