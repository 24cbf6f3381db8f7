# SPDX-License-Identifier: Apache-2.0
"""Bounds and plans of small groups by dynamic programming over domains."""

from collections import Counter
from dataclasses import dataclass
import random
from typing import ClassVar

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.phases.domain_plan import plan_by_domains
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.small_groups.domain_program import is_tree
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit import builders
from tests.unit.solver.clocks import standing
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver import oracle
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships
from tests.unit.solver import test_oracle_weights

OBJECTIVES = ('spread', 'stack', 'fewest-hosts')
LEVELS = ('az', 'rack', 'host')
WEIGHTS = (None, None, 1e-6, 0.1, 0.3, 1.0, 2.5, 1e6)


def _policy(chance, levels=LEVELS):
    weight = chance.choice(WEIGHTS)
    level = chance.choice(levels)
    return chance.choice((
        lambda: Affinity(level=level, weight=weight),
        lambda: AntiAffinity(level=level, weight=weight,
                             max_per_domain=chance.choice((1, 1, 2))),
        lambda: Spread(level=level, max_skew=chance.choice((0, 1, 1, 2)),
                       weight=weight),
        lambda: Spread(level=level, min_domains=chance.choice((2, 3)),
                       weight=weight),
        lambda: Exclusive(level=level, weight=weight),
        lambda: Traits(has=frozenset('A'), weight=weight)))()


def _relationship(chance):
    return chance.choice((RelationshipAffinity, RelationshipAntiAffinity))(
        between=('web', 'db'), level=chance.choice(LEVELS),
        weight=chance.choice(WEIGHTS))


def _racks(seed):
    """Return a group with policies on several levels, and a cloud with several
    racks in each zone; no member stays."""
    chance = random.Random(seed)
    snapshot = builders.cloud(*(builders.host(
        f'h{n}', az := chance.choice(('az1', 'az2')),
        f'{az}-r{chance.choice((1, 2))}',
        traits=frozenset('A' if chance.random() < 0.7 else ''),
        servers=chance.choice((0, 0, 1)), inventories={'VCPU': Inventory(
            chance.choice((2, 4, 6)), used=chance.choice((0, 0, 1)))})
        for n in range(chance.randint(3, 5))), levels=LEVELS)
    numbers = {'web': chance.randint(1, 3), 'db': chance.randint(0, 1)}
    wanted = builders.group(
        groups=[builders.group(
            builders.servers('m', number, vcpus=chance.choice((1, 1, 2))),
            name=name, policies=[
                _policy(chance) for _ in range(chance.choice((0, 1)))])
                for name, number in numbers.items() if number],
        policies=[_policy(chance) for _ in range(chance.choice((1, 2, 3)))],
        relationships=[_relationship(chance)]
        if numbers['db'] and chance.random() < 0.7 else [])
    return wanted, snapshot, {}


def _feeds(seed):
    """Return a group with policies on hosts and on a label of hosts, and a
    cloud in which the label crosses the racks; no member stays."""
    chance = random.Random(seed)
    snapshot = builders.cloud(*(builders.host(
        f'h{n}', chance.choice(('r1', 'r2')), labels={
            'feed': chance.choice('AB')},
        traits=frozenset('A' if chance.random() < 0.7 else ''),
        servers=chance.choice((0, 0, 1)), inventories={'VCPU': Inventory(
            chance.choice((2, 4, 6)), used=chance.choice((0, 0, 1)))})
        for n in range(chance.randint(3, 5))))
    wanted = builders.group(
        builders.servers('m', chance.randint(2, 4)),
        policies=[_policy(chance, ('feed', 'feed', 'host'))
                  for _ in range(chance.choice((1, 2, 3)))])
    return wanted, snapshot, {}


GENERATORS = {
    'racks': _racks, 'feeds': _feeds,
    'policies': test_oracle_policies.random_case,
    'relationships': test_oracle_relationships.random_case,
    'weights': test_oracle_weights.random_case}


def _solved(wanted, snapshot, placed, objective):
    """Return the incumbent after the phase, and the answer of the phase."""
    reduced = snapshot.without_servers(placed.values())
    bound = bind(wanted, reduced)
    known = Incumbent(bound, reduced, placed,
                      load_objective(objective).for_group(bound), 1e-4)
    return known, plan_by_domains(known, in_time())


@pytest.mark.parametrize('objective', OBJECTIVES)
@pytest.mark.parametrize('name', GENERATORS)
def test_no_plan_is_below_the_bounds(name, objective):
    found, number = Counter(), times(400)
    for seed in range(number):
        case = GENERATORS[name](seed)
        plans = [(cost, oracle.value(objective, *case, where))
                 for where in oracle.placements(*case)
                 if (cost := oracle.violations(*case, where)) is not None]
        known, possible = _solved(*case, objective)
        assert possible or not plans, seed
        if not plans:
            assert known.where is None, seed
            continue
        found['plans'] += 1
        best = min(plans)
        # The cost of preferences and its bound are exact.
        assert known.least <= best[0], seed
        assert known.plan_cost >= (best[0], best[1] - 1e-9), seed
        for bound, limit in known._bounds._known:
            least = min((value for cost, value in plans if cost <= limit),
                        default=float('inf'))
            assert bound <= least + 1e-12 * max(1.0, least), seed
        found['preferred'] += known.least == best[0]
        found['optimal'] += known.is_good_enough
    assert found['plans'] > number / 4
    assert found['preferred'] > found['plans'] / 2
    assert found['optimal'] > found['plans'] / 10


@dataclass(frozen=True, kw_only=True)
class Tolerant(Policy):
    """Each member of a rack in addition to two is a violation. The encoding
    has a further variable, which is 1 in a plan with two members in a rack.
    """

    type: ClassVar[str] = 'tolerant'
    keys: ClassVar[dict] = {}

    @property
    def levels(self):
        return ('rack',)

    def check(self, scope, placement, snapshot):
        counts = Counter(snapshot.domain(placement[m.path], 'rack')
                         for m in scope.members if m.path in placement)
        return Violations(max(0, max(counts.values(), default=0) - 2))

    def encode(self, scope, encoder):
        grace = encoder.integer('grace', 1)
        over = encoder.integer('over', len(scope.members))
        for rack in encoder.domains('rack'):
            encoder.require(
                encoder.count(scope, rack) - grace - over <= 1)
        encoder.penalise(self, scope, over)


def test_a_variable_without_a_cost_reduces_the_violations():
    snapshot = builders.cloud(
        builders.host('h1', 'r1', vcpus=4), builders.host('h2', 'r1'))
    wanted = builders.group(builders.servers('m', 3), policies=[
        Tolerant(weight=1.0)])
    known, _ = _solved(wanted, snapshot, {}, 'fewest-hosts')
    assert known.least <= 1


ZONES, RACKS, HOSTS, TOTAL, VCPUS = 3, 60, 1_200, 40, 2


def _used(number):
    """Return the VCPUs in use on a host; each host can take a member."""
    return 7 * number % (TOTAL - VCPUS + 1)


def _cloud():
    return builders.cloud(*(builders.host(
        f'h{n}', f'az{n % ZONES}', f'r{n % RACKS}', inventories={
            'VCPU': Inventory(TOTAL, used=_used(n))})
        for n in range(HOSTS)), levels=LEVELS)


def _racks_of_free_shares():
    """Return the free shares of the hosts of each rack, in ascending order."""
    return [sorted((TOTAL - _used(n)) / TOTAL
                   for n in range(rack, HOSTS, RACKS))
            for rack in range(RACKS)]


def _plan(wanted, objective='stack'):
    """Return the plan of all phases."""
    return solve(wanted, _cloud(), objective=objective,
                 settings=Settings(timer=standing))


@pytest.mark.parametrize('apart', (
    AntiAffinity(), Spread(level='host', max_skew=1)))
def test_members_of_one_rack_are_in_the_cheapest_rack(apart):
    """Each member needs its own host, and the cheapest hosts of all racks
    cost less than those of any single rack."""
    found = _plan(builders.group(
        builders.servers('m', 8, vcpus=VCPUS),
        policies=[Affinity(level='rack'), apart])).objective
    assert found.value == pytest.approx(min(
        sum(rack[:8]) for rack in _racks_of_free_shares()))
    assert found.gap == pytest.approx(0, abs=1e-4)


def test_sides_that_must_not_share_a_rack_have_one_host_each():
    found = _plan(builders.group(
        groups=[
            builders.group(builders.servers('m', 1, vcpus=VCPUS), name=name)
            for name in ('web', 'db')],
        relationships=[RelationshipAntiAffinity(
            between=('web', 'db'), level='rack')])).objective
    assert found.value == pytest.approx(sum(sorted(
        rack[0] for rack in _racks_of_free_shares())[:2]))
    assert found.gap == pytest.approx(0, abs=1e-4)


def test_the_smallest_cost_of_contradictory_preferences_is_proved():
    """One rack violates the spread nine times. Two zones cost 1 for the second
    rack, and 2 for the spread. Three zones cost 1 for each further rack."""
    found = _plan(builders.group(
        builders.servers('m', 10, vcpus=VCPUS), policies=[
            AntiAffinity(weight=3.0), Affinity(level='rack', weight=1.0),
            Spread(level='az', max_skew=1, weight=0.5)]), 'fewest-hosts')
    assert found.preference_cost.value == 2
    assert found.preference_cost.bound == 2
    assert found.objective.value == found.objective.bound == 10


def test_members_with_traffic_are_in_domains_without_rows_of_traffic():
    """The host with the lowest cost is in no domain of the limited level."""
    snapshot = builders.cloud(
        builders.host('h0', 'r0', vcpus=64),
        *(builders.host(f'h{n}', f'r{n}', labels={'feed': f'{n}'})
          for n in (1, 2)), links=[Link(('1',), 100, level='feed')])
    wanted = builders.group(
        builders.servers('web'), builders.servers('db'),
        policies=[Affinity(level='rack')], relationships=[
            Bandwidth(between=('web', 'db'), level='feed', mbps=50)])
    known, _ = _solved(wanted, snapshot, {}, 'spread')
    assert {host.name for host in known.where.values()} < {'h1', 'h2'}
    assert known._case is None


@pytest.mark.parametrize(('rooms', 'racks', 'tree'), [
    ((0, 0, 1, 1), (0, 1, 2, 2), True),
    ((1, 1, 0, 0), (2, 2, 0, 1), True),
    ((), (), True),
    # Two hosts of a rack are in different rooms.
    ((0, 0, 1, 1), (0, 1, 1, 2), False),
    ((0, 1), (0, 0), False),
    # A host is in no rack, or in no room.
    ((0, 0, 1), (0, -1, 1), False),
    ((0, -1, 1), (0, 1, 2), False)])
def test_each_domain_of_a_tree_is_in_one_domain_of_the_level_before(
        rooms, racks, tree):
    levels = [np.array(each, dtype=np.int64) for each in (
        rooms, racks, range(len(racks)))]
    assert is_tree(levels) == tree
