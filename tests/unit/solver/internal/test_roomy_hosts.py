# SPDX-License-Identifier: Apache-2.0
"""Plans with few hosts are searched among the hosts with the most room for all
members together."""

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.phases.all_hosts import search_roomy_hosts
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.ruin_recreate.part_search import (
    ruin_and_recreate)
from nova_holistic.solver.ruin_recreate.roomy_hosts import roomy_hosts
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
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
        search_roomy_hosts(known, load_backend('highs'), in_time())
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


def test_a_program_of_roomy_hosts_satisfies_all_policies():
    """The members of the first group are on two hosts of one rack, and only
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
    assert _searched(known) == 4


def test_ruin_and_recreate_uses_roomy_hosts():
    known = _known(_shop(), _racks({7: (LARGE, UNEVEN), 15: (UNEVEN, LARGE)}))
    with limited('improve', roomy_share=1.0):
        assert _searched(known, lambda each: ruin_and_recreate(
            each, in_time(), 1)) == 2


def test_other_objectives_keep_their_plans():
    known = _known(_shop(), _racks({7: (LARGE, UNEVEN)}), objective='stack')
    before = known.where
    search_roomy_hosts(known, load_backend('highs'), in_time())
    assert known.where == before


def test_a_program_for_too_many_members_is_not_built():
    known = _known(_shop(), _racks({7: (LARGE, UNEVEN), 15: (UNEVEN, LARGE)}))
    with limited('phases', roomy_places=1):
        assert _searched(known) == 16
