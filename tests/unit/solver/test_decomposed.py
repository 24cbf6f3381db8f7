# SPDX-License-Identifier: Apache-2.0
"""The decomposition by domains and types of hosts, as used for large groups:
good plans, valid bounds, and preferences before the objective."""

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.agreement import is_sound
from tests.unit.solver.clocks import ENOUGH
from tests.unit.solver.scenario import plan
from tests.unit.solver.strategies import seeded
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships
from tests.unit.solver.test_oracle import OBJECTIVES, random_case

DECOMPOSED = Settings('decomposed', time_limit=ENOUGH)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_the_bound_is_not_above_the_best_plan(objective):
    for seed in range(4000, 4000 + times(150)):
        is_sound(random_case(seed), objective, settings=DECOMPOSED)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_the_bound_is_true_under_policies_of_every_type(objective):
    for seed in range(4000, 4000 + times(100)):
        is_sound(test_oracle_policies.random_case(seed), objective,
                 settings=DECOMPOSED)


def test_the_bound_is_true_in_the_whole_language():
    for seed in range(70_000, 70_000 + times(60)):
        case = seeded(seed)
        is_sound((*case.read(), case.placed), OBJECTIVES[seed % 3],
                 settings=DECOMPOSED)


@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack', 'spread'])
def test_the_bound_is_true_under_relationships(objective):
    for seed in range(5000, 5000 + times(40)):
        is_sound(test_oracle_relationships.random_case(seed), objective,
                 settings=DECOMPOSED)


def two_zones(hosts=200):
    return cloud(*(host(f'h{n}', f'az{n % 2}', f'r{n // 40}', inventories={
        'VCPU': Inventory(32, used=n * 7 % 30)}) for n in range(hosts)),
        levels=('az', 'rack', 'host'))


def shop(*wishes, relationships=()):
    """Return two groups of 32 servers, spread evenly over the zones. The first
    group has the additional policies in ``wishes``."""
    return group(groups=[
        group(servers('small', 16), servers('large', 16, vcpus=4), name=name,
              policies=[AntiAffinity(max_per_domain=4), *more])
        for name, more in (('one', wishes), ('other', ()))],
        policies=[Spread(level='az', max_skew=2)],
        relationships=relationships)


def zones(planned, prefix):
    return {int(name[1:]) % 2 for path, name in planned.hosts.items()
            if path.startswith(prefix)}


ONE_ZONE = shop(Affinity(level='az', weight=2.0))
JOINED = shop(relationships=[RelationshipAffinity(
    level='az', weight=1.0, between=('one/small-0', 'other/small-0'))])
CONTRARY = shop(Affinity(level='az', weight=1.0),
                Spread(level='az', min_domains=2, weight=3.0))


@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack', 'spread'])
def test_a_weighted_affinity_keeps_a_group_in_one_zone(objective):
    found = plan(two_zones(), ONE_ZONE, objective=objective,
                 settings=DECOMPOSED)
    assert len(zones(found, 'one/')) == 1
    assert found.answer.preferences[0].violations == 0


def test_two_servers_that_a_relationship_joins_are_in_one_zone():
    found = plan(two_zones(), JOINED, objective='fewest-hosts',
                 settings=DECOMPOSED)
    assert len(zones(found, 'one/small-0') | zones(
        found, 'other/small-0')) == 1


def test_of_two_preferences_that_exclude_each_other_the_dearer_is_met():
    found = plan(two_zones(), CONTRARY, objective='fewest-hosts',
                 settings=DECOMPOSED)
    assert [p.violations for p in found.answer.preferences] == [1, 0]


def full_zone():
    """Return a group and a cloud. The first group needs eight hosts in one
    zone for its limit of four members per host. The other group needs one more
    host, in the other zone."""
    snapshot = cloud(*(host(f'h{n}', f'az{n % 2}', vcpus=64)
                       for n in range(40)), levels=('az', 'host'))
    return group(groups=[
        group(servers('node', 32), name='one', policies=[
            AntiAffinity(max_per_domain=4),
            Affinity(level='az', weight=1.0)]),
        group(servers('node', 32), name='other')],
        policies=[Spread(level='az', max_skew=2)]), snapshot


def test_a_group_in_one_zone_has_hosts_for_its_limit_there():
    wanted, snapshot = full_zone()
    found = plan(snapshot, wanted, objective='fewest-hosts',
                 settings=DECOMPOSED)
    assert found.objective.value == 9.0
