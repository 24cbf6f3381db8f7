# SPDX-License-Identifier: Apache-2.0
"""Groups for which few hosts have room: one program of all hosts comes before
relaxations. Its bounds are compared with all plans of the group."""

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.phases.few_places import (
    improve_plan, is_nearly_full, search_few_places)
from nova_holistic.solver.phases import part_bounds
from nova_holistic.solver.problem.incumbent import Incumbent
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time, task
from tests.unit.solver.internal.limited import limited
from tests.unit.solver.internal.test_part_bounds import random_case
from tests.unit.solver import oracle

CASES = max(40, times(60))
"""Fewer cases do not contain a bound of each kind."""

WHOLE, RELAXED = 4_000, 0
"""Variables up to which the program is solved without its relaxation."""


def _known(wanted, snapshot, objective='fewest-hosts'):
    """Return an incumbent with the first plan."""
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        objective).for_group(bound), 0.0)
    first_plan(known, in_time())
    return known


def _search(known, whole=WHOLE, steps=0):
    """Search without ruin and recreate, unless ``steps`` is positive."""
    with limited('milp', searched_variables=whole, exact_variables=0), \
            limited('phases', open_hosts=0), \
            limited('improve', ruin_steps=steps):
        search_few_places(task(known))


def _search_relaxed(known):
    _search(known, RELAXED)


def _plan_costs(wanted, snapshot):
    """Return (cost of the preferences, number of hosts) of each plan."""
    return [(cost, oracle.value('fewest-hosts', wanted, snapshot, {}, where))
            for where in oracle.placements(wanted, snapshot, {})
            if (cost := oracle.violations(
                wanted, snapshot, {}, where)) is not None]


def _relax(known, open_hosts=100):
    """Improve the plan of a nearly full cloud."""
    with limited('phases', diverse_policies=0, members_per_policy=100,
                 open_hosts=open_hosts), limited('improve', ruin_steps=0):
        improve_plan(task(known),
                     Improvement(failures=1))


@pytest.mark.parametrize('search', [_search, _search_relaxed, _relax])
def test_no_plan_is_below_the_bounds(search):
    """The bounds are valid for each cost of the preferences that a plan has,
    with hard policies in place of the preferences as well."""
    proved = best = met = 0
    for seed in range(CASES):
        wanted, snapshot, placed = random_case(seed)
        if len(wanted.all_members()) > 7 or placed:
            continue
        known = _known(wanted, snapshot)
        if known.where is None:
            continue
        found = _plan_costs(wanted, snapshot)
        search(known)
        assert known.least <= min(found)[0] + 1e-9, seed
        for cost in {cost for cost, _ in found}:
            lower = known._bounds.at(cost)
            assert lower <= min(v for c, v in found if c <= cost) + 1e-7, (
                seed, cost)
            proved += lower > 0
        best += known.plan_cost == min(found)
        met += not known.plan_cost[0]
    assert proved > CASES / 4
    assert best > CASES / 4
    assert met


def _shop(number=8, *policies):
    """Members of which two hosts have room for four, and other hosts for one.
    """
    return group(servers('m', number), policies=policies), cloud(*(
        host(f'h{n}', f'r{n}', inventories={
            'VCPU': Inventory(4 if n in (5, 11) else 1)})
        for n in range(14)))


@pytest.mark.parametrize('whole', [WHOLE, RELAXED])
def test_the_program_finds_and_proves_the_fewest_hosts(whole):
    """With the relaxation, the program has the hosts that it uses."""
    known = _worst(*_shop())
    _search(known, whole)
    assert known.plan_cost == (0, 2)
    assert known.bound == pytest.approx(2)
    assert check(known.group, known.snapshot, {
        path: each.name for path, each in known.where.items()}) == ()


def _worst(wanted, snapshot):
    """Return an incumbent that uses one host for each member."""
    known = Incumbent(bind(wanted, snapshot), snapshot, {},
                      load_objective('fewest-hosts'), 0.0)
    assert known.offer({m.path: each for m, each in zip(
        known.members, snapshot.hosts)})
    return known


def test_no_relaxation_follows_a_proof(monkeypatch):
    known, relaxed = _worst(*_shop()), []
    monkeypatch.setattr(part_bounds, 'relax_policies',
                        lambda *_: relaxed.append(True))
    with limited('improve', ruin_steps=0):
        part_bounds.bound_diverse(task(known))
    assert known.plan_cost == (0, 2)
    assert not relaxed


def test_hosts_that_the_relaxation_uses_prove_nothing_about_others():
    """All six members are in one rack. The relaxation has three of them on
    each of two hosts with room for four, and the plan has three hosts. The
    rack with the fewest hosts is used by neither of them."""
    wanted = group(servers('m', 6), policies=[Affinity(level='rack')])
    snapshot = cloud(*(
        host(f'h{rack}-{n}', f'r{rack}', inventories={'VCPU': Inventory(room)})
        for rack, rooms in enumerate(
            ((2, 2, 2), (4, 1, 1), (4, 1, 1), (3, 3)))
        for n, room in enumerate(rooms)))
    known = Incumbent(bind(wanted, snapshot), snapshot, {},
                      load_objective('fewest-hosts'), 0.0)
    assert known.offer({m.path: snapshot.hosts[n // 2]
                        for n, m in enumerate(known.members)})
    _search(known, RELAXED)
    assert known.bound <= 2


def test_policies_on_domains_improve_the_bound():
    """Without the policy, two hosts hold all members. The program knows that
    each rack holds two of them."""
    known = _worst(*_shop(8, AntiAffinity(level='rack', max_per_domain=2)))
    _search(known)
    assert known.plan_cost == (0, 6)
    assert known.bound == pytest.approx(6)


@pytest.mark.parametrize('change', [
    {'few_places': 3}, {'few_places': 20}])
def test_a_program_of_many_places_is_not_built(change):
    """There are 14 hosts, and two classes have room on each of them."""
    _, snapshot = _shop()
    wanted = group(groups=[
        group(servers('m', 2), name=name, policies=[AntiAffinity()])
        for name in 'ab'])
    known = _worst(wanted, snapshot)
    with limited('phases', **change):
        _search(known)
    assert known.bound == 0


def test_a_large_program_does_not_start_with_violated_preferences():
    """One host cannot hold all eight members."""
    known = _worst(*_shop(8, Affinity(weight=1.0)))
    _search(known, RELAXED)
    assert known.plan_cost[0] > 0 and known.bound == 0
    _search(known)
    assert known.plan_cost == (1, 2)


def test_other_objectives_keep_their_plans():
    known = _known(*_shop(), objective='stack')
    before = known.where
    _search(known)
    assert known.where == before and known.bound == 0


def _full():
    """Six groups of two members on different hosts, and hosts with room for
    four or six members. All members prefer one host, which lacks room."""
    wanted = group(groups=[
        group(servers('m', 2), name=f'g{n}', policies=[AntiAffinity()])
        for n in range(6)], policies=[Affinity(weight=1.0)])
    snapshot = cloud(*(
        host(f'h{n:02}', f'r{n // 2}', inventories={
            'VCPU': Inventory(6 if n > 9 else 4)}) for n in range(12)))
    return _worst(wanted, snapshot)


def test_the_relaxation_proves_a_bound_on_a_nearly_full_cloud():
    known = _full()
    _relax(known, open_hosts=0)
    assert known.bound == 0
    _relax(known, open_hosts=1)
    assert known.bound >= 2 - 1e-6


@pytest.mark.parametrize('open_hosts, least, searches', [
    (0, 0, 1), (1, 0, 0), (1, 1, 1)])
def test_the_large_neighbourhood_search_replaces_programs_of_some_hosts(
        monkeypatch, open_hosts, least, searches):
    """The cloud has one host for each member, and the plan violates a
    preference. The programs are not replaced if every plan is known to violate
    as many preferences."""
    found, known = [], _full()
    monkeypatch.setattr(part_bounds, 'adds_up', lambda _: found.append(True))
    for search in ('search_few_places', 'search_fewer_hosts',
                   'plan_on_places'):
        monkeypatch.setattr(part_bounds, search, lambda *_: None)
    monkeypatch.setattr(
        part_bounds, 'bound_preferences',
        lambda task: known.prove_least(least * known.plan_cost[0]))
    with limited('phases', open_hosts=open_hosts, few_places=20), \
            limited('milp', exact_variables=0, searched_variables=0), \
            limited('improve', ruin_steps=0):
        assert is_nearly_full(known, in_time()) == bool(open_hosts)
        part_bounds.bound_diverse(task(known))
    assert len(found) == searches


def test_programs_also_empty_hosts_of_nearly_full_clouds():
    """The cloud has one host for each member, and any plan violates a
    preference. The first program of all hosts is too large. Each member of the
    plan is alone on its host, and four hosts have room for all of them."""
    known = _full()
    cost, hosts = known.plan_cost
    with limited('phases', open_hosts=1, few_places=20), limited(
            'milp', exact_variables=0, searched_variables=0), limited(
                'improve', ruin_steps=0, steps_per_member=0):
        assert is_nearly_full(known, in_time())
        part_bounds.bound_diverse(task(known))
    assert known.plan_cost < (cost, hosts)
    assert check(known.group, known.snapshot, {
        path: each.name for path, each in known.where.items()}) == ()


@pytest.mark.parametrize('hosts, members, share', [
    (None, 0, 0.9), (np.zeros(0, dtype=np.int64), 0, 0.9),
    (np.zeros(1, dtype=np.int64), 0, 0.7), (None, 100, 0.7)])
def test_the_last_programs_of_large_groups_get_most_of_the_time(
        monkeypatch, hosts, members, share):
    """Unless a program of the hosts that the relaxation leads to follows."""
    known, shares = _worst(*_shop()), []
    monkeypatch.setattr(part_bounds, 'relax_policies', lambda *_: hosts)
    monkeypatch.setattr(
        part_bounds, 'search_fewer_hosts',
        lambda task, share: shares.append(share()))
    with limited('phases', few_places=0, emptied_first=members):
        part_bounds.bound_diverse(task(known))
    assert shares == [share]
