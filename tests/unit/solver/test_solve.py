# SPDX-License-Identifier: Apache-2.0
"""Placeable groups, and the hosts of their plans."""

from fractions import Fraction

import pytest

from nova_holistic import exceptions
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import Preference
from nova_holistic.policies.affinity import Affinity, SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.anti_affinity import SoftAntiAffinity
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.scenario import plan


def test_anti_affinity_over_racks_uses_one_host_in_each():
    wanted = group(servers('db', 2), policies=[AntiAffinity(level='rack')])
    assert plan(two_racks(), wanted).racks() == [1, 1]


def test_affinity_keeps_a_group_in_one_rack():
    wanted = group(servers('db', 4, vcpus=8),
                   policies=[Affinity(level='rack')])
    assert plan(two_racks(), wanted).racks() == [4]


def test_affinity_chooses_the_rack_in_which_all_fit_together():
    snapshot = cloud(host('a1', 'a', vcpus=32), host('b1', 'b', vcpus=16),
                     host('b2', 'b', vcpus=16), host('b3', 'b', vcpus=16))
    wanted = group(servers('db', 3, vcpus=16),
                   policies=[Affinity(level='rack')])
    plan(snapshot, wanted).uses('b1', 'b2', 'b3')


def test_members_of_one_class_are_assigned_in_order():
    wanted = group(servers('db', 12), policies=[AntiAffinity()])
    snapshot = cloud(*(host(f'h{n:02}', 'r') for n in range(12)))
    assert list(plan(snapshot, wanted).hosts.items()) == [
        (f'db-{n}', f'h{n:02}') for n in range(12)]


def test_a_share_limits_the_members_per_rack():
    wanted = group(servers('db', 5), policies=[
        AntiAffinity(level='rack', max_per_domain=Fraction(60, 100))])
    assert plan(two_racks(), wanted,
                objective='fewest-hosts').racks() == [2, 3]


def test_policies_of_nested_groups_hold_together():
    def tier(name):
        return group(servers('node', 2), name=name,
                     policies=[AntiAffinity()])

    wanted = group(groups=[tier('db'), tier('web')],
                   policies=[Affinity(level='rack')])
    found = plan(two_racks(), wanted)
    assert found.racks() == [4]
    assert found.hosts['db/node-0'] != found.hosts['db/node-1']
    assert found.hosts['web/node-0'] != found.hosts['web/node-1']


def test_a_label_is_a_level_like_any_other():
    snapshot = cloud(*(host(name, 'r1', labels={'feed': feed})
                       for name, feed in (('a', 'A'), ('b', 'A'),
                                          ('c', 'B'))))
    wanted = group(servers('db', 2), policies=[AntiAffinity(level='feed')])
    assert 'c' in plan(snapshot, wanted).hosts.values()


def test_a_host_without_the_label_cannot_hold_a_member():
    snapshot = cloud(host('a', 'r1', labels={'feed': 'A'}), host('b', 'r1'))
    wanted = group(servers('db', 2), policies=[Affinity(level='feed')])
    plan(snapshot, wanted).uses('a')


def test_a_preference_yields_to_capacity():
    wanted = group(servers('db', 3), policies=[
        SoftAntiAffinity(level='rack')])
    found = plan(two_racks(), wanted)
    assert found.racks() == [1, 2]
    assert found.answer.preferences == (
        Preference('soft-anti-affinity', '', 1),)


def test_a_preference_comes_before_the_objective():
    wanted = group(servers('db', 2), policies=[SoftAffinity()])
    found = plan(two_racks(), wanted, objective='spread')
    assert len(set(found.hosts.values())) == 1
    assert found.answer.preferences == (Preference('soft-affinity', '', 0),)


def test_the_heavier_of_two_preferences_wins():
    def wanted(together, apart):
        return group(servers('db', 2), policies=[
            Affinity(level='rack', weight=together),
            AntiAffinity(level='rack', weight=apart)])

    assert plan(two_racks(), wanted(2.0, 1.0)).racks() == [2]
    assert plan(two_racks(), wanted(1.0, 2.0)).racks() == [1, 1]
    assert plan(two_racks(), wanted(2e-9, 1e-9)).racks() == [2]


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
def test_equal_calls_give_equal_answers(solver):
    wanted = group(servers('db', 4, vcpus=3), servers('web', 3, vcpus=2),
                   policies=[AntiAffinity(max_per_domain=2)])
    answers = [solve(wanted, two_racks(3),
                     settings=Settings(solver=solver)) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]


def test_placed_members_stay_and_count_for_policies():
    snapshot = cloud(
        host('a', 'r1', inventories={'VCPU': Inventory(16, used=1)}),
        host('b', 'r1'), host('c', 'r2'))
    wanted = group(servers('db', 2), policies=[AntiAffinity(level='rack')])
    found = plan(snapshot, wanted, placed={'db-1': 'a'})
    assert found.hosts == {'db-0': 'c', 'db-1': 'a'}


def test_a_placed_member_may_be_on_a_full_host():
    snapshot = cloud(
        host('a', 'r1', inventories={'VCPU': Inventory(1, used=1)}),
        host('b', 'r1'), host('c', 'r2'))
    wanted = group(servers('db', 2), policies=[Affinity(level='rack')])
    found = plan(snapshot, wanted, placed={'db-0': 'a'})
    assert found.hosts == {'db-0': 'a', 'db-1': 'b'}


@pytest.mark.parametrize('placed', [{'db-0': 'nowhere'}, {'dbb': 'r1h1'}])
def test_an_unknown_placed_member_or_host_is_refused(placed):
    with pytest.raises(exceptions.InvalidDocument):
        solve(group(servers('db', 2)), two_racks(), placed=placed)


def test_plugins_that_are_not_installed_are_named():
    with pytest.raises(exceptions.UnknownPlugin, match='guess.*cbc, highs'):
        solve(group(servers('db')), two_racks(),
              settings=Settings(solver='guess'))
    with pytest.raises(exceptions.UnknownPlugin, match='luck.*spread'):
        solve(group(servers('db')), two_racks(), objective='luck')


def test_the_answer_reports_the_seconds_of_each_step():
    ticks = iter(range(1000))
    answer = solve(
        group(servers('db')), two_racks(),
        settings=Settings(time_limit=900, timer=lambda: float(next(ticks))))
    assert set(answer.seconds) == {'snapshot', 'build', 'solve', 'total'}
    assert answer.seconds['snapshot'] == 0
    assert answer.seconds['solve'] > 0
    assert answer.seconds['total'] == pytest.approx(
        answer.seconds['build'] + answer.seconds['solve'])
