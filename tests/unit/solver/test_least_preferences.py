# SPDX-License-Identifier: Apache-2.0
"""What preferences cost at least, proved of clouds too large to be written
down; and plans that cost no more."""

import itertools
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.backend import Status
from nova_holistic.solver.branching import Branching
from nova_holistic.solver.cells import cells
from nova_holistic.solver.deadline import Deadline
from nova_holistic.solver.grain import at_least
from nova_holistic.solver.kinds import Kinds
from nova_holistic.solver import large
from nova_holistic.solver.linear import Linear
from nova_holistic.solver.merged import Merged
from nova_holistic.solver import search
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.agreement import is_sound
from tests.unit.solver import oracle
from tests.unit.solver.scenario import plan
from tests.unit.solver.strategies import seeded
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    """As if every group were too large to be written down as a whole."""
    monkeypatch.setattr(large, 'LARGE', -1)


@pytest.fixture
def written_down(monkeypatch):
    """The exact models of chosen hosts that are made."""
    made = []

    class Counted(search.Program):
        def __init__(self, *rest):
            made.append(self)
            super().__init__(*rest)

    monkeypatch.setattr(search, 'Program', Counted)
    return made


def relaxed(case, objective='fewest-hosts'):
    """The relaxation of all hosts, or None where there is nothing to ask."""
    wanted, snapshot, placed = case
    snapshot = snapshot.without_servers(placed.values())
    kinds = Kinds.of(bind(wanted, snapshot), snapshot, placed)
    if kinds is None or not kinds.kinds or (
            kinds.room.sum(axis=1) < kinds.numbers).any():
        return None
    merged = Merged(kinds, cells(kinds, lambda: None),
                    load_objective(objective).outlay(),
                    Deadline(itertools.repeat(0.0).__next__, 10.0))
    merged.run()
    return merged


def random_cases():
    for seed in range(4000, 4000 + times(150)):
        yield test_oracle_policies.random_case(seed)
        yield test_oracle_relationships.random_case(seed)
    for seed in range(71_000, 71_000 + times(100)):
        case = seeded(seed)
        yield (*case.read(), case.placed)


def test_no_plan_has_preferences_that_cost_less_than_is_proved():
    told = 0
    for number, case in enumerate(random_cases()):
        objective = ('fewest-hosts', 'stack', 'spread')[number % 3]
        merged = relaxed(case, objective)
        best = oracle.best(*case, objective)
        if merged is None or best is None:
            continue
        assert not merged.impossible
        assert merged.least <= best[0] + 1e-9
        within = merged.within(best[0])
        assert within is None or within <= best[1] + 1e-6
        told += merged.least > 0
    assert told > 10


@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack', 'spread'])
def test_nor_does_an_answer_promise_too_much(objective):
    for seed in range(5000, 5000 + times(60)):
        is_sound(test_oracle_relationships.random_case(seed), objective)


def two_zones(hosts=200):
    return cloud(*(host(f'h{n}', f'az{n % 2}', f'r{n // 40}', inventories={
        'VCPU': Inventory(32, used=n * 7 % 30)}) for n in range(hosts)),
        levels=('az', 'rack', 'host'))


def shop(*wishes, relationships=()):
    """Two groups of 32 servers, evenly over the zones, of which the first
    has wishes."""
    return group(groups=[
        group(servers('small', 16), servers('large', 16, vcpus=4), name=name,
              policies=[AntiAffinity(max_per_domain=4), *more])
        for name, more in (('one', wishes), ('other', ()))],
        policies=[Spread(level='az', max_skew=2)],
        relationships=relationships)


def zones(planned, prefix):
    return {int(name[1:]) % 2 for path, name in planned.hosts.items()
            if path.startswith(prefix)}


@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack', 'spread'])
def test_a_group_that_would_stay_in_a_zone_is_kept_there(
        objective, written_down):
    found = plan(two_zones(), shop(Affinity(level='az', weight=2.0)),
                 objective=objective)
    assert len(zones(found, 'one/')) == 1
    assert found.answer.preferences[0].violations == 0
    assert not written_down


def test_so_are_two_servers_that_a_relationship_joins(written_down):
    found = plan(two_zones(), shop(relationships=[RelationshipAffinity(
        level='az', weight=1.0, between=('one/small-0', 'other/small-0'))]),
        objective='fewest-hosts')
    assert len(zones(found, 'one/small-0') | zones(
        found, 'other/small-0')) == 1
    assert not written_down


def test_of_two_wishes_that_exclude_each_other_the_dearer_is_met(
        written_down):
    wanted = shop(Affinity(level='az', weight=1.0),
                  Spread(level='az', min_domains=2, weight=3.0))
    assert relaxed((wanted, two_zones(), {})).least == 1.0
    found = plan(two_zones(), wanted, objective='fewest-hosts')
    assert [p.violations for p in found.answer.preferences] == [1, 0]
    assert not written_down


def test_a_group_in_one_zone_needs_hosts_for_its_limit_there():
    # Of 32 servers a host takes four: eight hosts, wherever they are; and
    # the others need one that is no worse in the other zone.
    snapshot = cloud(*(host(f'h{n}', f'az{n % 2}', vcpus=64)
                       for n in range(40)), levels=('az', 'host'))
    wanted = group(groups=[
        group(servers('node', 32), name='one', policies=[
            AntiAffinity(max_per_domain=4),
            Affinity(level='az', weight=1.0)]),
        group(servers('node', 32), name='other')],
        policies=[Spread(level='az', max_skew=2)])
    merged = relaxed((wanted, snapshot, {}))
    assert (merged.least, merged.bound) == (0.0, pytest.approx(8.5, abs=.6))
    found = plan(snapshot, wanted, objective='fewest-hosts')
    assert found.objective.value == 9.0


@pytest.mark.parametrize('bound, weights, proved', [
    (0.0, (2.0,), 0.0), (1e-7, (1.0,), 0.0), (0.2, (1.0,), 1.0),
    (1.0 + 1e-7, (1.0,), 1.0), (0.9, (2.0, 3.0), 1.0),
    (2.1, (2.0, 4.0), 4.0), (0.25, (0.1, 0.2), 0.3)])
def test_a_cost_is_rounded_up_to_one_that_there_is(bound, weights, proved):
    assert at_least(bound, weights) == pytest.approx(proved, abs=1e-9)


def test_costs_that_lie_too_close_are_not_rounded_up():
    assert at_least(10.0, (1.0, 1e-7)) == pytest.approx(10.0, abs=1e-3)
    assert at_least(10.0, (1.0, 1e-7)) < 10.0


def test_branching_finds_what_a_solver_of_integer_programs_finds():
    kinds = set()
    for seed in range(times(60)):
        chance = np.random.default_rng(seed)
        size, few = 8, np.arange(8) < 4
        program = Linear(chance.normal(size=size), np.where(few, 1.0, 3.0))
        for _ in range(4):
            program.add(np.zeros(size), np.arange(size),
                        chance.integers(-3, 4, size), -np.inf,
                        float(random.Random(seed).randint(-6, 2)), 1)
        branching = Branching(program, few)
        ours = branching.solve(0.0, itertools.repeat(10.0).__next__)
        program.integer = few
        theirs, _ = program.solve(10.0)
        kinds.add(ours.status)
        assert ours.status is theirs.status
        if ours.solved:
            assert ours.bound == pytest.approx(theirs.bound, abs=1e-5)
            assert program.cost @ branching.solution == pytest.approx(
                ours.bound, abs=1e-6)
    assert kinds == {Status.OPTIMAL, Status.INFEASIBLE}
