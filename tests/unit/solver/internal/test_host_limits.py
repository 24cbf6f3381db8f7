# SPDX-License-Identifier: Apache-2.0
"""The bound of the number of hosts from the limits of hosts, compared with all
plans of small groups."""

from collections import Counter
import random

from nova_holistic.model.binding import bind
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.decomposition.fewest_hosts import hosts_of_limits
from nova_holistic.solver.problem.kinds import (
    Kinds, limits_per_host, most_on_a_host)
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.test_nested_domains import (
    _AllPlans, _random_cloud, _random_group)
from tests.unit.solver.scenario import plan


def _counted(wanted, snapshot):
    kinds = Kinds.of(bind(wanted, snapshot), snapshot, {}, in_time().check)
    return hosts_of_limits(kinds, in_time().check)


def test_no_plan_uses_fewer_hosts_than_the_bound():
    found = Counter()
    for seed in range(times(3000)):
        chance = random.Random(seed)
        snapshot, wanted = _random_cloud(chance), _random_group(chance)
        least = _AllPlans(wanted, snapshot).least()
        if least is None:
            continue
        bound = _counted(wanted, snapshot)
        assert bound <= least, seed
        found['plans'] += 1
        found['exact'] += bound == least
        found['several'] += bound > 1
    assert found['exact'] > found['plans'] / 10
    assert found['several'] > found['plans'] / 10


def test_members_of_other_groups_do_not_hide_the_limit():
    """Eight servers are on eight different hosts. Other servers request the
    same amounts, without a limit. One host has no capacity for any of them."""
    snapshot = cloud(host('full', 'r', vcpus=0), *(
        host(f'h{number}', 'r', vcpus=100) for number in range(12)))
    wanted = group(groups=[
        group(servers('m', 8), name='a', policies=[AntiAffinity()]),
        group(servers('m', 9), name='b')])
    assert _counted(wanted, snapshot) == 8
    found = plan(snapshot, wanted, objective='fewest-hosts').objective
    assert (found.value, found.bound) == (8, 8)


def test_small_hosts_take_fewer_members_than_the_limit():
    """The limit allows three members on each host. The hosts have capacity for
    two, two and one."""
    snapshot = cloud(*(host(f'h{number}', 'r', vcpus=vcpus)
                       for number, vcpus in enumerate((2, 2, 1))))
    wanted = group(servers('m', 5), policies=[AntiAffinity(max_per_domain=3)])
    assert _counted(wanted, snapshot) == 3


def test_the_limits_of_all_groups_around_the_members_count():
    inner = group(servers('n', 4), name='inner',
                  policies=[AntiAffinity(max_per_domain=2)])
    outer = group(servers('m', 5), groups=[inner], name='outer',
                  policies=[AntiAffinity(max_per_domain=4)])
    wanted = group(groups=[outer, group(servers('m', 3), name='other')],
                   policies=[AntiAffinity(max_per_domain=6)])
    limits = limits_per_host(wanted)
    assert limits == {'': 6, 'outer': 4, 'outer/inner': 2}

    def most(*names):
        return most_on_a_host(limits, [
            m.path for m in wanted.all_members()
            if m.path.startswith(names)])

    assert most('outer', 'other') == 6
    assert most('outer') == 4
    assert most('outer/inner') == 2
    assert most('outer/m-0', 'outer/inner') == 3
    assert most('other') == 3
    assert most('outer/inner/n-0', 'other/m-0') == 2
    assert not most('none')
