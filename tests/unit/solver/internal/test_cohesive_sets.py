# SPDX-License-Identifier: Apache-2.0
"""Members that an affinity keeps together, and of which a host takes few, are
separate kinds."""

import itertools
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity, SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.column_generation.branches import domain_branches
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.pattern_placement import (
    place_patterns)
from nova_holistic.solver.column_generation.pricing import Pricing
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.decomposition.cohesive_kinds import CohesiveKinds
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds
from tests.effort import times
from tests.unit import builders
from tests.unit.solver import oracle


def _deadline():
    return Deadline(itertools.repeat(0.0).__next__, 10.0)


def _members(**numbers):
    return tuple(MemberDescription(
        flavor, Requirements(FrozenMapping({'VCPU': int(flavor[1:])})), count)
        for flavor, count in numbers.items() if count)


def _group(inside, outside, affinity, most):
    """Return a group with servers of one and of two VCPUs. The policies apply
    to some of them."""
    return Group('shop', (), (
        Group('cache', inside, (), (
            affinity, AntiAffinity(max_per_domain=most))),
        Group('web', outside)))


def _case(seed):
    chance = random.Random(seed)
    snapshot = builders.cloud(*(builders.host(
        f'h{n}', f'az{n % 2}', vcpus=chance.randint(2, 5))
        for n in range(4)))
    return _group(
        _members(s1=chance.randint(1, 3), s2=chance.randint(0, 1)),
        _members(s1=chance.randint(0, 2), s2=1),
        chance.choice((Affinity(level='rack'), SoftAffinity(level='rack'))),
        chance.randint(1, 2)), snapshot


def _generation(group, snapshot, objective, rounds=2):
    host_cost = load_objective(objective).host_cost()
    kinds = Kinds.of(bind(group, snapshot), snapshot, {})
    cohesive = CohesiveKinds.of(kinds, cells(kinds, lambda: None))
    aggregation = HostAggregation(cohesive.kinds, cohesive.cells, host_cost,
                                  _deadline())
    aggregation.run(rounds)
    if aggregation.impossible or aggregation.bound is None:
        return None
    those = domain_branches(cohesive.kinds, cohesive.cells, cohesive.domains,
                            aggregation.limit, lambda: 1.0)
    return cohesive, aggregation, those, ColumnGeneration(
        cohesive.kinds, cohesive.cells, host_cost, aggregation, _deadline(),
        those)


@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack'])
def test_no_plan_is_cheaper_than_the_bound(objective):
    shown, tight = 0, 0
    for seed in range(times(120)):
        group, snapshot = _case(seed)
        best = oracle.best(group, snapshot, {}, objective)
        found = best and _generation(group, snapshot, objective)
        if not found:
            continue
        _, aggregation, those, generation = found
        generation.run(load_objective(objective).integral)
        if best[0] <= aggregation.limit + 1e-9:
            assert generation.bound <= best[1] + 1e-7
            shown += len(those) > 1
            tight += len(those) > 1 and best[1] - generation.bound < 1e-6
    assert shown > times(120) / 10
    assert tight > shown / 4


def test_the_best_pattern_respects_the_capacity_of_the_host():
    """The pattern is compared with all patterns for which the host has room.
    """
    for seed in range(times(60)):
        chance = random.Random(seed)
        group, snapshot = _case(seed)
        found = _generation(group, snapshot, 'stack')
        if found is None:
            continue
        alike = found[3].host_types
        prices = np.array([[chance.choice((0.0, 0.3, 0.5, chance.random()))]
                           * (int(alike.cell.max()) + 1)
                           for _ in alike.amounts])
        gains = Pricing(alike)(prices)
        for sort in range(len(alike)):
            best = _best(alike, sort, prices[:, 0])
            assert gains.known[sort] == pytest.approx(best, abs=1e-9)
            assert gains.most[sort] >= best - 1e-12


def _best(alike, sort, prices):
    patterns = itertools.product(*(
        range(int(most) + 1) for most in alike.room[sort]))
    fitting = [np.array(p) for p in patterns if not (
        np.array(p) @ alike.amounts > alike.free[sort]).any()]
    return max(0.0, *(float(p @ prices) - alike.opening[sort]
                      for p in fitting if p.any()), 0.0)


@pytest.mark.parametrize('affinity', [
    Affinity(level='rack'), SoftAffinity(level='rack')])
def test_members_kept_together_use_as_few_hosts_as_possible(affinity):
    """One host has room for the sixteen VCPUs, but a host may hold only two of
    the eight servers."""
    snapshot = builders.cloud(*(builders.host(
        f'h{n:02}', f'az{n % 3}') for n in range(30)))
    cohesive, aggregation, those, generation = _generation(
        _group(_members(s1=8), _members(s1=8), affinity, 2), snapshot,
        'fewest-hosts')
    assert len(those) == 3
    assert generation.run(True)
    assert generation.bound == pytest.approx(4)
    taken, parts = place_patterns(
        cohesive.kinds, cohesive.cells, generation, 0.01, True,
        aggregation.limit)
    assert taken.any(axis=0).sum() == 4
    cache = [cohesive.cells.parts.of[m.path]
             for m in cohesive.kinds.group.all_members() if 'cache' in m.path]
    assert sorted(parts[sorted(set(cache))].sum(axis=0)) == [0, 0, 8]


def test_without_affinity_the_kinds_are_unchanged():
    snapshot = builders.cloud(builders.host('h1'), builders.host('h2'))
    kinds = Kinds.of(bind(builders.group(builders.servers('web', 4)),
                          snapshot), snapshot, {})
    rules = cells(kinds, lambda: None)
    cohesive = CohesiveKinds.of(kinds, rules)
    assert cohesive.kinds is kinds and cohesive.cells is rules
    assert domain_branches(
        kinds, rules, cohesive.domains, 0.0, lambda: 1.0) == ()


def test_a_cohesive_set_of_all_members_leaves_no_others():
    """Without other members, their number on a host is not a resource: the
    greatest common divisor of its amounts would be 0."""
    snapshot = builders.cloud(*(builders.host(
        f'h{n}', f'az{n % 3}') for n in range(9)))
    group = Group('shop', (), tuple(
        Group(name, _members(s1=4), (), (Affinity(level='rack'),))
        for name in 'ab'), (
            Affinity(level='rack'), AntiAffinity(max_per_domain=3)))
    with np.errstate(divide='raise'):
        cohesive, *_ = _generation(group, snapshot, 'fewest-hosts')
    sets = {frozenset(np.flatnonzero(amounts).tolist()): name
            for name, amounts in zip(cohesive.kinds.names,
                                     cohesive.kinds.amounts.T)}
    assert sets[frozenset(range(len(cohesive.kinds.kinds)))].startswith(
        'members of cohesive set')
    assert (cohesive.kinds.amounts > 0).any(axis=0).all()
