# SPDX-License-Identifier: Apache-2.0
"""Policies on domains determine the minimum number of hosts of a group."""

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.settings import Settings
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.scenario import plan

RACKS = 80
"""Number of racks, above the number that the relaxation distinguishes."""


def bound(members, *policies, placed=None, racks=RACKS):
    """Return the proved minimum number of hosts. Each host has room for all
    members."""
    snapshot = cloud(*(
        host(f'r{rack}h{number}', f'r{rack}', vcpus=100)
        for rack in range(racks) for number in range(2)))
    found = plan(snapshot, group(servers('node', members), policies=policies),
                 objective='fewest-hosts', placed=placed or {},
                 settings=Settings('decomposed'))
    return found.objective.bound


@pytest.mark.parametrize('policy', [
    AntiAffinity(level='rack', max_per_domain=4),
    Spread(level='rack', min_domains=5)], ids=['at most 4', 'at least 5'])
def test_each_rack_that_is_needed_has_a_host_in_use(policy):
    assert bound(20, policy) == 5


def test_an_even_spread_needs_a_host_in_each_rack():
    assert bound(20, Spread(level='rack', max_skew=1), racks=8) == 8


def test_racks_of_members_that_stay_are_not_needed_again():
    placed = {f'node-{number}': f'r{number // 4}h0' for number in range(8)}
    fixed = bound(20, AntiAffinity(level='rack', max_per_domain=4),
                  placed=placed)
    assert fixed == 5


def test_room_beside_a_member_that_stays_is_counted():
    """One of 5 members stays, and the others fit into its rack and one other
    rack."""
    assert bound(5, AntiAffinity(level='rack', max_per_domain=3),
                 placed={'node-0': 'r0h0'}) == 2


def test_without_policies_one_host_is_enough():
    assert bound(20) == 1


def test_the_relaxation_uses_as_many_hosts():
    """It does not distinguish the racks, but it knows their number."""
    snapshot = cloud(*(host(f'r{rack}h', f'r{rack}', vcpus=100)
                       for rack in range(RACKS)))
    kinds = Kinds.of(bind(group(servers('node', 20), policies=[
        Spread(level='rack', min_domains=5)]), snapshot), snapshot, {})
    merged = HostAggregation(kinds, cells(kinds, in_time().check),
                             load_objective('fewest-hosts').host_cost(),
                             in_time())
    merged.run()
    assert merged.bound == pytest.approx(5, abs=1e-6)


def test_a_member_that_stays_in_a_disabled_rack_needs_no_other_rack():
    """The even spread counts only racks with an enabled host. The new member
    uses one of them, and the other one stays empty."""
    snapshot = cloud(*(host(f'h{number}', f'r{number}', enabled=number < 2)
                       for number in range(3)))
    found = plan(snapshot, group(servers('node', 2), policies=[
        Spread(level='rack', max_skew=1)]), objective='fewest-hosts',
        placed={'node-0': 'h2'}, settings=Settings('decomposed'))
    assert found.objective.value == 2
    assert found.objective.bound <= 2
