# SPDX-License-Identifier: Apache-2.0
"""Small groups with preferences on large clouds."""

from dataclasses import dataclass, replace
from fractions import Fraction
import random
from typing import ClassVar

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.solver.limits.current import Limits
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.settings import Improvement, Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing
from tests.unit.solver.test_oracle_weights import (
    CASES, check_answer, OBJECTIVES)
from tests.unit.solver.test_traffic import random_case

HOSTS, RACKS, TOTAL = 1_200, 60, 40
VCPUS = 2


@dataclass(frozen=True, kw_only=True)
class OnlyPreferred(Policy):
    """An external policy that cannot be hard. Each member violates it."""

    type: ClassVar[str] = 'only-preferred'
    keys: ClassVar[dict] = {}
    default_weight: ClassVar[float] = 2.0
    weight: float = 2.0

    def __post_init__(self):
        if self.weight is None:
            raise ValueError('only a preference')

    def check(self, scope, placement, snapshot):
        return Violations(len(scope.members))

    def encode(self, scope, encoder):
        encoder.penalise(self, scope, encoder.among(
            scope, encoder.snapshot.hosts))


def _used(number):
    """Return the VCPUs in use on a host; each host can take a member."""
    return 7 * number % (TOTAL - VCPUS + 1)


def _snapshot():
    return cloud(*(host(
        f'h{n}', f'r{n % RACKS}', inventories={
            'VCPU': Inventory(TOTAL, used=_used(n))})
        for n in range(HOSTS)))


def _free_shares(numbers):
    """Return the free share of each host, in ascending order."""
    return sorted(Fraction(TOTAL - _used(n), TOTAL) for n in numbers)


def _solve(members, *policies):
    return solve(group(servers('web', members, vcpus=VCPUS),
                       policies=policies), _snapshot(), objective='stack',
                 settings=Settings(timer=standing))


@pytest.mark.parametrize('level', ('host', 'rack'))
def test_members_that_prefer_different_domains_are_on_the_fullest(level):
    """The fullest host of each domain has the lowest cost."""
    cheapest = _free_shares(range(HOSTS))
    if level == 'rack':
        cheapest = sorted(
            _free_shares(range(rack, HOSTS, RACKS))[0]
            for rack in range(RACKS))
    plan = _solve(8, AntiAffinity(level=level, weight=3.0))
    assert plan.preference_cost.value == 0
    assert plan.objective.value == pytest.approx(float(sum(cheapest[:8])))
    assert plan.objective.gap == pytest.approx(0, abs=1e-4)


def test_a_policy_without_a_hard_form_keeps_its_weight():
    plan = _solve(4, OnlyPreferred(), AntiAffinity(weight=1.0))
    assert plan.preference_cost.value == 8
    assert len(set(plan.hosts().values())) == 4


def test_contradictory_preferences_lead_to_a_plan_that_violates_the_lighter():
    plan = _solve(4, Affinity(level='rack', weight=5.0),
                  AntiAffinity(level='rack', weight=1.0))
    racks = {placement.location[0] for placement in plan.placements}
    assert len(racks) == 1
    assert plan.preference_cost.value == 3


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_plans_of_small_clouds_equal_the_best_of_all_plans(objective):
    """The limit of hosts is lower than in an installation, so that exhaustive
    search is possible."""
    first = replace(Limits(), phases=replace(
        Limits().phases, preferred_hosts=0))
    planned = sum(check_answer(
        seed, objective, Strategy.AUTO, limits=first, gap=0.0)
        for seed in range(CASES, 3 * CASES))
    assert planned > CASES


def test_plans_that_violate_no_preference_violate_no_hard_form():
    satisfied = 0
    for seed in range(70_000, 70_000 + times(200)):
        shop, snapshot, _ = random_case(seed)
        chance = random.Random(seed)
        where = {m.path: chance.choice(snapshot.hosts)
                 for m in shop.all_members()}
        for before, after in zip(shop.scopes(),
                                 with_hard_forms(shop).scopes()):
            for weighted, hard in zip(before.group.rules, after.group.rules):
                if not weighted.check(before, where, snapshot).count:
                    satisfied += not weighted.hard
                    assert not hard.check(after, where, snapshot).count
    assert satisfied


def test_traffic_between_few_servers_stays_in_a_rack():
    """Without uplinks of limited capacity, a hard relationship with traffic
    would permit servers in different racks. Therefore, the hard form of the
    preference is an affinity."""
    relationship = Bandwidth(level='rack', mbps=10, weight=0.5,
                             between=('web', 'db'))
    shop = group(servers('web', 3), servers('db', 3),
                 policies=[AntiAffinity(weight=1.0)],
                 relationships=[relationship])
    hard, = with_hard_forms(shop).relationships
    assert isinstance(hard, RelationshipAffinity)
    assert (hard.hard, hard.level, hard.between) == (
        True, 'rack', ('web', 'db'))
    plan = solve(shop, _snapshot(), objective='network',
                 settings=Settings(timer=standing, improvement=Improvement(
                     failures=0)))
    assert plan.preference_cost.value == 0
    assert len({each.location for each in plan.placements}) == 1
    # Each of the nine pairs uses two uplinks of hosts in the same rack.
    assert plan.objective.value == 9 * 10 * 2


def test_a_program_counts_traffic_that_is_an_affinity():
    """A program with the affinity in place of the traffic numbered the sides
    after its classes. All pairs then had the largest distance, and the bound
    was 800."""
    traffic = Bandwidth(level='rack', mbps=100, weight=0.001,
                        between=('db', 'web'))
    shop = group(
        servers('db', vcpus=3), groups=[group(
            servers('a', vcpus=3), servers('b', vcpus=3), name='web')],
        relationships=[traffic, RelationshipAntiAffinity(
            between=('web/a', 'web/b'))])
    forced = replace(Limits(), phases=replace(
        Limits().phases, preferred_hosts=0, large_places=1))
    plan = solve(shop, cloud(*(host(name, 'r', inventories={
        'VCPU': Inventory(16)}) for name in 'xy')), objective='network',
        settings=Settings(gap=0.0, timer=standing, limits=forced))
    # The host of one web server also has the database.
    assert plan.objective.value == plan.objective.bound == 200
