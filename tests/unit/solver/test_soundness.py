# SPDX-License-Identifier: Apache-2.0
"""Proofs of the solver are valid: regression tests for cases with invalid
proofs."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing

FAST, ANY, NOWHERE = (frozenset({name}) for name in (
    'FAST', 'ANY', 'CUSTOM_NOWHERE'))


def violations(plan):
    """Return the violations of each preference, in document order."""
    return [each.violations for each in plan.preferences]


def planned(wanted, snapshot, objective, strategy=Strategy.AUTO):
    plan = solve(wanted, snapshot, objective=objective,
                 settings=Settings(strategy, timer=standing))
    assert isinstance(plan, Plan)
    assert check(wanted, snapshot, plan.hosts()) == ()
    assert plan.objective.bound <= plan.objective.value
    return plan


@pytest.mark.parametrize('strategy', Strategy)
def test_a_light_preference_beside_a_heavy_one_is_met(strategy):
    wanted = group(
        *(servers(f'm{n}', vcpus=vcpus)
          for n, vcpus in enumerate((5, 4, 4, 3, 2, 2))),
        policies=[Traits(has=ANY, weight=1e6), Traits(has=FAST, weight=0.1)])
    snapshot = cloud(
        *(host(f'h{n}', 'r1', vcpus=10, traits=ANY | FAST) for n in range(3)),
        host('large', 'r1', vcpus=20, traits=ANY))
    plan = planned(wanted, snapshot, 'fewest-hosts', strategy)
    assert violations(plan) == [0, 0]
    assert plan.objective.bound <= 2 <= plan.objective.value
    if strategy in (Strategy.AUTO, Strategy.WHOLE, Strategy.INSERTION):
        assert plan.objective.value == 2


def test_the_objective_is_best_among_plans_of_the_least_cost():
    """The objective must not outweigh the smallest preference."""
    part = frozenset({'CUSTOM_B'})
    wanted = group(
        groups=[group(servers('m', vcpus=2), name='g0'),
                group(servers('m', vcpus=2), name='g1'),
                group(servers('m'), name='g2', policies=[
                    Traits(has=part, weight=0.3)])],
        policies=[Traits(has=NOWHERE, weight=100000.0)])
    snapshot = cloud(
        host('h2', 'r0', traits=part,
             inventories={'VCPU': Inventory(total=3, used=1)}),
        host('h3', 'r1', vcpus=6),
        host('h4', 'r0', inventories={'VCPU': Inventory(total=7, used=2)}))
    plan = planned(wanted, snapshot, 'stack')
    assert violations(plan) == [3, 0]
    assert plan.objective.value == pytest.approx(29 / 21)
    assert plan.objective.gap == 0


def test_the_least_cost_is_exact_beside_a_preference_that_no_plan_meets():
    wanted = group(
        groups=[group(servers('m', vcpus=vcpus), name=f'g{n}')
                for n, vcpus in enumerate((2, 1, 2, 2))],
        policies=[Traits(has=NOWHERE, weight=1e6),
                  AntiAffinity(weight=0.6),
                  Affinity(level='rack', weight=0.7)])
    snapshot = cloud(
        host('h0', 'r0', vcpus=5), host('h1', 'r1', vcpus=3),
        host('h3', 'r1', vcpus=3), host('h4', 'r0', vcpus=4))
    plan = planned(wanted, snapshot, 'stack')
    assert violations(plan) == [4, 0, 1]


@dataclass(frozen=True, kw_only=True)
class AtMostOneIn(Policy):
    """At most one member is in the rack. Other racks have no limit."""

    type: ClassVar[str] = 'at-most-one-in'
    keys: ClassVar[dict] = {}
    rack: str = 'r1'

    def check(self, scope, placement, snapshot):
        here = sum(placement[m.path].location[0] == self.rack
                   for m in scope.members if m.path in placement)
        return Violations(max(0, here - 1))

    def encode(self, scope, encoder):
        encoder.require(encoder.count(
            scope, Domain('rack', (self.rack,))) <= 1)


def test_a_limit_on_one_domain_does_not_apply_to_the_others():
    wanted = group(
        groups=[group(servers('m', 2), name='a', policies=[AtMostOneIn()]),
                group(servers('m', 2), name='b')],
        relationships=[RelationshipAntiAffinity(
            between=('a', 'b'), level='rack')])
    snapshot = cloud(host('h1', 'r1'), host('h2', 'r2'))
    plan = planned(wanted, snapshot, 'spread')
    assert {p.member: p.host for p in plan.placements} == {
        'a/m-0': 'h2', 'a/m-1': 'h2', 'b/m-0': 'h1', 'b/m-1': 'h1'}


def test_limits_on_all_domains_still_show_a_contradiction():
    wanted = group(
        groups=[group(servers('m', 2), name=name, policies=[
            AntiAffinity(level='rack')]) for name in 'ab'],
        relationships=[RelationshipAntiAffinity(
            between=('a', 'b'), level='rack')])
    snapshot = cloud(*(host(f'h{n}', f'r{n}') for n in range(3)))
    answer = solve(wanted, snapshot, settings=Settings(timer=standing))
    assert isinstance(answer, Unplaceable)


def _amounts(*each):
    """Return the amounts by resource class."""
    return FrozenMapping(zip(('CUSTOM_X', 'VCPU'), each))


def _exact(demands, free):
    """Return a group that fills these hosts to the last unit, and the cloud.

    :param demands: (number of members, amounts of each member)
    :param free: (capacity, used) of each resource class on each host
    """
    wanted = group(*(
        MemberDescription(f'm{n}', Requirements(_amounts(*asked)), number)
        for n, (number, *asked) in enumerate(demands)))
    return wanted, cloud(*(host(f'h{n}', 'r1', inventories={
        name: Inventory(total, used=used)
        for name, (total, used) in _amounts(*each).items()})
        for n, each in enumerate(free)))


BILLION = 10**9
PACKED = {
    'two-hosts': (
        ((3, 1000, 1000), (1, 3, BILLION // 2), (3, BILLION + 1, 2)),
        (((3123458793, 123456790), (123458798, 123456791)),
         ((1024, 21), (500001007, 7)))),
    'three-hosts': (
        ((3, BILLION // 2), (2, 999), (4, 1000), (2, 1000)),
        (((1000002001, 2),), ((1008, 8),), ((623461791, 123456791),))),
    'six-hosts': (
        ((3, 1), (8, 3), (2, BILLION - 1)),
        (((123456816, 123456816),), ((1123456796, 123456791),),
         ((1000000008, 1000000001),), ((10, 2),), ((11, 5),),
         ((1123456790, 123456791),)))}
"""Groups that fill their hosts to the last unit, so that few plans exist."""


@pytest.mark.parametrize('strategy', Strategy)
@pytest.mark.parametrize('case', PACKED)
def test_no_bound_is_above_the_value_if_demands_differ_by_a_billion(
        case, strategy):
    planned(*_exact(*PACKED[case]), 'spread', strategy)


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
@pytest.mark.parametrize('objective', ['spread', 'stack', 'fewest-hosts'])
def test_a_group_that_stays_where_it_is_has_the_best_plan(objective, solver):
    plan = solve(group(servers('m', 2)),
                 cloud(host('h1', 'r1', vcpus=5), host('h2', 'r1')),
                 objective=objective, placed={'m-0': 'h1', 'm-1': 'h2'},
                 settings=Settings(solver=solver, timer=standing))
    assert plan.objective.bound == plan.objective.value
    assert plan.objective.gap == 0


@pytest.mark.parametrize('policy', [
    Affinity(level='rack'), Affinity(level='rack', weight=1.0),
    AntiAffinity(level='rack'), AntiAffinity(level='rack', weight=1.0),
    Spread(level='rack', max_skew=1), Spread(level='rack', min_domains=1)])
@pytest.mark.parametrize('strategy', Strategy)
def test_a_cloud_without_hosts_has_no_plan(policy, strategy):
    answer = solve(group(servers('m', 2), policies=[policy]), cloud(),
                   settings=Settings(strategy, timer=standing))
    assert isinstance(answer, Unplaceable)
    assert answer.reasons
