# SPDX-License-Identifier: Apache-2.0
"""A few members join a group whose other members stay. No integer program is
solved, and few hosts and policies are evaluated."""

from collections import Counter

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.construct.insertion import insert_members
from nova_holistic.solver.evaluation.policy_evaluation import PolicyEvaluation
from nova_holistic.solver.milp.highs import HiGHS
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.rules import scoped_policies
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited
from tests.unit.solver.strategies import OBJECTIVES, seeded
from tests.unit.solver.test_insertion import (
    all_but, broken_already, INSERTIONS, planned, shop)


@pytest.fixture
def programs(monkeypatch):
    """Record the programs that the solver solves."""
    given = []
    solved = HiGHS.solve

    def count(self, problem, **how):
        given.append(problem)
        return solved(self, problem, **how)

    monkeypatch.setattr(HiGHS, 'solve', count)
    return given


@pytest.mark.parametrize(('objective', 'more'), INSERTIONS)
def test_members_join_a_planned_group_without_an_integer_program(
        objective, more, programs):
    where, there = planned(objective)
    programs.clear()
    solve(shop(30 + more), there, placed=where, objective=objective)
    assert not programs


def test_a_program_finds_fewer_hosts_than_insertion_on_few_hosts():
    """The members fill two hosts exactly, but insertion of the largest first
    uses a third host, and its bound is two."""
    wanted = group(servers('large', 2, 4), servers('small', 4, 3))
    there = cloud(*(host(f'h{n}', 'r', vcpus=10) for n in range(300)))

    def used(**limits):
        with limited('construct', **limits):
            return solve(wanted, there,
                         objective='fewest-hosts').objective.value

    assert used() == 2
    assert used(exact_insertion_places=0) == 3


def test_a_preference_that_is_broken_already_costs_no_program(programs):
    wanted, there, where = broken_already()
    solve(wanted, there, placed=where)
    assert not programs


@pytest.mark.parametrize('objective', OBJECTIVES[:3])
@pytest.mark.parametrize('number', [1, 3])
def test_members_of_random_groups_are_inserted(number, objective):
    """The members are inserted, and not only passed to an integer program."""
    made = []
    for seed in range(times(60)):
        case = all_but(number, seed, objective)
        if case is not None:
            wanted, snapshot, placed = case
            made += [_inserted(wanted, snapshot, fixed, objective)
                     for fixed in ({}, placed)]
    assert sum(each is not None for each in made) >= times(60) // 30


def _inserted(wanted, snapshot, placed, objective):
    """Return a plan in which the other members join those that stay, or None.
    """
    snapshot = snapshot.without_servers(placed.values())
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, placed,
                      load_objective(objective).for_group(bound), 0.01)
    return insert_members(known, in_time(10.0), always=True)


def test_insertion_checks_policies_on_few_hosts(monkeypatch):
    """Policies are not checked on all hosts, although each host in use is a
    separate domain."""
    where, there = planned()
    asked = Counter()
    for kind in (AntiAffinity, Spread):
        check = kind.check

        def count(self, scope, placement, snapshot, check=check):
            asked[scope.path] += 1
            return check(self, scope, placement, snapshot)

        monkeypatch.setattr(kind, 'check', count)
    solve(shop(31), there, placed=where)
    # The tests check every plan independently, with one call per policy.
    asked.subtract(['', 'front', 'back'])
    # The emptiest host is accepted, and the check of other hosts is skipped.
    assert 3 <= sum(asked.values()) <= 12
    assert asked['back'] == 1


def test_insertion_looks_up_the_domains_of_few_hosts(monkeypatch):
    where, there = planned()
    solve(shop(31), there, placed=where)
    looked = Counter()
    domain = type(there).domain

    def count(self, host, level):
        looked[host.name] += 1
        return domain(self, host, level)

    monkeypatch.setattr(type(there), 'domain', count)
    solve(shop(31), there, placed=where)
    # Only hosts of placed members and a few candidates are looked up.
    assert len(looked) <= len(set(where.values())) + 5


def test_hosts_that_a_policy_treats_as_equal_are_equal():
    """The test covers every type of policy on random clouds, with random
    placed members."""
    alike = 0
    for seed in range(times(600)):
        wanted, snapshot = seeded(seed, hosts=12, members=3).read()
        table = HostTable.of(snapshot)
        where = {m.path: snapshot.hosts[(seed + n * n) % len(table)]
                 for n, m in enumerate(wanted.all_members())}
        policies = tuple(scoped_policies(wanted))
        for member in wanted.all_members():
            alike += _alike(member, where, policies, table, snapshot)
    assert alike > times(600)


def _alike(member, where, policies, table, snapshot):
    """Return the number of hosts that were compared with an equivalent host.
    """
    others = {p: h for p, h in where.items() if p != member.path}
    evaluate = PolicyEvaluation(table, snapshot, policies, others, {
        table.index[h.name] for h in others.values()})
    fine = evaluate.admitted(member, np.flatnonzero(
        Eligibility(table).suitable(member.requirements)))
    compared = 0
    for each in policies:
        counts = {}
        host_types = evaluate.host_types(each, member, fine)
        for h, sort in zip(fine.tolist(), host_types.tolist()):
            found = each.policy.check(each.scope, {
                **others, member.path: table.hosts[h]}, snapshot).count
            compared += sort in counts
            assert counts.setdefault(sort, found) == found, each
    return compared


@pytest.mark.parametrize('covered', [0, 500])
def test_a_bound_does_not_count_a_host_that_is_overcommitted(covered):
    """Three members fit on an empty host. The third host has free memory, and
    more VCPUs are in use than its capacity."""
    snapshot = cloud(*(host(name, 'r1', inventories={
        'VCPU': Inventory(8, used=used), 'MEMORY_MB': Inventory(8)})
        for name, used in (('one', 0), ('two', 0), ('over', 9))))
    wanted = group(MemberDescription('m', Requirements(FrozenMapping({
        'VCPU': 1, 'MEMORY_MB': 2})), 3))
    with limited('problem', covered_members=covered):
        found = _inserted(wanted, snapshot, {}, 'stack')
    assert found.bound == pytest.approx(1.0, abs=1e-5)
