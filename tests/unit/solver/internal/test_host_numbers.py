# SPDX-License-Identifier: Apache-2.0
"""Whole numbers of hosts in coarse domains improve the bound of a relaxation,
and the bound is compared with all plans of small groups."""

from collections import Counter
from dataclasses import replace
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.objectives import load_objective
from nova_holistic.objectives.utilisation import utilisation
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.decomposition.cohesive_kinds import CohesiveKinds
from nova_holistic.solver.limits.current import Limits
from nova_holistic.solver.milp.branching import Branching
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.settings import Strategy
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.test_nested_domains import (
    _AllPlans, _random_cloud, _random_group)
from tests.unit.solver.test_oracle_weights import CASES, check_answer


def _bounds(wanted, snapshot, objective):
    """Return the bound of a relaxation before and after whole numbers of hosts
    are required; None if the relaxation has no solution."""
    kinds = Kinds.of(bind(wanted, snapshot), snapshot, {}, in_time().check)
    if kinds is None or (kinds.room.sum(axis=1) < kinds.numbers).any():
        return None
    cohesive = CohesiveKinds.of(kinds, cells(kinds, in_time().check))
    merged = HostAggregation(
        cohesive.kinds, cohesive.cells,
        load_objective(objective).host_cost(), in_time())
    merged.run()
    if merged.bound is None:
        return None
    before = merged.within(float('inf'))
    merged.count_hosts(in_time())
    return before, merged.within(float('inf'))


def _least(plans, objective):
    """Return the minimum value of the objective; None if no plan exists."""
    costs = np.ones(len(plans.hosts)) if objective == 'fewest-hosts' else (
        np.array([1 - utilisation(h, ('VCPU',)) for h in plans.hosts]))
    used = ((plans.one + plans.two) > 0)[plans.valid]
    return float((used @ costs).min()) if len(used) else None


@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack'])
def test_no_plan_costs_less_than_the_bound(objective):
    found = Counter()
    for seed in range(times(1500)):
        chance = random.Random(seed)
        snapshot, wanted = _random_cloud(chance), _random_group(chance)
        least = _least(_AllPlans(wanted, snapshot), objective)
        known = None if least is None else _bounds(
            wanted, snapshot, objective)
        if known is None:
            continue
        before, after = known
        assert before <= after <= least + 1e-9, seed
        found['plans'] += 1
        found['raised'] += after > before + 1e-6
        found['exact'] += after > least - 1e-6
        found['exact before'] += before > least - 1e-6
    assert found['plans'] > times(1500) / 4
    assert found['raised'] > found['plans'] / 50
    assert found['exact'] > found['exact before']


@pytest.mark.parametrize('cells', [1, 2])
def test_answers_with_few_cells_hold_for_all_plans(cells):
    """With one cell, the relaxation distinguishes no domains."""
    few = replace(Limits(), decomposition=replace(
        Limits().decomposition, host_cells=cells))
    planned = sum(check_answer(
        seed, 'fewest-hosts', Strategy.DECOMPOSED, limits=few, gap=0.0)
        for seed in range(3 * CASES, 6 * CASES))
    assert planned > CASES


def test_members_kept_in_a_zone_need_whole_hosts_there():
    """The servers of the first group are in one zone, four on each host: they
    need six hosts. The other zones hold as many members as this zone, up to
    four, in racks that hold at most seven. Therefore, each of them needs four
    hosts."""
    snapshot = cloud(*(
        host(f'h{rack}-{number}', f'z{rack % 3}', f'r{rack}', vcpus=100)
        for rack in range(15) for number in range(3)),
        levels=('az', 'rack', 'host'))
    wanted = group(groups=[
        group(servers('m', 21), name='a', policies=[
            Affinity(level='az'), AntiAffinity(max_per_domain=4)]),
        group(servers('m', 49), name='b')], policies=[
            AntiAffinity(level='rack', max_per_domain=7),
            Spread(level='az', max_skew=1)])
    before, after = _bounds(wanted, snapshot, 'fewest-hosts')
    assert (np.ceil(before - 1e-6), np.ceil(after - 1e-6)) == (12, 14)


def test_branching_over_integers():
    """Minimise x + y for 2 x + 2 y >= 7: both are integers up to 5."""
    program = Linear(np.array([1.0, 1.0]), np.array([5.0, 5.0]))
    program.add([0, 0], [0, 1], [2.0, 2.0], 7.0, np.inf, 1)
    outcome = Branching(program, np.array([True, True])).solve(
        0.0, in_time().left)
    assert outcome.bound == pytest.approx(4.0, abs=1e-6)
    outcome = Branching(program, np.array([False, False])).solve(
        0.0, in_time().left)
    assert outcome.bound == pytest.approx(3.5, abs=1e-6)
