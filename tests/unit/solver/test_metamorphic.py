# SPDX-License-Identifier: Apache-2.0
"""Changes without relevance keep the optimum, and restrictions never improve
it.

The optimum is the least (weighted violations, objective value), or infinity if
no plan exists. The tests compare in this order. The eligible domains of a
spread depend on hosts and on hard rules of the groups above, so some changes
may improve a spread. The tests exclude such cases.
"""

from dataclasses import replace
import math

from hypothesis import assume, given, strategies as st
import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import Plan
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.solver import changes
from tests.unit.solver.strategies import cases, OBJECTIVES
from tests.unit.solver.test_oracle_language import cost_of

NOTHING = (math.inf, math.inf)
CHANCE = st.randoms(use_true_random=False)
AIMS = st.sampled_from(OBJECTIVES)
BY_PLACE = st.sampled_from(('fewest-hosts', 'network'))
"""Objectives that do not depend on the usage of hosts."""


def answer(case, objective, solver='highs'):
    group, snapshot = case.read()
    return group, snapshot, solve(
        group, snapshot, placed=case.placed, objective=objective,
        settings=Settings(solver=solver, time_limit=60))


def optimum(case, objective='fewest-hosts', solver='highs'):
    group, _, plan = answer(case, objective, solver)
    if not isinstance(plan, Plan):
        return NOTHING
    return cost_of(group, plan), plan.objective.value


def same(one, other):
    return one == pytest.approx(other, rel=1e-6, abs=1e-6)


def no_better(one, other):
    """Return whether the first optimum is equal to or worse than the second.
    """
    if not same(one[0], other[0]):
        return one[0] > other[0]
    return one[1] > other[1] or same(one[1], other[1])


@examples(45)
@given(cases(), CHANCE, AIMS)
def test_names_do_not_matter(case, chance, objective):
    assert same(optimum(changes.renamed(case, chance), objective),
                optimum(case, objective))


@examples(45)
@given(cases(), CHANCE, AIMS)
def test_order_does_not_matter(case, chance, objective):
    assert same(optimum(changes.reordered(case, chance), objective),
                optimum(case, objective))


@examples(40)
@given(cases(), AIMS)
def test_solvers_agree(case, objective):
    assert same(optimum(case, objective, 'cbc'), optimum(case, objective))


@examples(40)
@given(cases(), AIMS)
def test_a_further_empty_host_never_worsens_a_plan(case, objective):
    # A spread policy may require members in the new eligible domain.
    assume(not changes.has_skew(case))
    more = case.copy()
    more.inventory['hosts'].append({
        'name': 'new', 'location': ['az1', 'r9'], 'traits': ['T'],
        'aggregates': ['ssd', 'fast'], 'labels': {'feed': 'Z'},
        'resources': {name: {'total': 8} for name in ('VCPU', 'MEMORY_MB')}})
    assert no_better(optimum(case, objective), optimum(more, objective))


@examples(40)
@given(cases(), CHANCE, AIMS)
def test_an_empty_copy_of_a_host_never_worsens_a_plan(case, chance, objective):
    """The test excludes spreads over hosts, because the copy is a domain that
    they must fill."""
    assume(not changes.has_skew(case, 'host'))
    assert no_better(
        optimum(case, objective),
        optimum(changes.with_twin(case, chance, enabled=True), objective))


def test_an_empty_host_in_a_new_rack_can_make_a_spread_unplaceable():
    rack = {'resources': {'VCPU': {'total': 2}}}
    case = changes.spread_over_racks([
        {'name': 'a', 'location': ['r1'], **rack},
        {'name': 'b', 'location': ['r2'], **rack}], members=4, max_skew=0)
    assert optimum(case) == (0, 2)
    case.inventory['hosts'].append(
        {'name': 'c', 'location': ['r3'], **rack})
    assert optimum(case) == NOTHING


@examples(40)
@given(cases(), CHANCE, AIMS)
def test_a_disabled_host_changes_nothing(case, chance, objective):
    assert same(
        optimum(changes.with_twin(case, chance, enabled=False), objective),
        optimum(case, objective))


@examples(70)
@given(cases(), CHANCE, AIMS)
def test_a_tighter_limit_never_improves_a_plan(case, chance, objective):
    tighter = changes.tightened(case, chance)
    assume(tighter is not None)
    assert no_better(optimum(tighter, objective), optimum(case, objective))


@examples(40)
@given(cases(), CHANCE, BY_PLACE)
def test_less_capacity_never_improves_a_plan(case, chance, objective):
    assert no_better(optimum(changes.fuller(case, chance), objective),
                     optimum(case, objective))


@examples(45)
@given(cases(), CHANCE, AIMS)
def test_one_more_policy_never_improves_a_plan(case, chance, objective):
    more = changes.with_rule(case, chance)
    # A new policy may reduce the eligible domains that a spread must fill.
    assume(not changes.has_skew(case) or not changes.moves_spreads(more))
    assert no_better(optimum(more, objective), optimum(case, objective))


@examples(70)
@given(cases(), AIMS)
def test_a_satisfied_weighted_policy_equals_a_hard_one(case, objective):
    """Hard and weighted bandwidth have different meanings, and only hard rules
    restrict the eligible domains of a spread."""
    hard = changes.all_hard(case)
    assume(not changes.has(hard, 'bandwidth'))
    assume(not changes.has_skew(hard) or not changes.moves_spreads(hard))
    soft = changes.all_weighted(hard)
    found, wished = optimum(hard, objective), optimum(soft, objective)
    assert (found != NOTHING) == (wished[0] == 0)
    if found != NOTHING:
        assert same(found, wished)


@examples(40)
@given(cases(), st.sampled_from((0.5, 3, 1000)), AIMS)
def test_only_the_ratio_of_weights_matters(case, factor, objective):
    cost, value = optimum(case, objective)
    scaled = optimum(changes.weighed(case, factor), objective)
    assert same(scaled, (cost * factor, value))


@examples(45)
@given(cases(), CHANCE)
def test_a_heavier_preference_is_never_violated_more(case, chance):
    group, _, plan = answer(case, 'fewest-hosts')
    assume(isinstance(plan, Plan) and plan.preferences)
    number = chance.randrange(len(plan.preferences))
    heavier = changes.weighed(case, 7, number)
    _, _, other = answer(heavier, 'fewest-hosts')
    assert (other.preferences[number].violations
            <= plan.preferences[number].violations)
    assert no_better(optimum(heavier), optimum(case))


@examples(40)
@given(cases(), CHANCE, BY_PLACE)
def test_building_members_of_an_optimal_plan_keeps_the_optimum(
        case, chance, objective):
    """Members that stay on the hosts of an optimal plan do not change the
    optimum, although the snapshot contains their usage, and they do not count
    as servers from outside the group."""
    group, snapshot, plan = answer(case, objective)
    assume(isinstance(plan, Plan))
    hosts = {h.name: h for h in snapshot.hosts}
    built = dict(case.placed)
    for member in group.all_members():
        if member.path not in built and chance.random() < 0.5:
            name = built[member.path] = plan.hosts()[member.path]
            hosts[name] = _with_server(hosts[name], member)
    later = solve(group, replace(snapshot, hosts=tuple(hosts.values())),
                  placed=built, objective=objective,
                  settings=Settings(time_limit=60))
    assert same((cost_of(group, later), later.objective.value),
                (cost_of(group, plan), plan.objective.value))


def _with_server(host, member):
    inventories = dict(host.inventories)
    for name, amount in member.requirements.resources.items():
        has: Inventory = inventories[name]
        inventories[name] = replace(has, used=has.used + amount)
    return replace(host, servers=host.servers + 1,
                   inventories=FrozenMapping(inventories))
