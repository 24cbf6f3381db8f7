# SPDX-License-Identifier: Apache-2.0
"""Bounds of the traffic of a group, and their components: stars of members
with traffic, and patterns of stars on equal domains."""

from dataclasses import replace
import itertools
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.relationship import Relationship
from nova_holistic.objectives.network import Network
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import (
    AntiAffinity, SoftAntiAffinity)
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.decomposition.aggregated_program import (
    AggregatedProgram)
from nova_holistic.solver.limits.current import Limits, using
from nova_holistic.solver.milp.backend import (
    load_backend, Outcome, Status)
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from nova_holistic.solver.traffic.domain_aggregate import DomainAggregate
from nova_holistic.solver.traffic.domain_types import DomainTypes
from nova_holistic.solver.traffic.joint_patterns import JointPatterns
from nova_holistic.solver.traffic.nested_aggregate import nested_aggregate
from nova_holistic.solver.traffic.nested_bound import with_merged_leaves
from nova_holistic.solver.traffic.traffic_bound import TrafficBound
from nova_holistic.solver.traffic.traffic_graph import Star, TrafficGraph
from nova_holistic.solver.traffic.traffic_plans import (
    traffic_plan, TrafficPlans)
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited
from tests.unit.solver import oracle
from tests.unit.solver.strategies import seeded
from tests.unit.solver.test_traffic import random_case


def _bound(shop, snapshot, placed, cost):
    """Return the bound of plans whose preferences cost at most ``cost``."""
    kinds = Kinds.of(shop, snapshot.without_servers(placed.values()), placed)
    if not kinds.kinds:
        return 0.0
    known = TrafficPlans(kinds, Network(shop).traffic(), in_time(10.0))
    return known.within(cost)


@pytest.mark.parametrize('strategy', ('auto', 'whole'))
def test_too_many_kinds_for_arrays_are_no_error(strategy):
    shop = group(servers('a'), servers('b', vcpus=2), relationships=[
        Bandwidth(between=('a', 'b'), mbps=10, level='rack')])
    with limited('problem', kind_places=1):
        plan = solve(shop, cloud(host('h1', 'r1'), host('h2', 'r2')),
                     objective='network', settings=Settings(strategy=strategy))
    assert (plan.objective.value, len({*plan.hosts().values()})) == (0, 1)


def test_the_relaxation_is_solved_again_only_for_fewer_of_its_preferences(
        monkeypatch):
    """A preference of the network traffic is not part of the relaxation."""
    shop = group(
        servers('web', 2), servers('db', 2),
        policies=[SoftAntiAffinity(level='rack', weight=2.0)],
        relationships=[
            Bandwidth(between=('web', 'db'), mbps=10),
            Bandwidth(between=('web-0', 'web-1'), mbps=10, weight=0.5)])
    runs = []
    monkeypatch.setattr(TrafficBound, 'run', lambda self, run=(
        TrafficBound.run): (runs.append(self), run(self)))
    snapshot = cloud(*(host(f'h{n}', f'r{n}') for n in range(4)))
    known = TrafficPlans(Kinds.of(shop, snapshot, {}),
                         Network(shop).traffic(), in_time(10.0))
    first = len(runs)
    assert known.within(0.5) == known.within(1.5) == known.bound > 0
    assert len(runs) == first
    assert known.within(2.0) == 0
    assert len(runs) > first


@pytest.mark.parametrize('cells', (1, Limits().traffic.cells))
@pytest.mark.parametrize('make', [
    random_case,
    lambda seed: (*seeded(seed).read(), seeded(seed).placed)])
def test_the_bound_is_never_above_the_optimum(make, cells):
    limits = replace(Limits(), traffic=replace(
        Limits().traffic, cells=cells))
    proved = 0
    # Fewer cases prove no bound above zero.
    for seed in range(50_000, 50_000 + max(60, times(120))):
        shop, snapshot, placed = make(seed)
        best = oracle.best(shop, snapshot, placed, 'network')
        if best is None or not Network(shop).traffic():
            continue
        cost, value = best
        with using(limits):
            bound = _bound(shop, snapshot, placed, cost)
        # None would mean that no plan of that cost exists.
        assert bound is not None, seed
        assert bound <= value + 1e-6, seed
        proved += bound > 0
    assert proved


@pytest.mark.parametrize('cells', (1, Limits().traffic.cells))
def test_the_bound_uses_each_domain_once(cells):
    """The large rack holds four servers of each side, and each of the eight
    small racks holds one of each side. So at most 16 + 4 of the 64 pairs share
    a rack, and their hosts. A second large rack would hold the other servers.
    """
    snapshot = cloud(
        host('large', 'r0', vcpus=8),
        *(host(f'h{number}', f'r{number}', vcpus=2) for number in range(1, 9)))
    shop = group(servers('web', 8), servers('db', 8), relationships=[
        Bandwidth(between=('web', 'db'), mbps=10)])
    with using(replace(Limits(), traffic=replace(
            Limits().traffic, cells=cells))):
        bound = _bound(shop, snapshot, {}, 0)
    # Traffic of a pair uses two uplinks of each of the two levels.
    assert bound == 2 * 2 * 10 * (64 - 20)


def test_bounds_of_a_known_plan_are_proved_before_places_are_searched(
        monkeypatch):
    """The search for places takes all the time, and no plan whose preferences
    cost at most as much as those of the known plan is below the bound."""
    clock, proved = [0.0], 0

    def late(plans):
        clock[0] = 100.0
        raise OutOfTime('places')

    monkeypatch.setattr(TrafficPlans, 'place', late)
    for seed in range(70_000, 70_000 + max(40, times(80))):
        shop, snapshot, placed = random_case(seed)
        costs = [(cost, oracle.value('network', shop, snapshot, placed, where),
                  where) for where in oracle.placements(shop, snapshot, placed)
                 if (cost := oracle.violations(
                     shop, snapshot, placed, where)) is not None]
        if not costs or len(placed) == len(shop.all_members()):
            continue
        reduced = snapshot.without_servers(placed.values())
        hosts, bound = {h.name: h for h in reduced.hosts}, bind(shop, reduced)
        known = Incumbent(bound, reduced, placed,
                          Network().for_group(bound), 0.01)
        cost, _, where = random.Random(seed).choice(costs)
        assert known.offer({path: hosts[name] for path, name in where.items()})
        clock[0] = 0.0
        with pytest.raises(OutOfTime):
            traffic_plan(Kinds.of(bound, reduced, placed),
                         known.objective.traffic(), known,
                         load_backend('highs'), Deadline(lambda: clock[0], 10))
        assert known.bound == _bound(shop, snapshot, placed, cost), seed
        assert known.bound <= min(
            value for other, value, _ in costs if other <= cost) + 1e-6, seed
        proved += cost > 0 and known.bound > 0
    assert proved


@pytest.mark.parametrize('policy, cells', [
    (AntiAffinity(level='rack', max_per_domain=4), 1),
    (SoftAntiAffinity(level='rack', max_per_domain=4), 1),
    (RelationshipAntiAffinity(level='rack', between=('web', 'db')), 1),
    (Affinity(level='rack'), 24),
    (Affinity(level='rack', weight=1.0), 24),
    (Spread(level='rack', max_skew=1), 24),
    (RelationshipAffinity(level='rack', between=('web', 'db')), 24)])
def test_only_racks_that_a_policy_relates_are_separate_cells(policy, cells):
    snapshot = cloud(*(host(f'h{n}', f'r{n % 24}') for n in range(96)))
    is_relationship = isinstance(policy, Relationship)
    shop = group(servers('web', 6), servers('db', 6),
                 policies=[] if is_relationship else [policy],
                 relationships=[Bandwidth(between=('web', 'db'), mbps=10),
                                *[policy] * is_relationship])
    known = TrafficPlans(Kinds.of(shop, snapshot, {}),
                         Network(shop).traffic(), in_time(10.0))
    assert len({*known.cell.tolist()}) == cells


def test_best_mixes_agree_with_exhaustive_search():
    chance = np.random.default_rng(1)
    for _ in range(200):
        star = Star((0, 1, 2), tuple(chance.integers(1, 5, 2).tolist()))
        caps = chance.integers(0, 5, (1, 3))
        joint = chance.integers(0, 9, 1)
        prices = chance.integers(0, 6, (1, 3)).astype(float)
        sorts = DomainTypes(star, np.zeros(1, dtype=int), caps, joint,
                            np.ones(1))
        profit, mixes = sorts.best(prices)

        def value(mix):
            return (mix[0] * (mix[1] * star.mbps[0] + mix[2] * star.mbps[1])
                    - sum(n * price for n, price in zip(mix, prices[0])))

        most = max(value(mix) for mix in itertools.product(
            *(range(cap + 1) for cap in caps[0])) if sum(mix) <= joint[0])
        assert profit[0] == pytest.approx(most)
        assert value(mixes[0]) == pytest.approx(most)


def test_equal_domains_have_one_type():
    chance = np.random.default_rng(3)
    for most in (3, 10 ** 6, 2 ** 31):
        place = chance.integers(0, 3, 60)
        caps = chance.integers(0, 2, (60, 4)) * most
        caps[:30], place[:30] = caps[30:], place[30:]
        found = DomainTypes.of(Star((0, 1, 2, 3), (1, 1, 1)), place, caps,
                               np.full(60, most))
        useful = (caps[:, 0] > 0) & (caps[:, 1:] > 0).any(axis=1)
        types, number = np.unique(np.column_stack((place, caps))[useful],
                                  axis=0, return_counts=True)
        assert found.number.tolist() == number.tolist()
        assert np.column_stack(
            (found.place, found.caps)).tolist() == types.tolist()
        assert set(found.joint.tolist()) <= {most}


def test_bundle_values_agree_with_exhaustive_search():
    chance = np.random.default_rng(2)
    for _ in range(60):
        caps = chance.integers(1, 5, 2)
        joint, number = int(chance.integers(2, 7)), int(chance.integers(1, 4))
        aggregate = DomainAggregate.of(
            Star((0, 1), (3,)), np.zeros(40, dtype=int),
            np.tile(caps, (40, 1)), np.full(40, joint), (number, 5))
        best = {(0, 0): 0}
        for _ in range(number + 5):
            best = _with_one_domain_more(best, caps, joint, (number, 5))
        for (a, b), pairs in best.items():
            assert aggregate.most_kept[0, a, b] == 3 * pairs


def _with_one_domain_more(best, caps, joint, sizes):
    found = {}
    for (a, b), pairs in best.items():
        for i, j in itertools.product(*(range(cap + 1) for cap in caps)):
            if i + j <= joint and a + i <= sizes[0] and b + j <= sizes[1]:
                key = a + i, b + j
                found[key] = max(found.get(key, 0), pairs + i * j)
    return found


@pytest.mark.parametrize('cell_is_domain', [False, True])
def test_nested_domains_keep_what_the_best_partition_keeps(cell_is_domain):
    chance = np.random.default_rng(4)
    for _ in range(40):
        sizes = tuple(chance.integers(1, 4, 2).tolist())
        racks, hosts = ([*chance.integers(0, 4, 2).tolist(),
                         int(chance.integers(1, 6))] for _ in range(2))
        found = nested_aggregate(
            Star((0, 1), (10,)), sizes, np.array([
                [[*sizes, sum(sizes)]], [racks], [hosts]]),
            cell_is_domain, in_time(10.0))
        for a, b in np.ndindex(sizes[0] + 1, sizes[1] + 1):
            assert found.most_kept[0, a, b] == 10 * (
                a * b * cell_is_domain
                + _most_pairs('a' * a + 'b' * b, (racks, hosts)))


def _most_pairs(members, levels):
    """The most pairs of different sides within domains, summed over levels."""
    if not levels:
        return 0
    one, other, joint = levels[0]
    return max(sum(
        domain.count('a') * domain.count('b')
        + _most_pairs(''.join(domain), levels[1:]) for domain in partition)
        for partition in _partitions([*members], len(members)) if all(
            domain.count('a') <= one and domain.count('b') <= other
            and len(domain) <= joint for domain in partition
            if len({*domain}) == 2))


def test_the_bound_of_three_tiers_is_in_whole_numbers():
    """A rack is one host with room for six of the nine servers. With two
    servers of each tier, it keeps four pairs of either relationship, and
    another rack keeps one."""
    snapshot = cloud(*(host(f'h{n}', f'r{n}') for n in range(16)))
    shop = group(*(servers(name, 3) for name in ('web', 'app', 'db')),
                 policies=[AntiAffinity(max_per_domain=6)],
                 relationships=[Bandwidth(between=('web', 'app'), mbps=10),
                                Bandwidth(between=('app', 'db'), mbps=10)])
    assert _bound(shop, snapshot, {}, 0) == 2 * (9 - 5) * 10 * 2 * 2


def test_leaves_with_different_traffic_are_not_merged():
    shop = group(*(servers(name, 2) for name in 'abc'), relationships=[
        Bandwidth(between=('a', 'b'), mbps=10),
        Bandwidth(between=('a', 'c'), mbps=20)])
    graph = TrafficGraph.of(Network(shop).traffic())
    assert with_merged_leaves(graph) == graph


def _most_traffic(edges, members, room):
    """The most Mbit/s within domains, over all partitions of the members into
    domains of at most this size.

    :param edges: names of two sides and Mbit/s between their members
    :param members: the side of each member
    """
    return max(sum(mbps * domain.count(one) * domain.count(other)
                   for domain in partition for one, other, mbps in edges)
               for partition in _partitions(members, room))


def _partitions(left, room):
    """Yield the partitions of the members into domains of at most this size.
    """
    if not left:
        yield []
        return
    for rest in _partitions(left[1:], room):
        yield [[left[0]], *rest]
        for number, domain in enumerate(rest):
            if len(domain) < room:
                yield [*rest[:number], [left[0], *domain], *rest[number + 1:]]


def test_joint_patterns_never_keep_less_than_the_best_partition():
    chance, exact = random.Random(3), 0
    for _ in range(60):
        sizes = {name: chance.randint(1, 3) for name in 'abc'}
        edges = [(*chance.choice(('ab', 'bc', 'ac', 'aa', 'cc')),
                  chance.choice((1, 3, 10))) for _ in range(3)]
        shop = group(*(servers(name, size) for name, size in sizes.items()),
                     relationships=[
                         Bandwidth(between=(one, other), mbps=mbps)
                         for one, other, mbps in edges])
        room = chance.randint(1, 4)
        found = JointPatterns.of(TrafficGraph.of(
            Network(shop).traffic())).most_kept(room, in_time(10.0))
        best = _most_traffic(edges, [name for name, size in sizes.items()
                                     for _ in range(size)], room)
        assert found >= best
        exact += found == best
    assert exact


def test_the_traffic_of_three_tiers_shares_the_room_of_a_rack():
    """A rack holds three of the nine servers. Each relationship alone keeps
    four pairs in racks: two servers of one tier and one of the other."""
    snapshot = cloud(*(host(f'h{n}', f'r{n % 4}') for n in range(16)))
    shop = group(*(servers(name, 3) for name in ('web', 'app', 'db')),
                 policies=[AntiAffinity(level='rack', max_per_domain=3)],
                 relationships=[Bandwidth(between=('web', 'app'), mbps=10),
                                Bandwidth(between=('app', 'db'), mbps=10),
                                Bandwidth(between=('web', 'db'), mbps=10)])
    # One server of each tier is on each of three hosts. So three of the nine
    # pairs of each relationship share a rack and a host.
    apart = 3 * (9 - 3) * 10
    assert _bound(shop, snapshot, {}, 0) == apart * 2 * 2


@pytest.mark.parametrize('solved', [0, 1, 2])
def test_programs_that_end_at_the_time_limit_lead_to_no_numbers(
        solved, monkeypatch):
    """Their solutions have no bound."""
    snapshot = cloud(*(host(f'h{n}', f'r{n % 4}') for n in range(16)))
    shop = group(servers('web', 3), servers('app', 3), relationships=[
        Bandwidth(between=('web', 'app'), mbps=10)])
    known = TrafficPlans(Kinds.of(shop, snapshot, {}), Network(
        shop).traffic(), in_time(10.0))
    calls, solve = [], Linear.solve

    def late(program, *how):
        outcome, values = solve(program, *how)
        calls.append(outcome)
        return outcome if len(calls) <= solved else Outcome(
            Status.FEASIBLE), values

    monkeypatch.setattr(Linear, 'solve', late)
    known.place()
    assert len(calls) > solved


def test_members_without_traffic_may_be_anywhere(monkeypatch):
    """HiGHS finds any hosts for them much faster than the fewest hosts."""
    snapshot = cloud(*(host(f'h{n}', f'r{n % 4}') for n in range(24)))
    shop = group(servers('web', 3), servers('app', 3), servers('batch', 9),
                 policies=[AntiAffinity(level='rack', max_per_domain=4)],
                 relationships=[Bandwidth(between=('web', 'app'), mbps=10)])
    costs, solve_program = [], AggregatedProgram.solve

    def spied(program, *how):
        costs.append(program.program.cost)
        return solve_program(program, *how)

    monkeypatch.setattr(AggregatedProgram, 'solve', spied)
    plan = solve(shop, snapshot, objective='network',
                 settings=Settings(strategy='decomposed'))
    assert len(plan.hosts()) == 15
    assert costs and not np.concatenate(costs).any()


def test_every_edge_is_in_one_star():
    shop = group(*(servers(name, 2) for name in 'abcd'), relationships=[
        Bandwidth(between=pair, mbps=10)
        for pair in (('a', 'b'), ('b', 'c'), ('c', 'd'), ('d', 'd'))])
    graph = TrafficGraph.of(Network(shop).traffic())
    edges = [frozenset((star.nodes[0], leaf))
             for star in graph.stars for leaf in star.nodes[1:]]
    assert len(edges) == len(set(edges)) == 4
    assert graph.total == 4 * 4 * 10
