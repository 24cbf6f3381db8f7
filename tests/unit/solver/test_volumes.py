# SPDX-License-Identifier: Apache-2.0
"""Volumes and servers of a group are planned jointly."""

from dataclasses import replace
import random

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.fixed_volumes import with_fixed_volumes
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.members.volume import Volume
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.storage_pools import (
    pool_traits, snapshot_for, VOLUME_GB)
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.availability_zone import AvailabilityZone
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver import oracle
from tests.unit.solver.scenario import plan, reasons


def pool(name, rack, free, *types, **fields):
    return host(name, rack, inventories={VOLUME_GB: Inventory(free)},
                traits=pool_traits(types), **fields)


def volumes(name, count=None, size=1, volume_type=None):
    return MemberDescription(
        name, Requirements(volume=Volume(size, volume_type)), count)


def with_storage(snapshot, *pools):
    return replace(snapshot, pools=pools)


def three_racks(*pools):
    return with_storage(cloud(
        host('h1', 'r1', vcpus=8), host('h2', 'r2', vcpus=4),
        host('h3', 'r3', vcpus=2)), *pools)


def planned(snapshot, asked, **options):
    return plan(snapshot_for(asked, snapshot), asked, **options)


def test_servers_go_where_their_volumes_have_room():
    # r1 has most processors, but no room for the volume.
    asked = group(servers('db', 2), volumes('data', size=50),
                  policies=[Affinity(level='rack')])
    planned(three_racks(pool('p1', 'r1', 40), pool('p3', 'r3', 50)),
            asked).uses('h3', 'p3')


def test_volumes_go_where_their_servers_have_room():
    asked = group(servers('db', vcpus=8), volumes('data', size=10),
                  relationships=[RelationshipAffinity(
                      level='rack', between=('db', 'data'))])
    planned(three_racks(pool('p1', 'r1', 10), pool('p3', 'r3', 500)),
            asked).uses('h1', 'p1')


def test_copies_are_in_different_racks():
    asked = group(volumes('copy', 3, 10),
                  policies=[AntiAffinity(level='rack')])
    planned(three_racks(pool('p1', 'r1', 30), pool('p2', 'r2', 10),
                        pool('p3', 'r3', 10)),
            asked).uses('p1', 'p2', 'p3')


def test_a_pool_of_another_type_does_not_take_the_volume():
    asked = group(volumes('data', size=1, volume_type='fast'))
    planned(three_racks(pool('p1', 'r1', 900, 'slow'),
                        pool('p2', 'r2', 1, 'slow', 'fast')),
            asked).uses('p2')


def test_a_server_that_needs_nothing_is_not_on_a_pool():
    snapshot = replace(
        with_storage(cloud(host('h1', 'r1')), pool('p2', 'r2', 100)),
        flavors={'none': Flavor('none', 'none', FrozenMapping())})
    asked = group(MemberDescription('idle', Requirements(flavor='none'), 3),
                  volumes('data', size=1))
    found = planned(snapshot, asked, objective='stack').hosts
    assert {found[f'idle-{n}'] for n in range(3)} == {'h1'}
    assert found['data'] == 'p2'


def test_servers_are_spread_over_racks_of_servers():
    # No server can be in r4, so the spread does not count r4 as an empty rack.
    asked = group(volumes('data', size=5), groups=[group(
        servers('web', 3), name='web', policies=[
            Spread(level='rack', max_skew=0)])])
    assert planned(three_racks(pool('p4', 'r4', 5)), asked).racks() == [
        1, 1, 1, 1]


def test_the_check_refuses_the_wrong_kind_of_host():
    asked = group(servers('web'), volumes('data', size=5))
    snapshot = snapshot_for(asked, three_racks(pool('p1', 'r1', 5)))
    assert [str(each.message) for each in check(
        asked, snapshot, {'web': 'p1', 'data': 'h1'})] == [
            'host p1 is a storage pool', 'host h1 is not a storage pool']


def test_the_check_counts_all_volumes_of_a_pool():
    asked = group(volumes('data', 2, 30, 'fast'))
    snapshot = snapshot_for(asked, three_racks(
        pool('p1', 'r1', 50, 'fast'), pool('p2', 'r2', 50)))
    assert [str(each.message) for each in check(
        asked, snapshot, {'data-0': 'p1', 'data-1': 'p1'})] == [
            'host p1 has 50 VOLUME_GB, of which 0 are used: no room for 60']
    assert [str(each.message) for each in check(
        asked, snapshot, {'data-0': 'p1', 'data-1': 'p2'})] == [
            'host p2 lacks volume type fast']


def test_reasons_name_the_volume():
    asked = group(volumes('data', size=60, volume_type='fast'))
    snapshot = three_racks(pool('p1', 'r1', 50, 'fast'),
                           pool('p2', 'r2', 900))
    (at, message), = reasons(snapshot_for(asked, snapshot), asked).items()
    assert at == 'data'
    assert 'volume type fast' in message and 'VOLUME_GB 60' in message
    mixed = three_racks(pool('p1', 'r1', 50))
    asked = group(volumes('data', size=60))
    assert reasons(snapshot_for(asked, mixed), asked) == {
        'data': '1 of 4 hosts is of kind storage pool; needs VOLUME_GB 60; '
                'the largest free amount there is 50'}


def test_a_cloud_without_pools_takes_no_volume():
    assert reasons(three_racks(), group(servers('web'), volumes('data'))) == {
        '': 'the inventory has no storage pools'}
    down = three_racks(pool('p1', 'r1', 50, enabled=False))
    asked = group(servers('web'), volumes('data'))
    assert reasons(snapshot_for(asked, down), asked) == {
        '': 'no storage pool is enabled'}


def test_pools_do_not_affect_a_group_without_volumes():
    asked = group(servers('web', 4), policies=[
        Spread(level='rack', max_skew=1)])
    bare = three_racks()
    snapshot = three_racks(pool('p4', 'r4', 100))
    assert snapshot_for(asked, snapshot) is snapshot
    assert solve(asked, snapshot).hosts() == solve(asked, bare).hosts()
    assert bind(asked, snapshot) == bind(asked, bare)


def _random_case(seed):
    chance = random.Random(seed)
    snapshot = with_storage(
        cloud(*(host(f'h{n}', chance.choice(('r1', 'r2', 'r3')),
                     vcpus=chance.randint(1, 4)) for n in range(3))),
        *(pool(f'p{n}', chance.choice(('r1', 'r2', 'r3')),
               chance.randint(2, 9), *chance.choice(
                   ((), ('fast',), ('fast', 'slow'))))
          for n in range(2)), pool('p2', 'r1', 1, 'fast'))
    policy = chance.choice((
        (), (Affinity(level='rack'),), (AntiAffinity(
            level='rack', max_per_domain=2),),
        (Affinity(level='rack', weight=2.0),),
        (Spread(level='rack', max_skew=1),)))
    asked = group(
        servers('web', chance.randint(1, 2), chance.randint(1, 3)),
        volumes('data', chance.randint(1, 3), chance.randint(1, 4),
                chance.choice((None, 'fast'))), policies=policy,
        relationships=chance.choice(((), (RelationshipAffinity(
            level='rack', between=('web', 'data'),
            weight=chance.choice((None, 1.0))),))))
    return asked, snapshot_for(asked, snapshot)


@pytest.mark.parametrize('seed', range(30))
@pytest.mark.parametrize('objective', ['spread', 'fewest-hosts'])
def test_the_plan_is_as_good_as_the_best_of_all(seed, objective):
    asked, snapshot = _random_case(seed)
    bound = bind(asked, snapshot)
    expected = oracle.best(bound, snapshot, {}, objective)
    answer = solve(asked, snapshot, objective=objective)
    if expected is None:
        assert answer.reasons
        return
    assert check(asked, snapshot, answer.hosts()) == ()
    found = oracle.evaluate(bound, snapshot, {}, answer.hosts())
    assert found == expected[0]
    assert oracle.value(objective, bound, snapshot, {}, answer.hosts()) == (
        pytest.approx(float(expected[1])))


@pytest.mark.parametrize('strategy', ['auto', 'whole'])
def test_a_server_moves_to_an_exclusive_rack_without_its_volume(strategy):
    """Other servers are in the rack of the volume. The volume does not move,
    and the policy applies to the server only."""
    asked = group(servers('db'), volumes('data', size=5),
                  policies=[Exclusive(level='rack')])
    snapshot = snapshot_for(asked, with_storage(
        cloud(host('h1', 'r1', servers=1), host('h2', 'r2')),
        pool('p1', 'r1', 5)))
    plan(snapshot, with_fixed_volumes(asked), placed={'data': 'p1'},
         settings=Settings(strategy)).uses('h2', 'p1')


def test_servers_are_spread_over_racks_of_their_zone_beside_volumes():
    """The policy of the whole group applies to a volume, too. Its third rack
    is in another zone."""
    asked = group(
        volumes('data', size=5), groups=[group(
            servers('web', 2), name='web', policies=[
                Spread(level='rack', max_skew=0)])],
        policies=[AvailabilityZone(zone='az1')])
    snapshot = snapshot_for(asked, with_storage(
        cloud(*(host(f'h{number}', f'r{number}', availability_zone=zone)
                for number, zone in enumerate(('az1', 'az1', 'az2')))),
        pool('p1', 'r1', 5, availability_zone='az1')))
    planned = plan(snapshot, asked)
    planned.uses('h0', 'h1', 'p1')
    fixed = with_fixed_volumes(asked)
    assert check(fixed, snapshot, planned.hosts, {'data': 'p1'}) == ()
    plan(snapshot, fixed, placed={'data': 'p1'}).uses('h0', 'h1', 'p1')
