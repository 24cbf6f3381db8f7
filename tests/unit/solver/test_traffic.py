# SPDX-License-Identifier: Apache-2.0
"""Objectives about traffic: members with traffic are placed close together,
and bounds are valid."""

from fractions import Fraction
import random

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.objectives.network import Network
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.agreement import agrees, is_sound
from tests.unit.solver.scenario import plan

LEVELS = ('az', 'rack', 'host')
SIDES = ('web', 'app', 'db', 'web-0', 'tier')


def random_case(seed):
    """Return a random group of tiers with traffic, a cloud of a few hosts, and
    placed members."""
    chance = random.Random(seed)
    snapshot = cloud(*(host(
        f'h{n}', chance.choice(('az1', 'az2')), chance.choice(('r1', 'r2')),
        vcpus=chance.choice((1, 2, 3, 4, 6)),
        enabled=chance.random() < 0.95) for n in range(
            chance.randint(2, 5))), levels=LEVELS)
    tier = group(servers('web', chance.randint(1, 2)), name='tier',
                 policies=_policies(chance))
    shop = group(
        servers('app', chance.randint(1, 2), vcpus=chance.choice((1, 2))),
        servers('db', 1), groups=[tier], policies=_policies(chance),
        relationships=[_bandwidth(chance) for _ in range(
            chance.randint(1, 3))])
    paths = [m.path for m in shop.all_members()]
    return shop, snapshot, {
        path: f'h{chance.randint(0, len(snapshot.hosts) - 1)}'
        for path in paths if chance.random() < 0.08}


def _bandwidth(chance):
    sides = {'web': 'tier/web', 'web-0': 'tier/web-0'}
    between = tuple(sides.get(side, side) for side in (
        chance.choice(('tier', 'web', 'web-0', 'app')),
        chance.choice(('app', 'db', 'db', 'web'))))
    return Bandwidth(between=between, mbps=chance.choice((1, 3, 10)),
                     level=chance.choice(LEVELS),
                     weight=chance.choice((None, 0.001, 1.0)))


def _policies(chance):
    for _ in range(chance.choice((0, 1, 1, 2))):
        level = chance.choice(LEVELS)
        weight = chance.choice((None, 0.5, 2.0))
        yield chance.choice((
            lambda: AntiAffinity(level=level, weight=weight,
                                 max_per_domain=chance.choice(
                                     (1, 2, Fraction(1, 2)))),
            lambda: Spread(level=level, weight=weight,
                           max_skew=chance.choice((0, 1, 2))),
            lambda: Affinity(level=level, weight=weight)))()


def test_small_groups_with_traffic_are_solved_to_optimality():
    found = [agrees(random_case(seed), 'network')
             for seed in range(60_000, 60_000 + times(80))]
    assert any(found)


def test_shops_that_talk_are_planned_soundly_if_the_cloud_is_decomposed():
    for seed in range(61_000, 61_000 + times(80)):
        is_sound(random_case(seed), 'network',
                 settings=Settings('decomposed'))


def _racks(racks, vcpus=8):
    """Return two zones with racks of ten hosts each."""
    return cloud(*(host(f'r{rack}h{n}', f'az{rack % 2}', f'r{rack}',
                        inventories={'VCPU': Inventory(vcpus)})
                   for rack in range(racks) for n in range(10)),
                 levels=LEVELS)


def _tiers(*pipes, number=20, policies=()):
    """Return four tiers with at most two members of a tier on a host.

    :param pipes: pairs of sides with traffic between them
    """
    return group(
        groups=[group(servers('node', number), name=name,
                      policies=[AntiAffinity(max_per_domain=2)])
                for name in ('web', 'app', 'db', 'batch')],
        policies=policies, relationships=[
            Bandwidth(between=pipe, mbps=10, level='rack') for pipe in pipes])


def test_two_tiers_with_traffic_share_the_same_racks():
    # A rack may have 20 of the 80 members. Ten of each side in a rack are 100
    # of the 400 pairs.
    shop = _tiers(('web', 'app'), policies=[
        AntiAffinity(level='rack', max_per_domain=Fraction(1, 4))])
    found = plan(_racks(150), shop, objective='network')
    racks = {side: {found.hosts[f'{side}/node-{n}'].split('h')[0]
                    for n in range(20)} for side in ('web', 'app')}
    assert racks['web'] == racks['app']
    assert len(racks['web']) == 2
    # No pair is apart by zone, 200 pairs by rack, and all but 2 x 2 on each of
    # ten hosts by host.
    assert found.objective.value == 2 * 10 * (0 + 200 + (400 - 40))
    assert found.objective.gap == 0


def test_a_chain_of_tiers_shares_racks_evenly():
    # Three racks with (6 or 7, 13 or 14) members keep more pairs together than
    # two racks with (10, 10).
    shop = _tiers(('web', 'app'), ('app', 'db'), policies=[
        AntiAffinity(level='rack', max_per_domain=Fraction(1, 4))])
    found = plan(_racks(150), shop, objective='network')
    assert found.objective.gap <= 0.01
    racks = {found.hosts[f'app/node-{n}'].split('h')[0] for n in range(20)}
    assert len(racks) == 3


def test_spread_tiers_with_traffic_are_as_close_as_possible():
    shop = _tiers(('web', 'app'), policies=[Spread(level='az', max_skew=0)])
    found = plan(_racks(150), shop, objective='network')
    # Both tiers fit into one zone and one rack, with 2 x 2 members on each
    # host.
    assert found.objective.value == 2 * 10 * (400 - 40)
    assert found.objective.gap == 0


@pytest.mark.parametrize('strategy', ['auto', 'whole', 'decomposed'])
def test_tiers_with_traffic_use_the_only_rack_without_a_full_uplink(strategy):
    """The uplinks of all racks are full. Only one rack has capacity for both
    tiers, and they fill it."""
    hosts = cloud(
        *(host(f'r{rack}h{number}', f'r{rack}', vcpus=2 * (rack == 2) + 2)
          for rack in range(3) for number in range(4)),
        *(host(f's{number}', 'spare', vcpus=1) for number in range(14)),
        links=[Link((f'r{rack}',), 1000, 1000) for rack in range(3)])
    small = [group(servers('node', 2), name=f'tier{n}',
                   policies=[AntiAffinity()]) for n in range(7)]
    shop = group(
        groups=[*small, group(servers('node', 4, vcpus=2), name='web'),
                group(servers('node', 4, vcpus=2), name='db')],
        relationships=[Bandwidth(
            level='rack', mbps=10, between=('web', 'db'))])
    found = plan(hosts, shop, settings=Settings(strategy))
    assert {found.hosts[f'{tier}/node-{n}'].split('h')[0]
            for tier in ('web', 'db') for n in range(4)} == {'r2'}


def test_a_plan_without_traffic_cost_is_proved_optimal():
    shop = _tiers(('web/node-0', 'app/node-0'))
    found = plan(_racks(150), shop, objective='network')
    assert found.hosts['web/node-0'] == found.hosts['app/node-0']
    assert (found.objective.value, found.objective.bound) == (0, 0)


def test_members_are_placed_near_placed_traffic_partners():
    shop = _tiers(('web', 'app'))
    placed = {f'web/node-{n}': f'r7h{n // 2}' for n in range(20)}
    snapshot = _racks(150)
    found = plan(snapshot, shop, objective='network', placed=placed)
    assert {found.hosts[f'app/node-{n}'] for n in range(20)} == {
        *placed.values()}
    assert found.objective.gap == 0


def test_an_external_objective_can_use_traffic():
    class Chatter(Network):
        name = 'chatter'

        def for_group(self, group):
            return Chatter(group)

    found = plan(_racks(150), _tiers(('web', 'app')), objective=Chatter())
    assert found.objective.value == 2 * 10 * (400 - 40)
    assert found.objective.gap == 0
