# SPDX-License-Identifier: Apache-2.0
"""Plans with few hosts are found by the places of a relaxation."""

from fractions import Fraction
import random
from types import SimpleNamespace

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.column_generation.undominated_hosts import (
    undominated_hosts)
from nova_holistic.solver.construct.batches import batches
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.construct.places_first import PlacesFirst
from nova_holistic.solver.decomposition.columns import columns
from nova_holistic.solver.numerics.kind_places import KindPlaces
from nova_holistic.solver.phases.host_relaxation import relax_policies
from nova_holistic.solver.phases import places_plan
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.subproblem import Subproblem
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited
from tests.unit.solver import oracle, test_oracle_policies

CASES = times(60)


def _incumbent(wanted, snapshot, placed=FrozenMapping()):
    snapshot = snapshot.without_servers(placed.values())
    bound = bind(wanted, snapshot)
    return Incumbent(bound, snapshot, placed, load_objective(
        'fewest-hosts').for_group(bound), 1e-6)


def _member(vcpus, memory, count):
    return MemberDescription('m', Requirements(FrozenMapping({
        'VCPU': vcpus, 'MEMORY_MB': memory})), count)


def _host(name, rack, vcpus, memory):
    return host(name, f'r{rack}', inventories={
        'VCPU': Inventory(vcpus), 'MEMORY_MB': Inventory(memory)})


def _columns(snapshot):
    """The hosts for members that request only one of two resources."""
    known = _incumbent(group(*(MemberDescription(
        name, Requirements(FrozenMapping({name: 1})), 60)
        for name in ('VCPU', 'MEMORY_MB'))), snapshot)
    kinds = Kinds.of(known.group, snapshot, {})
    return columns(kinds, np.zeros(len(snapshot.hosts), dtype=np.int64),
                   known.objective.host_cost())


def test_a_host_with_enough_better_hosts_is_not_needed():
    snapshot = cloud(*(_host(f'h{n}', 0, *size) for n, size in enumerate([
        (8, 8), (8, 8), (6, 6), (2, 12), (4, 4)])))
    found = _columns(snapshot)
    assert undominated_hosts(found, 1).tolist() == [0, 1, 3]
    assert undominated_hosts(found, 2).tolist() == [0, 1, 3]
    assert undominated_hosts(found, 3).tolist() == [0, 1, 2, 3]
    assert undominated_hosts(found, 4).tolist() == [0, 1, 2, 3, 4]


def test_every_omitted_host_has_enough_better_hosts():
    omitted = 0
    for seed in range(CASES):
        chance = random.Random(seed)
        sizes = [(chance.randrange(1, 9), chance.randrange(1, 9))
                 for _ in range(chance.randrange(2, 40))]
        found = _columns(cloud(*(
            _host(f'h{n}', 0, *size) for n, size in enumerate(sizes))))
        most = chance.randrange(1, 6)
        needed = undominated_hosts(found, most).tolist()
        for number in set(range(len(sizes))) - {*needed}:
            omitted += 1
            assert sum(
                one >= sizes[number][0] and other >= sizes[number][1]
                and (one, other) != sizes[number]
                for one, other in sizes) >= most
    assert omitted > CASES


def test_no_plan_is_below_a_bound_on_the_hosts_that_better_plans_need():
    """The incumbent has the worst of all plans or the best one."""
    proved = 0
    for seed in range(9000, 9000 + CASES):
        wanted, snapshot, placed = test_oracle_policies.random_case(seed)
        plans = {oracle.value('fewest-hosts', wanted, snapshot, placed, where):
                 where for where in oracle.placements(wanted, snapshot, placed)
                 if oracle.violations(wanted, snapshot, placed, where)
                 is not None}
        for value in {min(plans), max(plans)} if plans else ():
            known = _incumbent(wanted, snapshot, placed)
            hosts = {each.name: each for each in known.snapshot.hosts}
            assert known.offer({path: hosts[name] for path, name
                                in plans[value].items()})
            relax_policies(known, in_time())
            bound = known._bounds.at(float('inf'))
            assert bound <= min(plans) + 1e-7, seed
            proved += bound > 0
    assert proved > CASES / 3


def test_plans_without_violations_may_need_hosts_that_others_do_not():
    """All members fit on the largest host, but prefer different hosts."""
    snapshot = cloud(*(host(f'h{n}', 'r0', vcpus=vcpus)
                       for n, vcpus in enumerate((10, 4, 4, 4))))
    known = _incumbent(group(*(
        servers(f'm{n}', vcpus=n) for n in range(1, 5)), policies=[
            AntiAffinity(weight=1.0)]), snapshot)
    assert known.offer({
        m.path: snapshot.hosts[0] for m in known.members})
    relax_policies(known, in_time())
    assert 0 < known._bounds.at(0) <= 4


def _random(seed):
    """Many small groups on hosts with much room of one of two resources or
    some of both."""
    chance = random.Random(seed)
    wanted = group(groups=[
        group(_member(*chance.choice(((1, 4), (4, 1), (2, 2), (1, 1))), 4),
              name=f'g{number}', policies=chance.choice((
                  (), (AntiAffinity(),), (Affinity(level='rack'),),
                  (AntiAffinity(max_per_domain=2),))))
        for number in range(24)])
    return wanted, cloud(*(
        _host(f'h{n:03}', n // 6, *chance.choice((
            (24, 4), (4, 24), (12, 12), (8, 8), (16, 20), (6, 6))))
        for n in range(90)))


def test_plans_on_places_have_fewer_hosts():
    """The bound is the same for both plans. More than half of the plans on
    places are closer to it than the first plan, and none is worse."""
    gaps, better = [], 0
    # One or two cases are too few for a majority.
    for seed in range(max(8, times(8))):
        wanted, snapshot = _random(seed)
        known = _incumbent(wanted, snapshot)
        first_plan(known, in_time())
        before = known.plan_cost[1]
        relax_policies(known, in_time())
        places_plan.plan_on_places(known, in_time())
        after = known.plan_cost[1]
        assert check(wanted, snapshot, {
            path: each.name for path, each in known.where.items()}) == ()
        assert known.bound <= after <= before
        better += after < before
        gaps.append((before - known.bound, after - known.bound))
    assert better > len(gaps) / 2
    assert sum(after for _, after in gaps) < sum(
        before for before, _ in gaps) * 0.7


def test_places_are_on_hosts_for_all_members():
    """The two large hosts have room for members of both sizes together."""
    snapshot = cloud(
        *(_host(f'large{n}', n, 20, 20) for n in range(2)),
        *(_host(f'narrow{n}', n, 16, 4) for n in range(6)),
        *(_host(f'flat{n}', n, 4, 16) for n in range(6)))
    wanted = group(groups=[
        group(_member(4, 1, 8), name='cpu'), group(
            _member(1, 4, 8), name='memory')])
    known = _incumbent(wanted, snapshot)
    first_plan(known, in_time())
    relax_policies(known, in_time())
    places = known.kind_places
    assert places.hosts.nonzero()[0].tolist() == [0, 1]
    assert places.places.sum() == 16
    assert places.kind_of.keys() == {m.path for m in known.members}


def test_exclusive_members_leave_the_places_to_others():
    """A host with room for all other members is not taken by two members that
    close their host, because small hosts suit them as well."""
    snapshot = cloud(_host('large', 0, 16, 16), *(
        _host(f'small{n}', 1, 4, 4) for n in range(9)))
    wanted = group(groups=[
        group(_member(2, 2, 2), name='alone', policies=[Exclusive()]),
        *(group(_member(2, 2, 2), name=f'g{n}', policies=[
            AntiAffinity(max_per_domain=2)]) for n in range(4))])
    known = _incumbent(wanted, snapshot)
    first_plan(known, in_time())
    before = known.plan_cost[1]
    relax_policies(known, in_time())
    places_plan.plan_on_places(known, in_time())
    assert known.plan_cost[1] == 2 <= before
    assert known.where['alone/m-0'].name != 'large'


def _choices(places):
    """A function that returns the host which places of three kinds lead to.
    The first two kinds have the same size. A member of the first kind is on
    the first host already.

    :param places: [kind, host]
    """
    snapshot = cloud(*(host(f'h{n}', 'r0', vcpus=9) for n in range(2)))
    known = _incumbent(group(groups=[
        group(servers('m', 2, vcpus=n + 1), name=f'kind{n}')
        for n in range(3)]), snapshot)
    case = known.case(in_time().check, Subproblem(constructs=True))
    assert len(case.classes) == 3
    ordering = PlacesFirst.of(
        lambda attempt: np.array([0.0, 1.0]), KindPlaces(
            {m.path: int(m.path[4]) for m in known.members},
            np.array(places), np.array([0, 0, 1])), case, np.arange(2),
        {'kind0/m-0': snapshot.hosts[0]})

    def chosen(kind, *counts):
        return int(np.argmin(ordering(SimpleNamespace(
            current=kind, counts=counts))))

    return chosen


def test_a_place_is_used_once():
    chosen = _choices([[2, 1], [0, 0], [0, 1]])
    assert chosen(0, {}, {}, {}) == 0
    assert chosen(0, {0: 1}, {}, {}) == 1
    # No place is left.
    assert chosen(0, {0: 1, 1: 1}, {}, {}) == 0
    assert chosen(2, {}, {}, {}) == 1


def test_members_of_one_size_use_the_places_of_each_other():
    chosen = _choices([[1, 1], [0, 1], [0, 0]])
    assert chosen(1, {}, {}, {}) == 1
    # Its own place comes before the place of another kind.
    chosen = _choices([[3, 0], [0, 1], [0, 0]])
    assert chosen(1, {}, {}, {}) == 1
    assert chosen(1, {}, {1: 1}, {}) == 0
    # A member of the other kind has taken it.
    assert chosen(1, {1: 1}, {}, {}) == 0


def test_ruin_and_recreate_satisfies_preferences_of_a_plan_with_few_hosts(
        monkeypatch):
    """The plan on places has fewer hosts than the incumbent, but violates a
    preference, which one member can satisfy."""
    snapshot = cloud(*(host(
        name, 'r0', vcpus=4, traits=frozenset(traits)) for name, traits in (
            ('a', ''), ('b', 'T'), ('c', ''), ('d', ''))))
    wanted = group(groups=[
        group(servers('m', 2), name='g', policies=[
            Traits(has=frozenset('T'), weight=1.0)]),
        group(servers('m', 2), name='h')])
    known = _incumbent(wanted, snapshot)
    hosts = dict(zip('abcd', snapshot.hosts))
    assert known.offer({'g/m-0': hosts['b'], 'g/m-1': hosts['b'],
                        'h/m-0': hosts['c'], 'h/m-1': hosts['d']})
    relax_policies(known, in_time())
    assert known.kind_places is not None

    class OnOneHost:
        where = dict.fromkeys(known.where, hosts['a'])

        def __init__(self, *_):
            pass

        def place(self, batches):
            return True

    monkeypatch.setattr(places_plan, 'BatchConstruction', OnOneHost)
    places_plan.plan_on_places(known, in_time())
    assert known.plan_cost == (Fraction(0), 1.0)


def test_members_with_preferences_are_placed_before_others():
    known = _incumbent(group(groups=[
        *(group(servers('m', 4, vcpus=2), name=f'g{n}') for n in range(3)),
        group(servers('m', 4), name='prefers', policies=[
            Affinity(weight=1.0)])]), cloud(host('h', 'r', vcpus=99)))
    first, *others = batches(known, 100, constructs=True)
    assert {m.path.split('/')[0] for m in first.members} == {'prefers'}
    assert len(others) == 1
    assert len(batches(known, 100)) == 1


@pytest.mark.parametrize('batch_members', [4, 100])
def test_a_part_that_cannot_be_satisfied_does_not_affect_others(
        batch_members):
    """No host has the trait that one part prefers. The other parts of its
    batch still get hosts that satisfy their preferences: racks whose largest
    host is small have room for all members of a part."""
    snapshot = cloud(*(
        host(f'r{rack}h{n}', f'r{rack}', vcpus=vcpus)
        for rack in range(12)
        for n, vcpus in enumerate((3,) if rack % 2 else (1, 1, 1, 1))))
    wanted = group(groups=[
        group(servers('m', 1), name='other'),
        group(servers('m', 1), name='never', policies=[
            Traits(has=frozenset('T'), weight=1.0)]),
        *(group(servers('m', 4), name=f'g{n}', policies=[
            Affinity(level='rack', weight=1.0)]) for n in range(5))])
    known = _incumbent(wanted, snapshot)
    with limited('construct', batch_members=batch_members):
        first_plan(known, in_time())
    assert known.plan_cost[0] == 1
