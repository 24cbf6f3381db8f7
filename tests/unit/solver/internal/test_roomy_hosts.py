# SPDX-License-Identifier: Apache-2.0
"""Plans with few hosts are searched among the hosts with the most room for all
members together."""

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import (
    AntiAffinity, SoftAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.construct import batch_hosts
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.construct.roomy_hosts import roomy_hosts
from nova_holistic.solver.phases import fewer_hosts
from nova_holistic.solver.phases.fewer_hosts import search_fewer_hosts
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.ruin_recreate.part_search import (
    ruin_and_recreate)
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time, task
from tests.unit.solver.internal.limited import limited

SMALL = {'VCPU': Inventory(1), 'MEMORY_MB': Inventory(1024)}
"""Room for one member."""

UNEVEN = {'VCPU': Inventory(8), 'MEMORY_MB': Inventory(2048)}
"""Processors for eight members, but memory for two."""

LARGE = {'VCPU': Inventory(8), 'MEMORY_MB': Inventory(8192)}
"""Room for eight members."""

MIDDLE = {'VCPU': Inventory(5), 'MEMORY_MB': Inventory(5120)}
"""Room for five members."""


def _racks(inventories, number=20):
    """Return racks of two hosts.

    :param inventories: rack number to the inventories of its two hosts; other
        racks have uneven hosts
    """
    return cloud(*(
        host(f'h{rack}-{n}', f'r{rack}', inventories=inventories.get(
            rack, (UNEVEN, UNEVEN))[n])
        for rack in range(number) for n in range(2)))


def _members(number):
    return MemberDescription('m', Requirements(FrozenMapping({
        'VCPU': 1, 'MEMORY_MB': 1024})), number)


def _shop(*policies, number=16):
    return group(_members(number), policies=policies)


def _known(wanted, snapshot, names=None, objective='fewest-hosts'):
    """Return an incumbent with a plan.

    :param names: names of the hosts of the members; by default, each member is
        alone in a rack
    """
    bound = bind(wanted, snapshot)
    known = Incumbent(bound, snapshot, {}, load_objective(
        objective).for_group(bound), 0.0)
    by_name = {each.name: each for each in snapshot.hosts}
    assert known.offer({m.path: by_name[name] for m, name in zip(
        known.members, names or [f'h{rack}-0' for rack in range(16)],
        strict=True)})
    return known


def _names(wanted, snapshot):
    table = HostTable.of(snapshot)
    return {table.hosts[h].name for h in roomy_hosts(
        table, bind(wanted, snapshot).all_members(),
        Eligibility(table)).tolist()}


def _searched(known, search=None):
    """Return the number of hosts of the plan of the search."""
    if search is None:
        search_fewer_hosts(task(known))
    else:
        search(known)
    assert check(known.group, known.snapshot, {
        path: each.name for path, each in known.where.items()}) == ()
    return len({each.name for each in known.where.values()})


def test_hosts_with_one_scarce_resource_have_little_room():
    """All hosts have processors for eight members, and two have memory."""
    snapshot = _racks({7: (LARGE, UNEVEN), 15: (UNEVEN, LARGE)})
    with limited('improve', roomy_hosts=0.1):
        found = _names(_shop(), snapshot)
    assert {'h7-0', 'h15-1'} <= found
    assert len(found) < 20


def test_both_hosts_of_a_rack_are_chosen_for_members_in_one_rack():
    """The rack with the best pair has no host with the most room."""
    snapshot = _racks({3: (LARGE, SMALL), 9: (MIDDLE, MIDDLE),
                       14: (SMALL, LARGE)})
    with limited('improve', roomy_hosts=0.1):
        found = _names(_shop(), snapshot)
    assert {'h9-0', 'h9-1'} <= found


def test_hosts_of_each_zone_are_chosen():
    """The hosts of one zone have less room than those of the other."""
    snapshot = cloud(*(host(
        f'h{n}', f'z{n % 2}', f'r{n}',
        inventories=LARGE if n % 2 else MIDDLE) for n in range(40)),
        levels=('az', 'rack', 'host'))
    found = _names(_shop(Spread(level='az', max_skew=0)), snapshot)
    assert {int(name[1:]) % 2 for name in found} == {0, 1}


def test_members_without_requests_have_no_roomy_hosts():
    assert _names(group(servers('m', 3, 0)), _racks({})) == set()


def test_a_program_of_roomy_hosts_finds_the_fewest():
    """Two hosts have room for all sixteen members."""
    known = _known(_shop(), _racks({7: (LARGE, UNEVEN), 15: (UNEVEN, LARGE)}))
    assert _searched(known) == 2


@pytest.mark.parametrize('places, hosts', [(3_000, 4), (1, 6)])
def test_programs_of_roomy_hosts_satisfy_all_policies(places, hosts):
    """With one place, programs of some members take the rows that they need
    from those of all policies on these hosts.

    The members of the first group are on two hosts of one rack, and only
    one rack has room for them. Three hosts have room for 21 members, and the
    groups have 24."""
    wanted = group(groups=[
        group(_members(8), name='near', policies=[
            Affinity(level='rack'), AntiAffinity(max_per_domain=4)]),
        group(_members(16), name='others')])
    snapshot = _racks({3: (LARGE, SMALL), 9: (MIDDLE, MIDDLE),
                       14: (SMALL, LARGE)}, 30)
    known = _known(wanted, snapshot, [f'h9-{n // 4}' for n in range(8)] + [
        f'h{rack}-0' for rack in range(10, 26)])
    with limited('phases', program_places=places, step_places=40,
                 further_hosts=1.0), limited(
                     'improve', ruin_steps=0, steps_per_member=0):
        assert _searched(known) <= hosts


def test_ruin_and_recreate_uses_roomy_hosts():
    known = _known(_shop(), _racks({7: (LARGE, UNEVEN), 15: (UNEVEN, LARGE)}))
    with limited('improve', roomy_share=1.0):
        assert _searched(known, lambda each: ruin_and_recreate(
            each, in_time(), 1)) == 2


def test_the_share_of_the_programs_follows_ruin_and_recreate(monkeypatch):
    """Ruin and recreate may satisfy the last preferences."""
    known, calls = _known(_shop(), _racks({})), []
    monkeypatch.setattr(fewer_hosts, 'ruin_and_recreate',
                        lambda *_: calls.append('ruin and recreate'))

    def share():
        calls.append('share')
        return 0.5

    search_fewer_hosts(task(known), share)
    assert calls[-2:] == ['ruin and recreate', 'share']


def test_other_objectives_keep_their_plans():
    known = _known(_shop(), _racks({7: (LARGE, UNEVEN)}), objective='stack')
    before = known.where
    search_fewer_hosts(task(known))
    assert known.where == before


@pytest.mark.parametrize('places', [8, 1_600])
def test_programs_of_some_members_find_the_fewest_hosts(places):
    """The program of all members is too large."""
    known = _known(_shop(), _racks({7: (LARGE, UNEVEN), 15: (UNEVEN, LARGE)}))
    with limited('phases', program_places=1, step_places=places,
                 further_hosts=1.0), limited('improve', ruin_steps=0,
                                             steps_per_member=0):
        assert _searched(known) == 2


@pytest.mark.parametrize('places', [12, 40])
def test_programs_of_some_members_are_small(monkeypatch, places):
    """Sixteen groups of two members on sixteen hosts: the number of classes
    grows with the hosts, so the size is not a number of members."""
    wanted = group(groups=[group(_members(2), name=f'part{n}', policies=[
        AntiAffinity()]) for n in range(16)])
    known = _known(wanted, _racks({}), [
        f'h{rack % 16}-0' for part in range(16) for rack in (part, part + 1)])
    sizes, original = [], fewer_hosts.step

    def recording(plan, part, context):
        classes = {path.rpartition('/')[0] for path in part.freed}
        sizes.append(len(classes) * len(part.hosts))
        return original(plan, part, context)

    monkeypatch.setattr(fewer_hosts, 'step', recording)
    with limited('phases', program_places=1, step_places=places,
                 further_hosts=0.0), limited(
                     'improve', ruin_steps=0, steps_per_member=0):
        _searched(known)
    assert sizes
    assert max(sizes) <= places
    assert max(sizes) > places / 2


def test_programs_violate_no_further_preference():
    """Two hosts have room for all members, but the plan has at most four on
    each host, as they prefer. Further hosts have room for two members."""
    snapshot = _racks({7: (LARGE, UNEVEN), 15: (UNEVEN, LARGE)})
    wanted = group(_members(16), policies=[SoftAntiAffinity(
        weight=1.0, max_per_domain=4)])
    known = _known(wanted, snapshot)
    assert not known.plan_cost[0]
    with limited('improve', ruin_steps=0, steps_per_member=0):
        assert _searched(known) == 2 + 4
    assert not known.plan_cost[0]


def test_large_groups_keep_their_plans():
    known = _known(_shop(), _racks({7: (LARGE, UNEVEN), 15: (UNEVEN, LARGE)}))
    with limited('phases', emptied_group=15):
        assert _searched(known) == 16


def test_the_first_plan_of_independent_parts_uses_roomy_hosts(monkeypatch):
    """All batches choose from the same few hosts."""
    snapshot = _racks({3: (LARGE, SMALL), 9: (MIDDLE, MIDDLE),
                       14: (SMALL, LARGE)}, 30)
    wanted = bind(group(groups=[group(_members(2), name=f'part{n}', policies=[
        AntiAffinity()]) for n in range(8)]), snapshot)
    known = Incumbent(wanted, snapshot, {}, load_objective(
        'fewest-hosts').for_group(wanted), 0.0)
    choices, choose = [], batch_hosts.some_hosts

    def recording(selection, table):
        choices.append({table.hosts[h].name
                        for h in np.flatnonzero(selection.open)})
        return choose(selection, table)

    monkeypatch.setattr(batch_hosts, 'some_hosts', recording)
    with limited('construct', batch_members=4):
        first_plan(known, in_time())
    assert len(choices) == 4
    assert all(each == _names(wanted, snapshot) for each in choices)
    assert {each.name for each in known.where.values()} <= choices[0]


def test_a_part_that_needs_other_hosts_gets_them():
    """No roomy host has the trait."""
    snapshot = cloud(
        host('slow', 'r40', traits=frozenset({'CUSTOM_SLOW'}), inventories={
            'VCPU': Inventory(2), 'MEMORY_MB': Inventory(2048)}),
        *(host(f'h{n}', f'r{n}', inventories=LARGE) for n in range(40)))
    wanted = bind(group(groups=[
        group(_members(2), name='slow', policies=[
            Traits(has=frozenset({'CUSTOM_SLOW'}))]),
        *(group(_members(2), name=f'part{n}') for n in range(3))]), snapshot)
    known = Incumbent(wanted, snapshot, {}, load_objective(
        'fewest-hosts').for_group(wanted), 0.0)
    with limited('improve', roomy_hosts=0.01, roomy_domains=0.01), limited(
            'construct', batch_members=4):
        assert 'slow' not in _names(wanted, snapshot)
        first_plan(known, in_time())
    assert {each.name for path, each in known.where.items()
            if path.startswith('slow')} == {'slow'}
