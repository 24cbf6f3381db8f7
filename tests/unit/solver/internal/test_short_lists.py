# SPDX-License-Identifier: Apache-2.0
"""Alternates are chosen from shortlists. Any choice of one place for each
member satisfies the hard policies of the whole cloud, including hosts on no
shortlist."""

import pytest

from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver import oracle, test_outsiders
from tests.unit.solver.test_joint_alternates import (
    choices, planned, roomy)

MOST = 2


@pytest.fixture(autouse=True)
def short(set_limits):
    """Make the shortlists as short as possible."""
    set_limits('alternates', all_hosts=1, hosts_per_member=0, hosts_of_group=0)


def test_any_choice_from_short_lists_satisfies_all_policies():
    found = 0
    for seed in range(90_000, 90_000 + times(150)):
        wanted, snapshot = roomy(seed)
        plan = planned(wanted, snapshot, {})
        if plan is None:
            continue
        others = alternates(PlannedGroup(wanted, snapshot, plan), MOST)
        for chosen in choices(plan.hosts(), others):
            assert oracle.violations(
                wanted, snapshot, {}, chosen) is not None, (seed, chosen)
        found += sum(map(len, others.values()))
    assert found > times(150) / 4


def test_any_choice_from_short_lists_satisfies_external_policies():
    for seed in range(2000, 2000 + times(100)):
        wanted, snapshot, placed = test_outsiders.random_case(seed)
        plan = planned(wanted, snapshot, placed)
        if plan is None:
            continue
        others = alternates(PlannedGroup(wanted, snapshot, plan, placed), MOST)
        for chosen in choices(plan.hosts(), others):
            assert test_outsiders.cost(
                wanted, snapshot, chosen) is not None, (seed, chosen)


def racks(number, size, **keys):
    return cloud(*(host(f'r{r:02}h{n}', f'r{r:02}', **keys)
                   for r in range(number) for n in range(size)))


def test_an_even_spread_counts_racks_without_a_host_on_a_list():
    """Both members could leave a rack that must hold one."""
    snapshot = racks(3, 4)
    wanted = group(servers('web', 3), policies=[
        Spread(level='rack', max_skew=0)])
    plan = solve(wanted, snapshot)
    found = alternates(PlannedGroup(wanted, snapshot, plan), MOST)
    for path, names in found.items():
        assert names
        assert {name[:3] for name in names} == {plan.hosts()[path][:3]}


def test_an_exclusive_rack_counts_other_servers_on_hosts_off_the_list():
    snapshot = cloud(*(
        host(f'{rack}h{n}', rack, servers=int(rack == 'r1' and n == 9))
        for rack in ('r1', 'r2', 'r3') for n in range(10)))
    wanted = group(servers('web'), policies=[Exclusive(level='rack')])
    plan = solve(wanted, snapshot)
    (names,) = alternates(PlannedGroup(wanted, snapshot, plan), 9).values()
    assert names and not [name for name in names if name.startswith('r1')]


def test_lists_of_descriptions_that_must_be_apart_do_not_overlap():
    snapshot = racks(4, 10)
    wanted = group(*(servers(name) for name in 'abcdefgh'),
                   policies=[AntiAffinity()])
    plan = solve(wanted, snapshot)
    found = alternates(PlannedGroup(wanted, snapshot, plan), MOST)
    names = [name for each in found.values() for name in each]
    assert len(names) == len({*names}) == 8 * MOST


def test_members_that_must_be_apart_have_all_alternates_in_a_small_group(
        set_limits):
    set_limits('alternates', hosts_of_group=16)
    snapshot = racks(8, 10)
    number = {}
    for members in (2, 4, 8, 16):
        wanted = group(servers('web', members), policies=[AntiAffinity()])
        found = alternates(
            PlannedGroup(wanted, snapshot, solve(wanted, snapshot)), 4)
        number[members] = sum(map(len, found.values()))
    # The list of a larger group has the number of hosts that one member may
    # have, and one more for each member, up to 16.
    assert number == {2: 2 * 4, 4: 4 * 4, 8: 4 + 2 * 8, 16: 4 + 16}


def test_the_answer_is_always_the_same():
    snapshot = racks(4, 10)
    wanted = group(servers('web', 6), servers('db', 4),
                   policies=[AntiAffinity(level='rack', max_per_domain=4)])
    plan = solve(wanted, snapshot)
    assert alternates(PlannedGroup(wanted, snapshot, plan), 3) == alternates(
        PlannedGroup(wanted, snapshot, plan), 3)


def test_a_time_limit_leaves_whole_rounds(set_limits):
    set_limits('alternates', hosts_per_member=3)
    snapshot = racks(4, 10)
    wanted = group(servers('web', 4), policies=[AntiAffinity()])
    plan = solve(wanted, snapshot)
    whole = alternates(PlannedGroup(wanted, snapshot, plan), 3)
    rounds = set()
    for ticks in range(1, 80):
        found = alternates(
            PlannedGroup(wanted, snapshot, plan), 3,
            settings=Settings(
                time_limit=ticks, timer=iter(range(1000)).__next__))
        (number,) = {len(names) for names in found.values()}
        rounds.add(number)
        for path, names in found.items():
            assert names == whole[path][:number]
    assert rounds == {0, 1, 2, 3}
