# SPDX-License-Identifier: Apache-2.0
"""The greedy plan, which needs no backend, satisfies policies on many counts.
"""

from collections import Counter

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.location import Location
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.construct.greedy import greedy
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.incumbent import Incumbent
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import advancing
from tests.unit.solver.internal.deadlines import in_time

# Two zones of ten racks, with two to six hosts in each rack.
ZONES = cloud(*(
    host(f'z{zone}r{rack}h{number}', f'az{zone}', f'r{rack}',
         servers=number % 2, traits=frozenset('T' if number < 3 else ''),
         vcpus=8 + number)
    for zone in (1, 2) for rack in range(10)
    for number in range(2 + rack % 5)), levels=('az', 'rack', 'host'))


def first(shop, snapshot=ZONES):
    """Return the hosts of the members that greedy construction alone finds."""
    case = Case.of(bind(shop, snapshot), snapshot, {})
    counts = greedy(case, load_objective('fewest-hosts'), in_time())
    found = {path: h.name for path, h in case.placement(counts).items()}
    assert check(shop, snapshot, found) == ()
    return found


def racks(found):
    return Counter(name[:4] for name in found.values())


def test_the_greedy_plan_spreads_members_evenly_over_all_racks():
    found = first(group(servers('node', 50), policies=[
        Spread(level='rack', max_skew=1)]))
    assert sorted(racks(found).values()) == [2] * 10 + [3] * 10


def test_the_greedy_plan_keeps_a_skew_of_0():
    found = first(group(servers('node', 40), policies=[
        Spread(level='rack', max_skew=0)]))
    assert sorted(racks(found).values()) == [2] * 20


def test_the_greedy_plan_spreads_evenly_inside_one_zone():
    found = first(group(servers('node', 30), policies=[
        Affinity(level='az'), Spread(level='rack', max_skew=1),
        AntiAffinity(max_per_domain=3)]))
    assert sorted(racks(found).values()) == [3] * 10


def test_the_greedy_plan_keeps_min_domains():
    found = first(group(servers('node', 8), policies=[
        Spread(level='rack', min_domains=7)]))
    assert len(racks(found)) >= 7


def test_the_greedy_plan_keeps_exclusive_traits_and_location():
    shop = group(servers('web', 6), groups=[Group('db', (
        servers('node', 12),), (), (Exclusive(), Traits(has=frozenset('T')),
                                    Location(path=('az2',))))])
    found = first(shop)
    inside = {n for path, n in found.items() if path.startswith('db/')}
    assert all(n[:2] == 'z2' and n[-1] in '02' for n in inside)
    assert not inside & {
        n for path, n in found.items() if not path.startswith('db/')}


def test_the_first_plan_has_enough_hosts_for_members_that_all_differ(
        set_limits):
    """The number of candidate hosts follows from the members and their limits.
    """
    set_limits('construct', roomy_hosts=2, further_hosts=1, hosts_per_kind=1,
               all_hosts=0, all_places=0)
    shop = group(*(servers(f'm{n}', vcpus=1 + n % 7) for n in range(40)),
                 policies=[AntiAffinity(max_per_domain=2)])
    snapshot = cloud(*(host(f'h{n}', f'r{n // 8}', vcpus=64)
                       for n in range(60)))
    known = Incumbent(bind(shop, snapshot), snapshot, {},
                      load_objective('fewest-hosts'), 0.01)
    first_plan(known, in_time())
    assert known.where is not None


def test_the_first_attempt_may_take_longer_than_further_attempts():
    sizes = [MemberDescription(f'm{number}', Requirements(FrozenMapping({
        'VCPU': 1, 'DISK_GB': 1 + number}))) for number in range(60)]
    snapshot = cloud(*(host(f'h{number}', 'r', inventories={
        'VCPU': Inventory(8), 'DISK_GB': Inventory(1000)})
        for number in range(10)))

    def planned(longest):
        known = Incumbent(bind(group(*sizes), snapshot), snapshot, {},
                          load_objective('spread'), 0.0)
        # The timer advances each time it is read, at least once per member.
        timer = advancing(1.0)
        first_plan(known, Deadline(timer, 30.0), Deadline(timer, longest))
        return known.where is not None

    assert planned(3000.0)
    assert not planned(30.0)
