# SPDX-License-Identifier: Apache-2.0
"""Coarse kinds merge members of similar amounts. A bound for the coarse kinds
is a bound for the group."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.solver.numerics import bound as bounds
from nova_holistic.solver.phases.host_cover import cover_members
from nova_holistic.solver.phases.host_relaxation import relax_policies
from nova_holistic.solver.phases import large
from nova_holistic.solver.problem.coarse_kinds import coarse
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.test_bounds import random_case

AMOUNTS = st.lists(st.tuples(st.integers(1, 16), st.integers(1, 64)),
                   min_size=1, max_size=20)


def found(amounts, traits=frozenset()):
    """Return members by their requirements, one member each."""
    shop = group(*(MemberDescription(f'm{number}', Requirements(
        FrozenMapping({'VCPU': vcpus, 'MEMORY_MB': memory}),
        required_traits=traits))
        for number, (vcpus, memory) in enumerate(amounts)))
    members: dict = {}
    for member in shop.all_members():
        members.setdefault((member.requirements, ()), []).append(member)
    return members


@given(AMOUNTS, st.integers(1, 8))
def test_each_member_requests_at_least_as_much_as_its_kind(amounts, most):
    before = found(amounts)
    after = coarse(before, most)
    assert len(after) <= max(most, 1) or len(after) == len(before)
    members = [m for mine in after.values() for m in mine]
    assert sorted(m.path for m in members) == sorted(
        m.path for mine in before.values() for m in mine)
    for (wanted, _), mine in after.items():
        for name, amount in wanted.resources.items():
            assert min(m.requirements.resources[name]
                       for m in mine) == amount


def test_members_that_differ_otherwise_stay_apart():
    before = {**found([(1, 1), (2, 2)]),
              **found([(1, 1), (2, 2)], frozenset({'FAST'}))}
    after = coarse(before, 1)
    assert len(after) == 2
    assert {wanted.required_traits for wanted, _ in after} == {
        frozenset(), frozenset({'FAST'})}


def test_kinds_have_the_requests_of_all_members():
    shop = group(*(servers(f'm{n}', 2, vcpus=n) for n in range(1, 7)))
    snapshot = cloud(host('h', vcpus=100))
    fine, joined = (Kinds.of(shop, snapshot, {}, most=most)
                    for most in (None, 2))
    assert (len(fine.kinds), len(joined.kinds)) == (6, 2)
    vcpus = fine.names.index('VCPU')
    assert fine.total[vcpus] == joined.total[vcpus] == 42
    assert not fine.is_coarse
    assert joined.is_coarse
    assert joined.numbers @ joined.amounts[:, vcpus] < 42


@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack', 'spread'])
def test_no_plan_is_better_than_a_coarse_bound(objective, set_limits):
    set_limits('phases', relaxed_kinds=1)
    proved = 0
    for seed in range(times(20)):
        wanted, snapshot = random_case(seed, objective)
        best = solve(wanted, snapshot, objective=objective,
                     settings=Settings('whole', gap=0.0, timer=standing))
        if not isinstance(best, Plan):
            continue
        shop = bind(wanted, snapshot)
        known = Incumbent(shop, snapshot, {}, load_objective(
            objective).for_group(shop), 0.01)
        hosts = {each.name: each for each in snapshot.hosts}
        assert known.offer({path: hosts[name] for path, name
                            in best.hosts().items()})
        large.relax(known, in_time())
        value = best.objective.value
        assert bounds.safe(known.objective, known.bound) <= value + 1e-6, seed
        assert known.least <= known.plan_cost[0], seed
        proved += known.bound > 0
    assert proved


def test_the_amounts_of_each_member_improve_the_bound(set_limits):
    set_limits('phases', relaxed_kinds=1)
    shop = group(*(servers(f'm{n}', vcpus=n) for n in range(1, 9)))
    snapshot = cloud(*(host(f'h{n}', vcpus=40) for n in range(8)))
    known = Incumbent(bind(shop, snapshot), snapshot, {},
                      load_objective('spread'), 0.01)
    large.relax(known, in_time())
    # The coarse kind requests 1 VCPU for each member, so all 8 members request
    # 8 of 40 VCPUs: 0.02 at the slope of 0.1. The members request 36 of 40
    # VCPUs.
    assert 0.08 < known.bound


@pytest.mark.parametrize('prove', [
    cover_members, relax_policies, large.relax])
def test_a_host_for_some_members_of_a_kind_counts(prove, set_limits):
    """The large host accepts no allocation of a single VCPU. It takes all
    members but one, so two hosts are enough."""
    set_limits('phases', relaxed_kinds=1)
    shop = group(*(servers(f'm{n}', vcpus=n) for n in range(1, 9)))
    snapshot = cloud(
        host('large', inventories={'VCPU': Inventory(100, min_unit=2)}),
        *(host(f'h{n}', vcpus=8) for n in range(6)))
    known = Incumbent(bind(shop, snapshot), snapshot, {},
                      load_objective('fewest-hosts'), 0.01)
    hosts = snapshot.by_name()
    assert known.offer({f'm{n}': hosts['large' if n > 1 else 'h0']
                        for n in range(1, 9)})
    prove(known, in_time())
    assert 0 < known.bound <= 2
