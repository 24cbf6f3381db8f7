# SPDX-License-Identifier: Apache-2.0
"""Hosts that cover members of many different sizes lead to a plan with few
hosts."""

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.phases.cover_plan import plan_on_cover
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.incumbent import Incumbent
from tests.unit.builders import cloud, group, host
from tests.unit.solver.clocks import advancing
from tests.unit.solver.internal.deadlines import in_time

# Two zones of thirty hosts with 8 VCPUs each.
ZONES = cloud(*(
    host(f'z{zone}h{number}', f'az{zone}', f'r{number % 5}', inventories={
        'VCPU': Inventory(total=8), 'MEMORY_MB': Inventory(total=4096)})
    for zone in (1, 2) for number in range(30)), levels=('az', 'rack', 'host'))

# Forty members of different sizes; they request 80 VCPUs, the capacity of ten
# hosts.
DIFFERENT = [MemberDescription(f'm{number}', Requirements(FrozenMapping({
    'VCPU': (1, 2, 3, 2)[number % 4], 'MEMORY_MB': 100 + number})))
    for number in range(40)]


def _known(objective, *policies, placed=FrozenMapping()):
    """Return an incumbent without a plan."""
    goal = load_objective(objective)
    bound = bind(group(*DIFFERENT, policies=policies), ZONES)
    return Incumbent(bound, ZONES, placed, goal.for_group(bound), 0.0)


def _alone(known):
    """Offer a plan with each member alone on a host, in both zones."""
    hosts = {h.name: h for h in ZONES.hosts}
    assert known.offer({
        member.path: hosts[f'z{1 + number % 2}h{number // 2}']
        for number, member in enumerate(known.members)})


def _used(known):
    return {h.name for h in known.where.values()}


def _per_zone(known):
    zones = [h.name[:2] for h in known.where.values()]
    return zones.count('z1'), zones.count('z2')


@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack'])
def test_forty_members_need_hardly_more_hosts_than_their_amounts(objective):
    known = _known(objective, Spread(level='az', max_skew=0))
    _alone(known)
    plan_on_cover(known, in_time())
    assert 10 <= len(_used(known)) <= 11
    assert _per_zone(known) == (20, 20)


def test_the_hosts_have_room_for_the_number_of_members_as_well():
    known = _known('fewest-hosts', AntiAffinity(max_per_domain=2),
                   Spread(level='az', max_skew=2))
    _alone(known)
    plan_on_cover(known, in_time())
    assert known.bound == pytest.approx(20)
    assert 20 <= len(_used(known)) <= 22


def test_the_amounts_prove_a_bound():
    known = _known('fewest-hosts')
    _alone(known)
    plan_on_cover(known, in_time())
    assert known.bound == pytest.approx(10)


def test_members_that_stay_keep_their_hosts():
    known = _known('fewest-hosts', placed=FrozenMapping({'m0': 'z2h29'}))
    first_plan(known, in_time())
    plan_on_cover(known, in_time())
    assert known.where['m0'].name == 'z2h29'
    assert len(_used(known)) <= 11


def test_objectives_with_rising_costs_of_hosts_are_not_concerned():
    known = _known('spread')
    _alone(known)
    before = known.where
    plan_on_cover(known, in_time())
    assert known.where is before


def test_nothing_is_done_without_a_plan():
    known = _known('fewest-hosts')
    plan_on_cover(known, in_time())
    assert known.where is None


@pytest.mark.parametrize('readings', [1, 5, 10, 20, 50, 100])
def test_the_plan_is_kept_when_the_time_ends(readings):
    known = _known('fewest-hosts')
    _alone(known)
    plan_on_cover(known, Deadline(advancing(1.0), readings))
    assert known.where is not None
