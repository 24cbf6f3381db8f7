# SPDX-License-Identifier: Apache-2.0
"""Bounds of independent parts, compared with all plans of the group."""

from fractions import Fraction
import functools
import random

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.phases.host_relaxation import relax_policies
from nova_holistic.solver.phases import part_bounds
from nova_holistic.solver.phases.part_bounds import (
    bound_parts, bound_without_policies)
from nova_holistic.solver.phases import preference_bounds
from nova_holistic.solver.phases.preference_bounds import bound_preferences
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time, task
from tests.unit.solver import oracle

OBJECTIVES = ('spread', 'stack', 'fewest-hosts', 'network')
CASES = max(40, times(40))
"""Fewer cases do not contain a bound of each kind."""


def _weight(chance):
    return chance.choice((None, 1e-6, 0.3, 1.0, 7.0, 1e6))


def _part(chance, number):
    """Return two small sides with one relationship, or one side with a policy.
    """
    level, weight = chance.choice(('rack', 'host')), _weight(chance)
    if chance.random() < 0.5:
        return group(
            groups=[group(servers('m', chance.choice((1, 1, 2)),
                                  vcpus=chance.choice((1, 2))), name=side)
                    for side in 'ab'], name=f'g{number}',
            relationships=[chance.choice((
                lambda: RelationshipAffinity(
                    between=('a', 'b'), level=level, weight=weight),
                lambda: RelationshipAntiAffinity(
                    between=('a', 'b'), level=level, weight=weight),
                lambda: Bandwidth(between=('a', 'b'), level='rack', mbps=10,
                                  weight=weight or 1.0)))()])
    return group(servers('m', chance.choice((1, 2)), vcpus=chance.choice(
        (1, 2))), name=f'g{number}', policies=[chance.choice((
            lambda: Affinity(level=level, weight=weight),
            lambda: AntiAffinity(level=level, weight=weight),
            lambda: Exclusive(weight=weight),
            lambda: Traits(has=frozenset('T'), weight=weight)))()])


def random_case(seed):
    """Return a group of several parts, a cloud, and placed members."""
    chance = random.Random(seed)
    snapshot = cloud(*(host(
        f'h{n}', f'r{n % 2}', traits=frozenset(
            'T' if chance.random() < 0.5 else ''),
        servers=chance.choice((0, 0, 1)),
        inventories={'VCPU': Inventory(
            chance.choice((3, 4, 6, 8)), used=chance.choice((0, 0, 1)))})
        for n in range(chance.choice((3, 4)))))
    wanted = group(groups=[_part(chance, n)
                           for n in range(chance.choice((2, 2, 3)))])
    return wanted, snapshot, {
        m.path: chance.choice(snapshot.hosts).name
        for m in wanted.all_members()[:5] if chance.random() < 0.06}


@functools.cache
def _plans(seed):
    """Return (cost of the preferences, places) of each plan of a random case.
    """
    case = random_case(seed)
    return [(cost, where) for where in oracle.placements(*case)
            if (cost := oracle.violations(*case, where)) is not None]


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_no_plan_is_below_the_bounds(objective):
    """The test covers the bound of the preferences, and the bound of the
    objective for each cost of the preferences that a plan has."""
    values = costs = 0
    for seed in range(CASES):
        wanted, snapshot, placed = random_case(seed)
        if len(wanted.all_members()) > 7:
            continue
        found = [(cost, oracle.value(
            objective, wanted, snapshot, placed, where))
            for cost, where in _plans(seed)]
        reduced = snapshot.without_servers(placed.values())
        bound = bind(wanted, reduced)
        known = Incumbent(bound, reduced, placed, load_objective(
            objective).for_group(bound), 0.01)
        first_plan(known, in_time())
        if known.where is None:
            continue
        bound_parts(task(known))
        assert known.least <= min(found)[0] * (1 + Fraction(1, 10 ** 9)), seed
        costs += known.least > 0
        for source in known._sources:
            for cost in {cost for cost, _ in found}:
                lower = source(cost)
                least = min(v for c, v in found if c <= cost)
                assert lower <= least + 1e-7, (seed, cost)
                values += lower > 0
    # Few cases force traffic between hosts.
    assert values > (0 if objective == 'network' else CASES / 4)
    assert costs


def _conflicting_case(seed):
    """Return a group of parts whose preferences contradict each other, and a
    cloud."""
    chance = random.Random(seed)

    def weight():
        return chance.choice((1e-6, 0.3, 1.0, 7.0, 1e6))

    def preferences():
        yield Affinity(level=chance.choice(('rack', 'host')), weight=weight())
        yield AntiAffinity(level=chance.choice(('rack', 'host')),
                           weight=weight())
        if chance.random() < 0.5:
            yield Traits(has=frozenset('T'), weight=weight())

    snapshot = cloud(*(host(
        f'h{n}', f'r{n % 2}', vcpus=chance.choice((3, 4, 6)),
        traits=frozenset('T' if chance.random() < 0.3 else ''))
        for n in range(chance.choice((3, 4)))))
    return group(groups=[
        group(servers('m', 2, vcpus=chance.choice((1, 2))), name=f'g{n}',
              policies=list(preferences()))
        for n in range(chance.choice((2, 3)))]), snapshot


def test_no_plan_violates_fewer_preferences_than_the_bound():
    """If the parts do not compete for hosts, the bound is tight."""
    tight = 0
    for seed in range(CASES):
        wanted, snapshot = _conflicting_case(seed)
        bound = bind(wanted, snapshot)
        known = Incumbent(bound, snapshot, {}, load_objective(
            'stack').for_group(bound), 0.01)
        first_plan(known, in_time())
        if known.where is None:
            continue
        bound_preferences(task(known))
        least = min(cost for where in oracle.placements(wanted, snapshot, {})
                    if (cost := oracle.violations(
                        wanted, snapshot, {}, where)) is not None)
        assert known.least <= least * (1 + Fraction(1, 10 ** 9)), seed
        tight += 0 < least <= known.least * (1 + Fraction(1, 10 ** 9))
    assert tight > CASES / 4


def _indecisive(name):
    """Return two servers that prefer the same host and different hosts."""
    return group(servers('m', 2), name=name, policies=[
        Affinity(level='host', weight=2.0), AntiAffinity(weight=1.0)])


def test_preferences_that_no_plan_satisfies_have_a_tight_bound():
    """The group has more parts than a bound of its objective considers. In
    the plan, all preferences of `last` are violated, one of them in vain."""
    wanted = group(groups=[
        *(group(servers('m', 1), name=f'single{n}') for n in range(25)),
        *map(_indecisive, ('first', 'last'))])
    snapshot = cloud(*(host(f'h{n}', f'r{n}', vcpus=64) for n in range(4)))
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        'stack').for_group(bound), 0.01)
    together = {m.path: snapshot.hosts[0] for m in known.members}
    assert known.offer(together | {'last/m-1': snapshot.hosts[1]})
    assert known.plan_cost[0] == 3
    bound_preferences(task(known))
    assert known.least == 2
    answer = solve(wanted, snapshot, objective='stack')
    assert (answer.preference_cost.value, answer.preference_cost.bound) == (
        2, 2)


def test_only_parts_with_violated_preferences_are_solved(monkeypatch):
    """All other parts have a bound of 0."""
    wanted = group(groups=[_indecisive('violated'), group(
        servers('m', 2), name='satisfied',
        policies=[AntiAffinity(weight=1.0)])])
    snapshot = cloud(*(host(f'h{n}', f'r{n}', vcpus=8) for n in range(2)))
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        'stack').for_group(bound), 0.01)
    assert known.offer({m.path: snapshot.hosts[
        m.path == 'satisfied/m-1'] for m in known.members})
    solved, solve_part = [], preference_bounds.solve_part

    def recorded(task):
        solved.append({m.path.split('/')[0] for m in task.known.members})
        solve_part(task)

    monkeypatch.setattr(preference_bounds, 'solve_part', recorded)
    bound_preferences(task(known))
    assert solved == [{'violated'}]
    bound_preferences(task(known))
    assert solved == [{'violated'}]


def _pair(name, *relationships):
    """Return two sides with one server each."""
    return group(groups=[group(servers('m', 1), name=side) for side in 'ab'],
                 name=name, relationships=relationships)


def _pairs_apart(wanted):
    """Return an incumbent of traffic, in whose plan the sides b are on one of
    two hosts, and all other members on the other."""
    snapshot = cloud(*(host(f'h{n}', f'r{n}', vcpus=8) for n in range(2)))
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        'network').for_group(bound), 0.01)
    assert known.offer({m.path: snapshot.hosts['/b/' in m.path]
                        for m in known.members})
    assert known.plan_cost == (1, 40)
    return known


def test_bounds_of_parts_without_preferences_are_valid_for_every_plan():
    """The plan violates a preference of another part. So its traffic may be
    lower than that of plans without violations, but not zero."""
    known = _pairs_apart(group(groups=[
        _pair('traffic',
              Bandwidth(between=('a', 'b'), mbps=10, level='rack'),
              RelationshipAntiAffinity(between=('a', 'b'), level='rack')),
        group(servers('m', 2), name='apart',
              policies=[AntiAffinity(weight=1.0)])]))
    bound_parts(task(known))
    assert (known.least, known.bound) == (0, 40)


def test_parts_with_traffic_add_up():
    """Each of three pairs with traffic has its sides in different racks."""
    wanted = group(groups=[_pair(
        f'g{n}',
        Bandwidth(between=('a', 'b'), mbps=10, level='rack', weight=1.0),
        RelationshipAntiAffinity(between=('a', 'b'), level='rack'))
        for n in range(3)])
    snapshot = cloud(*(host(f'h{n}', f'r{n % 2}', inventories={
        'VCPU': Inventory(8)}) for n in range(4)))
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        'network').for_group(bound), 0.01)
    first_plan(known, in_time())
    bound_parts(task(known))
    # 10 Mbit/s over two uplinks of racks and two uplinks of hosts.
    assert known.plan_cost == (30, 120.0)
    assert (known.least, known.bound) == (30, 120.0)


def test_parts_without_traffic_or_violations_are_not_solved(monkeypatch):
    """Their bounds are 0. If the value of the known plan is close to its
    bound, only the bounds of the preferences are needed."""
    known = _pairs_apart(group(groups=[
        _pair('traffic',
              Bandwidth(between=('a', 'b'), level='rack', mbps=10)),
        _pair('violated', RelationshipAffinity(
            between=('a', 'b'), level='host', weight=1.0)),
        _pair('satisfied', RelationshipAntiAffinity(
            between=('a', 'b'), level='host', weight=1.0))]))
    solved, solve = [], part_bounds._solve_part

    def solve_part(known, batch, *how):
        solved.append(batch.members[0].path.split('/')[0])
        return solve(known, batch, *how)

    monkeypatch.setattr(part_bounds, '_solve_part', solve_part)
    bound_parts(task(known))
    assert solved == ['violated', 'traffic']
    solved.clear()
    known.prove(40, 1)
    bound_parts(task(known))
    assert solved == ['violated']


@pytest.mark.parametrize('has_traffic', [False, True])
def test_bounds_of_preferences_are_not_proved_twice(monkeypatch, has_traffic):
    """The first search solves the part whose preferences the plan violates.
    The second search starts from its bound, and only if the part has traffic.
    """
    bandwidth = Bandwidth(between=('a', 'b'), mbps=10, level='rack')
    known = _pairs_apart(group(groups=[
        _pair('violated',
              RelationshipAffinity(
                  between=('a', 'b'), level='host', weight=1.0),
              RelationshipAntiAffinity(
                  between=('a', 'b'), level='host', weight=3.0),
              *[bandwidth] * has_traffic),
        _pair('other', *[bandwidth] * (not has_traffic))]))
    least = bound_preferences(task(known))
    assert least == {'violated/a/m-0': 1}
    started, solve_part = {}, part_bounds.solve_part

    def recorded(task):
        started[task.known.members[0].path] = task.known.least
        solve_part(task)

    monkeypatch.setattr(part_bounds, 'solve_part', recorded)
    bound_parts(task(known), least)
    assert started == (
        {'violated/a/m-0': 1} if has_traffic else {'other/a/m-0': 0})
    assert (known.least, known.bound) == (1, 40 * has_traffic)


def _small_group(gap=0.01):
    """Return an incumbent with a first plan of a small group. Three members
    are on three hosts, and the members of the other side are in another rack.
    """
    wanted = group(groups=[
        group(groups=[
            group(servers('m', 3), name='a', policies=[AntiAffinity()]),
            group(servers('m', 3), name='b')], name='apart', relationships=[
                RelationshipAntiAffinity(between=('a', 'b'), level='rack')]),
        group(groups=[
            group(servers('m', 2), name='a', policies=[AntiAffinity()]),
            group(servers('m', 2), name='b')], name='together',
            relationships=[RelationshipAffinity(
                between=('a', 'b'), level='rack')])])
    snapshot = cloud(*(host(f'h{n}', f'r{n // 2}', inventories={
        'VCPU': Inventory(8, used=(n * n + n // 7) % 7)})
        for n in range(40)))
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        'fewest-hosts').for_group(bound), gap)
    first_plan(known, in_time())
    return known


def test_a_small_group_needs_the_hosts_of_each_of_its_parts():
    """The relaxation of all members has fractions of hosts."""
    relaxed, solved = _small_group(), _small_group()
    relax_policies(relaxed, in_time())
    assert relaxed.bound < 3.9
    bound_without_policies(task(solved), True,
                           plans=False)
    assert solved.bound == pytest.approx(4)


@pytest.mark.parametrize('gap, number', [(0.01, 1), (0.3, 0)])
def test_no_relaxation_follows_a_plan_that_is_good_enough(
        monkeypatch, gap, number):
    """The program of patterns finds the best plan and a bound of 3 hosts."""
    called = []
    monkeypatch.setattr(part_bounds, 'relax_policies',
                        lambda *arguments: called.append(arguments))
    known = _small_group(gap)
    bound_without_policies(task(known), True)
    assert known.plan_cost == (0, 4)
    assert known.bound == pytest.approx(3 if number == 0 else 4)
    assert len(called) == number


def test_a_search_of_neighbourhoods_alone_has_bounds(monkeypatch):
    """It does not use the plans of a program of patterns."""
    called = []
    for name in 'relax_policies', 'plan_by_patterns':
        monkeypatch.setattr(part_bounds, name, lambda *arguments, name=name:
                            called.append(name))
    known = _small_group()
    solve(known.group, known.snapshot, objective='fewest-hosts',
          settings=Settings(Strategy.NEIGHBOURHOODS, Improvement(failures=1)))
    assert called == ['relax_policies']
