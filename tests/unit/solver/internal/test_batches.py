# SPDX-License-Identifier: Apache-2.0
"""A group of many independent parts is placed in batches, each on few hosts.
"""

from collections import Counter
from dataclasses import replace

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity, SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.batches import (
    Batch, batches, next_order, order_of, with_failed)
from nova_holistic.solver.construct.by_batches import BatchConstruction
from nova_holistic.solver.construct import first_plan as first_plans
from nova_holistic.solver.construct.promising_hosts import PromisingHosts
from nova_holistic.solver.improve import search
from nova_holistic.solver.improve.search import improve
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.limits.current import construct
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.ruin_recreate.part_search import PartSearch
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.agreement import is_sound
from tests.unit.solver.clocks import advancing
from tests.unit.solver.internal.deadlines import in_time, task
from tests.unit.solver.internal.limited import limited
from tests.unit.solver.strategies import OBJECTIVES
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships

RACKS = cloud(*(
    host(f'r{rack}h{number}', f'r{rack}', servers=number % 2,
         traits=frozenset('T' if number == 3 else ''), vcpus=16 + number)
    for rack in range(20) for number in range(4)), levels=('rack', 'host'))


def tier(name, number, *policies):
    return Group(name, (servers('node', number),), (), policies)


def incumbent(shop, snapshot=RACKS, placed=FrozenMapping(),
              objective='stack'):
    bound = bind(shop, snapshot)
    return Incumbent(bound, snapshot.without_servers(placed.values()), placed,
                     load_objective(objective).for_group(bound), 0.01)


@pytest.fixture
def only_batches(monkeypatch):
    """Disable all other constructions, so that only batches find a plan."""
    monkeypatch.setattr(first_plans, 'plans', lambda *_: iter(()))


def planned(shop, snapshot=RACKS, placed=FrozenMapping(), objective='stack'):
    known = incumbent(shop, snapshot, placed, objective)
    first_plans.first_plan(known, in_time())
    found = {path: each.name for path, each in known.where.items()}
    assert check(shop, snapshot, found, placed=placed) == ()
    return found


def test_parts_that_no_policy_connects_are_in_several_batches():
    found = batches(incumbent(group(groups=[
        tier(f'g{number}', 6, AntiAffinity()) for number in range(40)])), 100)
    assert len(found) > 2
    assert sum(len(each.members) for each in found) == 240
    for number in range(40):
        inside = {n for n, each in enumerate(found) for m in each.members
                  if m.path.startswith(f'g{number}/')}
        assert len(inside) == 1


def test_members_with_traffic_are_placed_first_and_improved_with_others():
    sides = [tier('a', 3), tier('b', 3)]
    known = incumbent(group(groups=[
        *(tier(f'g{number}', 6, AntiAffinity()) for number in range(3)),
        group(groups=sides, name='talking', relationships=[Bandwidth(
            level='rack', mbps=1, between=('a', 'b'))])]))
    first, *others = batches(known, 100, constructs=True)
    assert {m.path.split('/')[0] for m in first.members} == {'talking'}
    assert [len(each.members) for each in others] == [18]
    assert [len(each.members) for each in batches(known, 100)] == [24]


def test_members_that_a_policy_connects_are_in_one_batch():
    shop = group(policies=[AntiAffinity(max_per_domain=4)], groups=[
        tier(f'g{number}', 6) for number in range(40)])
    assert len(batches(incumbent(shop), 100)) == 1


def test_all_batches_keep_their_policies(only_batches):
    policies = (AntiAffinity(), Spread(level='rack', max_skew=1),
                Affinity(level='rack'))
    shop = group(groups=[tier(f'g{number}', 6, policies[number % 3])
                         for number in range(25)])
    assert len(batches(incumbent(shop), 100)) > 1
    planned(shop)


def test_exclusive_hosts_of_a_batch_stay_closed_for_the_next(only_batches):
    shop = group(groups=[tier(f'alone{number}', 2, Exclusive())
                         for number in range(5)]
                 + [tier(f'g{number}', 6, AntiAffinity())
                    for number in range(25)])
    found = planned(shop)
    closed = {name for path, name in found.items() if path[0] == 'a'}
    assert not closed & {name for path, name in found.items()
                         if path[0] == 'g'}


def test_members_that_stay_keep_their_hosts(only_batches):
    shop = group(groups=[tier(f'g{number}', 6, AntiAffinity())
                         for number in range(30)])
    placed = FrozenMapping({'g0/node-0': 'r0h0', 'g7/node-5': 'r3h2'})
    found = planned(shop, RACKS, placed)
    assert found['g0/node-0'] == 'r0h0' and found['g7/node-5'] == 'r3h2'


def test_a_batch_without_hosts_is_placed_first(only_batches):
    """The first batches prefer hosts with the trait, which are the largest.
    They would leave no room for the last batch."""
    snapshot = cloud(
        *(host(f'big{number}', 'r0', vcpus=24, traits=frozenset('T'))
          for number in range(2)),
        *(host(f'small{number}', f'r{number}', vcpus=3)
          for number in range(60)), levels=('rack', 'host'))
    shop = group(groups=[
        *(tier(f'g{number}', 3, Affinity()) for number in range(50)),
        tier('last', 45, Traits(has=frozenset('T')))])
    found = planned(shop, snapshot)
    assert {name[:3] for path, name in found.items()
            if path.startswith('last/')} == {'big'}


def _in_the_way(first, trait):
    """Small groups that prefer the largest hosts, and a group that needs all
    hosts with the trait."""
    return [*(tier(f'g{number}', 3, Affinity())
              for number in range(first, first + 18)),
            tier(f'last-{trait}', 45, Traits(has=frozenset(trait)))]


def test_two_batches_that_need_each_others_hosts_get_hosts(only_batches):
    """Whichever batch is placed first leaves too few hosts for the large group
    of the other batch."""
    snapshot = cloud(
        *(host(f'{trait}{number}', 'r0', vcpus=24, traits=frozenset(trait))
          for trait in 'TU' for number in range(2)),
        *(host(f'small{number}', f'r{number}', vcpus=3)
          for number in range(60)), levels=('rack', 'host'))
    shop = group(groups=[*_in_the_way(0, 'T'), *_in_the_way(18, 'U')])
    assert [len(each.members) for each in batches(
        incumbent(shop, snapshot), 100)] == [99, 99]
    found = planned(shop, snapshot)
    for trait in 'TU':
        assert {name[0] for path, name in found.items()
                if path.startswith(f'last-{trait}/')} == {trait}


def test_only_members_whose_hosts_are_needed_are_placed_again(
        only_batches, monkeypatch):
    """The last group needs the large hosts. The batch before it placed some of
    its members there, and the other members stay."""
    snapshot = cloud(
        *(host(f'big{number}', 'r0', vcpus=24, traits=frozenset('T'))
          for number in range(2)),
        *(host(f'small{number}', f'r{number}', vcpus=3)
          for number in range(60)), levels=('rack', 'host'))
    shop = group(groups=[
        *(tier(f'g{number}', 3, Affinity()) for number in range(50)),
        tier('last', 45, Traits(has=frozenset('T')))])
    placed, place = [], BatchConstruction._place

    def counted(self, batch, *others):
        done = place(self, batch, *others)
        placed.extend(batch.members if done else ())
        return done

    monkeypatch.setattr(BatchConstruction, '_place', counted)
    planned(shop, snapshot)
    assert 195 < len(placed) < 270


def test_a_part_that_is_too_large_is_placed_first_only_once(
        only_batches, monkeypatch):
    shop = group(groups=[
        *(tier(f'g{number}', 3, Affinity()) for number in range(50)),
        tier('last', 21, Traits(has=frozenset('T')),
             AntiAffinity())])
    tries, place = [], BatchConstruction._place

    def counted(self, batch, *others):
        tries.append(len(batch.members))
        return place(self, batch, *others)

    monkeypatch.setattr(BatchConstruction, '_place', counted)
    known = incumbent(shop)
    first_plans.first_plan(known, in_time())
    assert known.where is None
    assert tries.count(21) == 4


def test_parts_that_take_the_hosts_of_each_other_are_placed_together(
        only_batches):
    """Group a needs x and one other host, and group b needs x or one of these
    hosts. Each of them alone is placed on the hosts that the other needs."""
    snapshot = cloud(*(
        host(name, 'r0', vcpus=1, traits=frozenset(traits))
        for name, traits in (('x', 'TUX'), ('y', 'TU'), ('z', 'T'),
                             ('w', 'W'))), levels=('rack', 'host'))
    shop = group(groups=[
        Group('a', (), (
            tier('first', 1, Traits(has=frozenset('X'))),
            tier('second', 1, Traits(has=frozenset('T')))), (
                AntiAffinity(),)),
        tier('c', 1, Traits(has=frozenset('W'))),
        tier('b', 1, Traits(has=frozenset('U')))])
    with limited('construct', batch_members=3):
        found = planned(shop, snapshot)
    assert found == {'a/first/node-0': 'x', 'a/second/node-0': 'z',
                     'b/node-0': 'y', 'c/node-0': 'w'}


def test_each_part_is_in_one_batch_after_it_failed_again():
    """First a and b fit in one batch; then c comes before them, and all three
    are too large for one batch."""
    a, b, c = batches(incumbent(group(groups=[
        tier(name, 2, AntiAffinity()) for name in 'abc'])), 1)
    with limited('construct', batch_members=5):
        first = with_failed([a, b], b, 1)
        assert first == [Batch.of([a, b])]
        again = with_failed([c, *first], b, 1)
    assert again == [b, c, a]


def test_parts_that_fail_in_one_order_are_placed_in_the_other_order():
    """Part b fails, and then a, after b. Before both share one batch, a is
    placed before b."""
    a, b = batches(incumbent(group(groups=[
        tier(name, 2, AntiAffinity()) for name in 'ab'])), 1)
    tried = {()}
    orders = [[a]]
    for failed in (b, a, b):
        tried.add(order_of(orders[-1]))
        at = next((n for n, each in enumerate(orders[-1])
                   if failed in (each, *each.parts)), None)
        orders.append(next_order(orders[-1], failed, at, tried))
    assert orders == [[a], [b, a], [a, b], [Batch.of([a, b])]]


@pytest.mark.parametrize('objective', OBJECTIVES)
@pytest.mark.filterwarnings('error::RuntimeWarning')
def test_members_without_resources_have_a_first_plan(only_batches, objective):
    shop = group(groups=[
        group(MemberDescription('m', Requirements(FrozenMapping()), 3),
              name=name, policies=[AntiAffinity()]) for name in 'ab'])
    with limited('construct', batch_members=3):
        planned(shop, objective=objective)


def test_members_are_on_the_hosts_that_cost_the_least(only_batches):
    """The objective spread prefers large hosts that are half full to small
    empty hosts, and places members on all of them."""
    snapshot = cloud(
        *(host(f'large{number}', 'r0', inventories={
            'VCPU': Inventory(total=64, used=32)}) for number in range(3)),
        *(host(f'small{number}', f'r{number}') for number in range(60)),
        levels=('rack', 'host'))
    shop = group(groups=[
        Group(f'g{number}', (servers('node', 3, vcpus=8),), (), (
            AntiAffinity(max_per_domain=2),)) for number in range(2)])
    with limited('construct', batch_members=3):
        found = planned(shop, snapshot, objective='spread')
    assert Counter(found.values()) == {
        f'large{number}': 2 for number in range(3)}


def test_cheap_hosts_are_chosen_only_while_enough_time_is_left(
        only_batches, monkeypatch):
    """After seven tenths of the time, the first of two batches is late."""
    chosen, choose = [], PromisingHosts.choose

    def counted(self, table, freed, *others):
        chosen.append(len(freed))
        return choose(self, table, freed, *others)

    monkeypatch.setattr(PromisingHosts, 'choose', counted)
    known = incumbent(group(groups=[
        tier(f'g{number}', 20, AntiAffinity()) for number in range(8)]))
    first_plans.first_plan(known, Deadline(lambda: 7.0, 10.0, 0.0))
    assert known.where is not None
    assert chosen == [60]


def test_batches_may_use_the_time_of_later_phases(only_batches):
    """Without a plan, later phases of a large group would find none."""
    shop = group(groups=[tier(f'g{number}', 20, AntiAffinity())
                         for number in range(8)])

    def placed(last):
        known = incumbent(shop)
        timer = advancing(1.0)
        first_plans.first_plan(known, Deadline(timer, 30.0),
                               batches_until=Deadline(timer, last))
        return known.where is not None

    assert placed(3000.0)
    assert not placed(30.0)


@pytest.mark.parametrize('elapsed, number', [
    (1.0, construct().first_parts), (7.0, 2)])
def test_late_attempts_without_progress_end_the_construction(
        monkeypatch, elapsed, number):
    """Five pairs, and capacity for four: placing another pair first does not
    help."""
    attempts, failed_of = [], BatchConstruction._failed_of

    def counted(self, *arguments):
        attempts.append(arguments)
        return failed_of(self, *arguments)

    monkeypatch.setattr(BatchConstruction, '_failed_of', counted)
    snapshot = cloud(*(host(f'h{number}', 'r0', vcpus=2)
                       for number in range(4)))
    known = incumbent(group(groups=[
        tier(f'g{number}', 2, Affinity()) for number in range(5)]), snapshot)
    construction = BatchConstruction(
        known, HostTable.of(snapshot),
        *(Deadline(lambda: elapsed, limit, 0.0) for limit in (5.0, 10.0)))
    with limited('construct', batch_members=2):
        assert not construction.place(batches(known, 2, constructs=True))
    assert len(attempts) == number


def test_batches_share_the_uplinks(only_batches):
    """The traffic of the first batch uses up the uplink of one rack."""
    snapshot = cloud(
        *(host(f'r{rack}h{number}', f'r{rack}', vcpus=100,
               traits=frozenset('T' if rack < 2 else ''))
          for rack in range(3) for number in range(2)),
        links=[Link((f'r{rack}',), 510 - rack) for rack in range(2)])
    shop = group(groups=[Group(
        f'g{number}', (), (
            tier('a', 1, Traits(has=frozenset('T'))),
            tier('b', 1, Traits(lacks=frozenset('T')))), (), (
                Bandwidth(level='rack', mbps=10, between=('a', 'b')),))
        for number in range(60)])
    assert [len(each.members) for each in batches(
        incumbent(shop, snapshot), 100)] == [100, 20]
    planned(shop, snapshot)


@pytest.fixture
def steps(monkeypatch):
    """Record the cost of the plan before and after each step of a batch."""
    found = []
    run = PartSearch.run

    def stepped(self, batch, deadline):
        before = self._incumbent.plan_cost
        better = run(self, batch, deadline)
        found.append((before, self._incumbent.plan_cost))
        return better

    monkeypatch.setattr(PartSearch, 'run', stepped)
    return found


def test_steps_of_batches_satisfy_preferences(steps):
    """Each group prefers one rack, and may have two members per host at most.
    The first plan spreads them over several racks."""
    shop = group(groups=[
        tier(f'g{number}', 6, AntiAffinity(max_per_domain=2),
             SoftAffinity(level='rack')) for number in range(12)])
    known = incumbent(shop)
    hosts = RACKS.hosts[::4]
    known.offer({m.path: hosts[n % 20] for n, m in enumerate(known.members)})
    before = known.plan_cost[0]
    with limited('improve', whole_rows=0, part_members=12):
        improve(task(known),
                Improvement(failures=2))
    assert before and known.plan_cost[0] == 0
    assert len(steps) > 2
    assert all(after <= before for before, after in steps)


def test_batches_are_searched_again_with_other_random_choices(monkeypatch):
    """The search ends after this number of rounds without a better plan, or
    when the time is over."""
    seeds = []
    monkeypatch.setattr(search, 'ruin_and_recreate',
                        lambda known, deadline, seed: seeds.append(seed))
    known = incumbent(group(groups=[tier(f'g{n}', 1) for n in range(6)]))
    known.offer({m.path: RACKS.hosts[n]
                 for n, m in enumerate(known.members)})
    with limited('improve', whole_rows=-1):
        improve(task(known),
                Improvement(failures=3))
        assert seeds == [1, 2, 3]
        improve(task(known, 0.0),
                Improvement(failures=3))
    assert seeds == [1, 2, 3, 1]


def without_rules_of_the_whole(case):
    """Return the random case without the policies that connect all members."""
    shop, *others = case
    return replace(shop, policies=(), relationships=()), *others


def test_batches_agree_with_enumeration(steps):
    """Each part is a batch, both in the construction and in the improvement
    steps."""
    settings = Settings('neighbourhoods', Improvement(failures=4))
    with limited('improve', whole_rows=0, part_members=1):
        for seed in range(8000, 8000 + times(80)):
            for cases in (test_oracle_policies, test_oracle_relationships):
                is_sound(without_rules_of_the_whole(cases.random_case(seed)),
                         OBJECTIVES[seed % 3], settings=settings)
    assert len(steps) > 10


def _preferring(groups, *more):
    """Groups whose members prefer one rack, but different hosts."""
    return group(groups=[*(tier(
        f'g{number}', 4, SoftAffinity(level='rack'),
        AntiAffinity(weight=1.0)) for number in range(groups)), *more])


def _preference_cost(shop, deadline=None):
    known = incumbent(shop)
    first_plans.first_plan(known, deadline or in_time())
    return known.plan_cost[0]


def test_batches_violate_no_preference_if_possible(only_batches):
    """As costs, preferences for hosts without other members guide greedy
    construction too late: members of the next batches are placed there."""
    shop = group(groups=[tier(
        f'g{number}', 4, *[Exclusive(weight=1.0)] * (number % 4 == 0))
        for number in range(60)])
    assert len(batches(incumbent(shop), 100)) > 1
    assert _preference_cost(shop) == 0


def test_batches_with_preferences_share_hosts(only_batches):
    """As costs, the preferences spread the parts over all 80 hosts."""
    shop = group(groups=[tier(
        f'g{number}', 6, SoftAffinity(level='rack'),
        AntiAffinity(max_per_domain=2)) for number in range(30)])
    assert len(set(planned(shop).values())) < 40


def test_batches_whose_preferences_are_impossible_get_hosts(only_batches):
    """No rack has five hosts."""
    shop = _preferring(26, tier('last', 5, SoftAffinity(level='rack'),
                                AntiAffinity()))
    assert len(batches(incumbent(shop), 100)) > 1
    assert 0 < _preference_cost(shop) < float('inf')


def test_failed_attempts_without_violations_take_a_share_of_the_time(
        only_batches, monkeypatch):
    """Each of these attempts takes 13 of 60 seconds."""
    attempts, now = [], [0.0]
    place = BatchConstruction._place

    def slow(self, batch, restricted, share):
        attempts.append(all(
            each.hard for each in restricted.groups[0].policies))
        now[0] += 13 * attempts[-1]
        return not attempts[-1] and place(self, batch, restricted, share)

    monkeypatch.setattr(BatchConstruction, '_place', slow)
    cost = _preference_cost(_preferring(30), Deadline(lambda: now[0], 60.0))
    assert cost < float('inf')
    assert attempts.count(True) == 1 and attempts.count(False) > 1
