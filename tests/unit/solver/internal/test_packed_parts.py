# SPDX-License-Identifier: Apache-2.0
"""Many independent parts are packed on few hosts under all policies."""

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
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.missing_parts import MissingParts
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.phases.host_relaxation import relax_policies
from nova_holistic.solver.phases import packed_parts
from nova_holistic.solver.phases.packed_parts import pack_parts
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from tests.unit.builders import cloud, group, host
from tests.unit.solver.clocks import Stopping
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited

LARGE = {'VCPU': Inventory(16), 'MEMORY_MB': Inventory(16384)}
"""Room for eight members of either size."""

SMALL = {'VCPU': Inventory(4), 'MEMORY_MB': Inventory(4096)}
"""Room for two of them."""

LARGE_HOSTS = 6

POLICIES = ([AntiAffinity()], [Affinity(level='rack')],
            [Spread(level='az', max_skew=1)], [])
"""Policies of the parts, in turn."""


@pytest.fixture(autouse=True)
def backend():
    load_backend('highs')


def _snapshot(hosts=80):
    """Return hosts in two zones and racks of four, of which a few are large.
    """
    return cloud(*(host(
        f'h{n}', f'z{n // 4 % 2}', f'r{n // 4}',
        inventories=LARGE if n < LARGE_HOSTS else SMALL)
        for n in range(hosts)), levels=('az', 'rack', 'host'))


def _part(name, policies, vcpus=2, number=4):
    return group(MemberDescription('m', Requirements(FrozenMapping({
        'VCPU': vcpus, 'MEMORY_MB': 2048})), number),
        name=name, policies=policies)


def _parts(*more):
    """A group of eight parts with four members each, and more of them."""
    return group(groups=[*(
        _part(f'g{n}', POLICIES[n % len(POLICIES)]) for n in range(8)),
        *more])


def _known(wanted, snapshot, objective='fewest-hosts'):
    """Return an incumbent whose plan uses as many hosts as members, all of
    them small."""
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        objective).for_group(bound), 0.0)
    names = {each.name: each for each in snapshot.hosts}
    assert known.offer({
        f'g{n}/m-{m}': names[f'h{_small_host(n, m)}']
        for n, part in enumerate(bound.groups)
        for m in range(len(part.all_members()))})
    return known


def _small_host(part, member):
    """Number of the host of a member: the members of a part are in one rack,
    or in two zones if they are spread over zones."""
    if part % len(POLICIES) == 2 and member % 2:
        return 60 + part // len(POLICIES) * 8 + member
    return 8 + 4 * part + member


def _packed(known):
    """Return the number of hosts of the plan that follows."""
    relaxed = relax_policies(known, in_time())
    assert relaxed.packing is not None
    pack_parts(known, relaxed.packing, in_time())
    assert check(known.group, known.snapshot, {
        path: each.name for path, each in known.where.items()}) == ()
    return len({each.name for each in known.where.values()})


def test_parts_are_packed_on_the_large_hosts():
    """Four large hosts have room for all 32 members."""
    known = _known(_parts(), _snapshot())
    assert len({each.name for each in known.where.values()}) > 20
    assert _packed(known) <= 5


def test_programs_of_few_members_use_the_same_places():
    known = _known(_parts(), _snapshot())
    with limited('phases', packed_members=4):
        assert _packed(known) <= 5


def test_members_that_close_their_hosts_keep_them():
    wanted = _parts(_part('g8', [Exclusive()], number=2))
    known = _known(wanted, _snapshot())
    assert _packed(known) <= 7


def test_places_satisfy_policies_that_are_not_monotone(monkeypatch):
    """The relaxation omits them because some members close their hosts. If the
    programs of places omitted them too, parts would lose their places."""
    snapshot = cloud(*(host(
        f'h{n}', f'z{n // 4 % 2}', f'r{n // 4}',
        inventories=LARGE if 2 <= n < 6 else SMALL)
        for n in range(80)), levels=('az', 'rack', 'host'))
    wanted = bind(group(groups=[
        *(_part(f'g{n}', [Spread(level='az', max_skew=0)]) for n in range(8)),
        _part('g8', [Exclusive()], number=2)]), snapshot)
    known = Incumbent(wanted, snapshot, {}, load_objective(
        'fewest-hosts').for_group(wanted), 0.0)
    names = {each.name: each for each in snapshot.hosts}
    assert known.offer({
        **{f'g{n}/m-{m}': names[f'h{8 + 8 * n + m % 2 * 4 + m // 2}']
           for n in range(8) for m in range(4)},
        **{f'g8/m-{m}': names[f'h{76 + m}'] for m in range(2)}})
    placed = []

    class Recording(MissingParts):
        def place(self, parts, known):
            placed.extend(parts)
            return super().place(parts, known)

    monkeypatch.setattr(packed_parts, 'MissingParts', Recording)
    assert _packed(known) <= 6
    assert not placed


def test_a_plan_with_more_violated_preferences_is_not_used():
    """The members prefer different racks, and the large hosts are in two."""
    wanted = group(groups=[_part(
        f'g{n}', [AntiAffinity(level='rack', weight=1.0)], number=4)
        for n in range(8)])
    known = _known(wanted, _snapshot())
    names = {each.name: each for each in known.snapshot.hosts}
    assert known.offer({f'g{n}/m-{m}': names[f'h{8 + 8 * m + n}']
                        for n in range(8) for m in range(4)})
    assert known.plan_cost[0] == 0
    _packed(known)
    assert known.plan_cost[0] == 0


@pytest.mark.parametrize('weight', [1.0, 1000.0])
def test_light_preferences_are_satisfied_beside_a_heavy_one(weight):
    """The known plan violates no preference. If the programs minimised the
    costs of preferences, they would violate light ones."""
    wanted = group(groups=[_part(f'g{n}', [AntiAffinity(
        level='rack', weight=1.0 if n < 7 else weight)]) for n in range(8)])
    known = _known(wanted, _snapshot())
    names = {each.name: each for each in known.snapshot.hosts}
    assert known.offer({f'g{n}/m-{m}': names[f'h{8 + 8 * m + n}']
                        for n in range(8) for m in range(4)})
    assert _packed(known) <= 10
    assert known.plan_cost[0] == 0


def test_a_policy_that_the_places_cannot_satisfy_affects_only_its_part(
        monkeypatch):
    """The packed places are in two zones, and one part needs three."""
    large = {0, 1, 2, 3, 16, 17}
    snapshot = cloud(*(host(
        f'h{n}', f'z{n // 4 % 4}', f'r{n // 4}',
        inventories=LARGE if n in large else SMALL)
        for n in range(80)), levels=('az', 'rack', 'host'))
    wanted = bind(group(groups=[
        *(_part(f'g{n}', [AntiAffinity()] if n % 2 else []) for n in range(7)),
        _part('g7', [Spread(level='az', min_domains=3)]),
        _part('g8', [Exclusive()], number=2)]), snapshot)
    known = Incumbent(wanted, snapshot, {}, load_objective(
        'fewest-hosts').for_group(wanted), 0.0)
    names = {each.name: each for each in snapshot.hosts}
    small = iter([f'h{n}' for n in range(60) if n not in large])
    assert known.offer({
        **{f'g{n}/m-{m}': names[next(small)] for n in range(9) if n != 7
           for m in range(2 if n == 8 else 4)},
        **{f'g7/m-{m}': names[f'h{60 + 4 * m}'] for m in range(4)}})
    assigned = []
    assign = packed_parts._PackedParts._assigned

    def recording(self, paths):
        found = assign(self, paths)
        assigned.append((len(paths), len(found)))
        return found

    monkeypatch.setattr(packed_parts._PackedParts, '_assigned', recording)
    assert _packed(known) <= 9
    assert all(found >= number - 4 for number, found in assigned)


def test_all_members_of_a_policy_of_most_classes_are_placed_again():
    """The programs of two parts choose places in one rack, which the second
    part closes to others. Its policy applies to two of the three classes."""
    wanted = group(groups=[_part('g0', []), group(
        groups=[_part('a', [], number=2),
                _part('b', [], vcpus=1, number=2)],
        name='g1', policies=[Exclusive(level='rack')])])
    snapshot = _snapshot()
    names = {each.name: each for each in snapshot.hosts}
    known = Incumbent(bind(wanted, snapshot), snapshot, {}, load_objective(
        'fewest-hosts'), 0.0)
    assert known.offer({
        **{f'g0/m-{n}': names[f'h{8 + n}'] for n in range(4)},
        **{f'g1/{side}/m-{n}': names[f'h{16 + first + n}']
           for side, first in (('a', 0), ('b', 2)) for n in range(2)}})
    with limited('phases', packed_members=1):
        assert _packed(known) == 2


def test_other_objectives_are_not_packed():
    known = _known(_parts(), _snapshot(), 'stack')
    assert relax_policies(known, in_time()).packing is None


def test_an_interrupted_search_keeps_the_plan():
    known = _known(_parts(), _snapshot())
    packing = relax_policies(known, in_time()).packing
    before = known.where
    with pytest.raises(OutOfTime):
        pack_parts(known, packing, in_time(0.0))
    assert known.where == before


def test_a_packing_uses_its_own_time_for_patterns():
    """The relaxation may end before it has found a pattern."""
    without = 0
    for readings in range(20, 400, 10):
        known = _known(_parts(), _snapshot())
        try:
            packing = relax_policies(known, Deadline(
                Stopping(readings), 60.0)).packing
        except OutOfTime:
            continue
        if packing is None or packing.generation is None:
            continue
        without += not packing.generation.master.types
        pack_parts(known, packing, in_time())
        assert known.plan_cost[1] <= 5
    assert without
