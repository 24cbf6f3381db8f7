# SPDX-License-Identifier: Apache-2.0
"""Conflicting preferences: weights decide, and the plan lists the violations
of each preference."""

import pytest

from nova_holistic.model.plan import Preference
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.location import Location
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.scenario import plan


def _given_up(found):
    return {(p.policy, p.at): p.violations for p in found.answer.preferences}


@pytest.mark.parametrize('together, apart, racks, violations', [
    # Four members in one rack are three too many for the anti-affinity. Two in
    # each of two racks are one rack too many for the affinity, and one member
    # too many in each rack.
    (9.0, 1.0, [4], {'affinity': 0, 'anti-affinity': 3}),
    (1.0, 9.0, [2, 2], {'affinity': 1, 'anti-affinity': 2}),
])
def test_the_heavier_preference_wins(together, apart, racks, violations):
    wanted = group(servers('db', 4), policies=[
        Affinity(level='rack', weight=together),
        AntiAffinity(level='rack', weight=apart)])
    found = plan(two_racks(), wanted)
    assert found.racks() == racks
    assert _given_up(found) == {
        (policy, ''): number for policy, number in violations.items()}


def test_many_light_violations_outweigh_a_heavy_one():
    # One rack satisfies the preference of weight 5 and costs 3 x 2. Two racks
    # cost 5 + 2 x 2.
    cost = {'one': 3 * 2, 'two': 5 + 2 * 2}
    assert cost['one'] < cost['two']
    wanted = group(servers('db', 4), policies=[
        Affinity(level='rack', weight=5.0),
        AntiAffinity(level='rack', weight=2.0)])
    assert plan(two_racks(), wanted).racks() == [4]
    # With weight 6 for each excess member, one rack costs 18, and two cost 5 +
    # 12.
    wanted = group(servers('db', 4), policies=[
        Affinity(level='rack', weight=5.0),
        AntiAffinity(level='rack', weight=6.0)])
    assert plan(two_racks(), wanted).racks() == [2, 2]


def test_two_agreeing_preferences_outweigh_a_heavier_third():
    snapshot = cloud(
        host('a', 'r1', traits=frozenset({'SSD'})), host('b', 'r2'))
    here = [Location(path=('r1',), weight=2.0),
            Traits(has=frozenset({'SSD'}), weight=2.0)]
    wanted = group(servers('db'), policies=[
        *here, Location(path=('r2',), weight=3.0)])
    found = plan(snapshot, wanted)
    found.uses('a')
    assert found.answer.preferences == (
        Preference('location', '', 0), Preference('traits', '', 0),
        Preference('location', '', 1))


def test_weights_decide_between_spread_and_affinity():
    # With three racks, the affinity has two violations, and with one rack, the
    # spread misses two domains.
    snapshot = cloud(*(host(f'h{n}', f'r{n}') for n in range(3)))

    def racks(weight):
        wanted = group(servers('db', 6), policies=[
            Affinity(level='rack', weight=weight),
            Spread(level='rack', min_domains=3, weight=3.0)])
        return plan(snapshot, wanted)

    together, apart = racks(4.0), racks(2.0)
    assert together.racks() == [6]
    assert _given_up(together) == {('affinity', ''): 0, ('spread', ''): 2}
    assert len(apart.racks()) == 3
    assert _given_up(apart) == {('affinity', ''): 2, ('spread', ''): 0}


def test_preferences_of_nested_and_outer_groups_are_added():
    # The nested groups prefer different racks, but the outer group prefers a
    # single rack.
    def shop(weight):
        return group(groups=[
            group(servers('node', 2), name='db', policies=[
                Location(path=('r1',), weight=1.0)]),
            group(servers('node', 2), name='web', policies=[
                Location(path=('r2',), weight=1.0)])],
            policies=[Affinity(level='rack', weight=weight)])

    # A move of one nested group to the other rack costs 2.
    assert plan(two_racks(), shop(1.5)).racks() == [2, 2]
    found = plan(two_racks(), shop(2.5))
    assert found.racks() == [4]
    # Either of the nested groups may violate its preference.
    given_up = _given_up(found)
    assert given_up['affinity', ''] == 0
    assert sorted((given_up['location', 'db'],
                   given_up['location', 'web'])) == [0, 2]


def test_a_preference_never_overrules_a_hard_policy():
    wanted = group(servers('db', 2), policies=[
        AntiAffinity(level='rack'), Affinity(level='rack', weight=1000.0)])
    found = plan(two_racks(), wanted)
    assert found.racks() == [1, 1]
    assert _given_up(found) == {('affinity', ''): 1}


def test_preferences_come_before_the_objective():
    # The objective alone would use one host. The small preference uses four.
    wanted = group(servers('db', 4), policies=[AntiAffinity(weight=0.01)])
    found = plan(two_racks(), wanted, objective='fewest-hosts')
    assert found.objective.value == 4
    assert _given_up(found) == {('anti-affinity', ''): 0}
