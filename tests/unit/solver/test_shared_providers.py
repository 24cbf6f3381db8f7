# SPDX-License-Identifier: Apache-2.0
"""Plans on hosts that share a provider agree with exhaustive search.

The comparison enumerates all placements, and shares no code with the solver or
with its check.
"""

from collections import Counter
from dataclasses import replace
import itertools

from hypothesis import given, strategies as st
import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.shared_resources import with_shared_resources
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.model.relaxations import Headroom
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.check import check
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.builders import cloud, group, host
from tests.unit.solver.clocks import standing
from tests.unit.solver.scenario import plan, reasons


def storage(name, total, **more):
    return NestedProvider(name, name, '', FrozenMapping(
        {'DISK_GB': Inventory(total, **more)}), sharing=True)


def diskless(name, *shares, rack='r1', vcpus=8):
    return replace(host(name, rack, vcpus=vcpus), providers=shares)


def with_disk(name, disk, rack='r1', vcpus=8):
    return host(name, rack, inventories={
        'VCPU': Inventory(vcpus), 'DISK_GB': Inventory(disk)})


def member(name, disk, count=None, vcpus=1, **more):
    return MemberDescription(name, Requirements(FrozenMapping(
        {'VCPU': vcpus, **({'DISK_GB': disk} if disk else {})}), **more),
        count)


@pytest.mark.parametrize('strategy', list(Strategy))
@pytest.mark.parametrize('number, fits', [(5, True), (6, False)])
def test_a_storage_counts_once_for_all_its_hosts(strategy, number, fits):
    """Each host alone could use the whole storage."""
    nfs = storage('nfs', 100, used=50)
    answer = solve(group(member('web', 10, number)), cloud(
        diskless('h1', nfs, vcpus=3), diskless('h2', nfs, vcpus=3)),
        settings=Settings(strategy=strategy))
    if fits:
        assert isinstance(answer, Plan)
    else:
        assert not isinstance(answer, Plan)
    if strategy is Strategy.AUTO and not fits:
        assert isinstance(answer, Unplaceable)


def test_the_reason_names_the_shared_provider():
    nfs = storage('nfs', 100)
    found = ' '.join(reasons(
        cloud(diskless('h1', nfs), diskless('h2', nfs)),
        group(member('web', 30, 4))).values())
    assert 'DISK_GB of the shared provider nfs' in found


def test_hosts_with_their_own_disks_take_what_the_storage_cannot():
    nfs = storage('nfs', 100)
    placed = plan(cloud(diskless('h1', nfs), diskless('h2', nfs),
                        with_disk('h3', 60)),
                  group(member('web', 30, 5)))
    assert Counter(placed.hosts.values())['h3'] == 2


def test_members_that_stay_are_part_of_the_usage():
    nfs = storage('nfs', 100, used=60)
    snapshot = cloud(diskless('h1', nfs), diskless('h2', nfs))
    definition = group(member('web', 30, 3))
    answer = solve(definition, snapshot,
                   placed={'web-0': 'h1', 'web-1': 'h2'})
    assert isinstance(answer, Plan)
    answer = solve(group(member('web', 30, 4)), snapshot,
                   placed={'web-0': 'h1', 'web-1': 'h2'})
    assert isinstance(answer, Unplaceable)


def test_a_group_of_resources_may_come_from_a_shared_provider():
    nfs = storage('nfs', 100)
    wanted = MemberDescription('web', Requirements(
        FrozenMapping({'VCPU': 1}), request_groups=(
            RequestGroup('_disk', FrozenMapping({'DISK_GB': 40})),)), 2)
    snapshot = cloud(diskless('h1', nfs, vcpus=1),
                     diskless('h2', nfs, vcpus=2))
    assert isinstance(solve(group(wanted), snapshot), Plan)
    assert isinstance(solve(group(replace(wanted, count=3)), snapshot),
                      Unplaceable)


def test_an_overcommitted_storage_does_not_matter_to_other_groups():
    """The members need a card and no disk."""
    card = NestedProvider('card', 'card', '', FrozenMapping(
        {'VGPU': Inventory(3)}))
    snapshot = cloud(replace(
        host('h1', 'r1'), providers=(card, storage('nfs', 100, used=120))))
    wanted = MemberDescription('gpu', Requirements(
        FrozenMapping({'VCPU': 1, 'VGPU': 1})), 2)
    plan(snapshot, group(wanted)).uses('h1')


def test_a_storage_is_in_no_subtree_of_a_host():
    """Placement refuses a subtree of a host and of a provider that it shares
    with other hosts."""
    def wanted(*subtrees):
        return group(MemberDescription('web', Requirements(
            request_groups=(
                RequestGroup('_cpu', FrozenMapping({'VCPU': 1})),
                RequestGroup('_disk', FrozenMapping({'DISK_GB': 10}))),
            same_subtree=tuple(map(frozenset, subtrees)))))

    snapshot = cloud(diskless('h1', storage('nfs', 100)))
    plan(snapshot, wanted(), objective='fewest-hosts').uses('h1')
    together = wanted(('_cpu', '_disk'))
    assert not isinstance(solve(together, snapshot), Plan)
    assert check(together, snapshot, {'web': 'h1'})
    assert not check(wanted(['_disk']), snapshot, {'web': 'h1'})


def copies(snapshot, definition, **settings):
    return headroom(definition, snapshot, solve(definition, snapshot),
                    settings=Settings(timer=standing, **settings))


def test_headroom_counts_a_storage_once():
    nfs = storage('nfs', 100)
    definition = group(member('web', 30))
    hosts = diskless('h1', nfs), diskless('h2', nfs)
    assert copies(cloud(*hosts), definition) == Headroom(3, 3)
    hosts = *hosts, with_disk('h3', 60)
    assert copies(cloud(*hosts), definition) == Headroom(5, 5)
    # Without time for a search, the upper bound counts each host alone.
    at_once = copies(cloud(*hosts), definition, time_limit=0.0)
    assert at_once.at_least <= 5 <= at_once.at_most


def test_headroom_counts_nested_providers():
    card = NestedProvider('card', 'card', '', FrozenMapping(
        {'VGPU': Inventory(3)}))
    wanted = MemberDescription('web', Requirements(
        FrozenMapping({'VCPU': 1, 'VGPU': 1})))
    snapshot = cloud(replace(host('h1', 'r1'), providers=(card,)),
                     host('h2', 'r1'))
    assert copies(snapshot, group(wanted)) == Headroom(3, 3)


def test_the_check_refuses_a_placement_that_exceeds_the_storage():
    nfs = storage('nfs', 100, used=20)
    snapshot = cloud(diskless('h1', nfs), diskless('h2', nfs))
    definition = group(member('web', 30, 3))
    found = check(definition, snapshot,
                  {'web-0': 'h1', 'web-1': 'h1', 'web-2': 'h2'})
    assert len(found) == 1
    assert found[0].at == 'web-0, web-1, web-2'
    assert ('provider nfs, which hosts share, has 100 DISK_GB, of which 20 '
            'are used: no room for 90') in found[0].message
    assert not check(definition, snapshot,
                     {'web-0': 'h1', 'web-1': 'h1', 'web-2': 'h2'},
                     {'web-0': 'h1'})


def test_hosts_may_use_different_classes_of_one_provider():
    """h1 has network cards and uses only the disks of the provider."""
    shared = NestedProvider('nfs', 'nfs', '', FrozenMapping({
        'DISK_GB': Inventory(10), 'CUSTOM_NIC': Inventory(1)}), sharing=True)
    snapshot = cloud(*(with_shared_resources(each, [shared]) for each in (
        host('h1', 'r1', inventories={'CUSTOM_NIC': Inventory(1)}),
        host('h2', 'r1', inventories={'VCPU': Inventory(8)}))))
    definition = group(*(MemberDescription(name, Requirements(FrozenMapping({
        resource_class: 1 for resource_class in classes})))
        for name, classes in (('a', ('VCPU', 'CUSTOM_NIC', 'DISK_GB')),
                              ('b', ('CUSTOM_NIC', 'DISK_GB')))))
    where = plan(snapshot, definition).hosts
    assert where == {'a': 'h2', 'b': 'h1'}
    two = group(*definition.members, MemberDescription('c', Requirements(
        FrozenMapping({'VCPU': 1, 'CUSTOM_NIC': 1}))))
    assert isinstance(solve(two, snapshot), Unplaceable)
    assert len(check(two, snapshot, {**where, 'c': 'h2'})) == 2


def test_an_alternate_on_the_same_storage_needs_no_further_space():
    nfs, full = storage('nfs', 10), storage('full', 10, used=5)
    snapshot = cloud(diskless('h1', nfs), diskless('h2', nfs),
                     diskless('h3', full), with_disk('h4', 10))
    definition = group(member('web', 10, location=('r1', 'h1')))
    answer = solve(definition, snapshot)
    anywhere = group(member('web', 10))
    assert {*alternates(PlannedGroup(anywhere, snapshot, answer), 3)[
        'web']} == {'h2', 'h4'}


def test_alternates_share_a_storage_with_the_members_that_are_planned_there():
    nfs = storage('nfs', 15)
    snapshot = cloud(diskless('h1', nfs), diskless('h2', nfs),
                     with_disk('h3', 10))
    definition = group(member('web', 10, location=('r1', 'h1')),
                       member('db', 10, location=('r1', 'h3')))
    answer = solve(definition, snapshot)
    anywhere = group(member('web', 10), member('db', 10))
    assert alternates(PlannedGroup(anywhere, snapshot, answer), 3) == {
        'web': ('h2',), 'db': ()}


amounts = st.integers(0, 6)


@st.composite
def clouds(draw):
    shares = [storage(f's{n}', draw(amounts), used=draw(st.integers(0, 1)))
              for n in range(draw(st.integers(1, 2)))]
    hosts = []
    for n in range(draw(st.integers(1, 4))):
        rack, vcpus = f'r{draw(st.integers(1, 2))}', draw(st.integers(1, 4))
        share = draw(st.sampled_from([None, *shares]))
        hosts.append(
            with_disk(f'h{n}', draw(amounts), rack, vcpus) if share is None
            else diskless(f'h{n}', share, rack=rack, vcpus=vcpus))
    return cloud(*hosts)


groups = st.builds(
    lambda sizes, policies: group(*(
        member(f'm{n}', disk, vcpus=vcpus)
        for n, (disk, vcpus) in enumerate(sizes)), policies=policies),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 2)), min_size=1,
             max_size=5),
    st.sampled_from([(), (AntiAffinity(),), (AntiAffinity(max_per_domain=2),),
                     (Affinity(level='rack'),)]))


def possible(definition, snapshot):
    """All placements that satisfy capacity and the policy, as tuples of hosts.
    """
    members = definition.all_members()
    limit = {(): len(members)}.get(
        definition.policies,
        getattr(next(iter(definition.policies), None), 'max_per_domain',
                len(members)))
    for where in itertools.product(snapshot.hosts, repeat=len(members)):
        vcpus, disk, room = Counter(), Counter(), {}
        for each, on in zip(members, where):
            wanted = each.requirements.resources
            vcpus[on.name] += wanted['VCPU']
            source = on.providers[0] if on.providers else on
            disk[source.name] += wanted.get('DISK_GB', 0)
            room[source.name] = source.inventories['DISK_GB']
        if any(vcpus[on.name] > on.inventories['VCPU'].total
               for on in where):
            continue
        if any(amount and amount > room[name].total - room[name].used
               for name, amount in disk.items()):
            continue
        if definition.policies and isinstance(
                definition.policies[0], Affinity):
            if len({on.location for on in where}) > 1:
                continue
        elif max(Counter(on.name for on in where).values()) > limit:
            continue
        yield where


@given(clouds(), groups)
@examples(300)
def test_plans_agree_with_exhaustive_search(snapshot, definition):
    best = min((len({on.name for on in where})
                for where in possible(definition, snapshot)), default=None)
    answer = solve(definition, snapshot, objective='fewest-hosts')
    if best is None:
        assert isinstance(answer, Unplaceable)
        return
    assert isinstance(answer, Plan)
    assert len(set(answer.hosts().values())) == best
    assert not check(definition, snapshot, answer.hosts())
    assert tuple(snapshot.by_name()[name] for name in (
        answer.hosts()[each.path] for each in definition.all_members())
    ) in set(possible(definition, snapshot))


@given(clouds(), groups, st.data())
@examples(200)
def test_the_check_agrees_with_the_enumeration(snapshot, definition, data):
    members = definition.all_members()
    where = data.draw(st.tuples(*(
        st.sampled_from(snapshot.hosts) for _ in members)))
    allowed = where in set(possible(definition, snapshot))
    assert bool(check(definition, snapshot, {
        each.path: on.name for each, on in zip(members, where)})) != allowed
