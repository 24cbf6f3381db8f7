# SPDX-License-Identifier: Apache-2.0
"""The values of each objective for placements made by hand."""

import pytest

from nova_holistic import exceptions
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.objectives.spread import curve
from tests.unit.builders import cloud, group, host, on, servers
from tests.unit.solver.scenario import plan


def _loaded():
    """Hosts with 10 VCPUs, of which 0, 5 and 8 are used."""
    return cloud(*(host(name, 'r', inventories={
        'VCPU': Inventory(10, used=used)})
        for name, used in (('empty', 0), ('half', 5), ('full', 8))))


def _value(name, snapshot, wanted, placed=None, **where):
    return load_objective(name).value(
        wanted.all_members(), on(snapshot, **where), placed or {}, snapshot)


def test_fewest_hosts_counts_hosts_and_not_members():
    wanted = group(servers('db', 3))
    snapshot = _loaded()
    assert _value('fewest-hosts', snapshot, wanted, db_0='full',
                  db_1='full', db_2='half') == 2


def test_stack_costs_the_free_share_of_the_used_hosts():
    wanted = group(servers('db', 2))
    assert _value('stack', _loaded(), wanted, db_0='full',
                  db_1='full') == pytest.approx(0.2)
    assert _value('stack', _loaded(), wanted, db_0='empty',
                  db_1='half') == pytest.approx(1.5)


def test_spread_costs_more_on_fuller_hosts():
    wanted = group(servers('db', 1))
    # The squares of the used share before and after are 0 and 0.01, 0.25 and
    # 0.36, and 0.64 and 0.81.
    for name, cost in (('empty', 0.01), ('half', 0.11), ('full', 0.17)):
        assert _value('spread', _loaded(), wanted,
                      db_0=name) == pytest.approx(cost)


def test_the_curve_interpolates_the_square_between_tenths():
    assert curve(0.3) == pytest.approx(0.09)
    assert curve(0.35) == pytest.approx((0.09 + 0.16) / 2)
    assert curve(0) == 0
    assert curve(1) == pytest.approx(1)


def test_spread_ignores_usage_of_placed_members():
    wanted = group(servers('db', 2))
    assert _value('spread', _loaded(), wanted, placed={'db-0': 'half'},
                  db_0='half', db_1='empty') == pytest.approx(0.01)


def test_an_overcommitted_host_counts_as_full():
    snapshot = cloud(host('a', 'r', inventories={
        'VCPU': Inventory(10, used=30), 'MEMORY_MB': Inventory(10)}))
    wanted = group(servers('db', 1))
    assert _value('stack', snapshot, wanted, db_0='a') == 0


@pytest.mark.parametrize('objective, hosts', [
    ('spread', {'empty'}), ('stack', {'full'})])
def test_each_objective_chooses_its_kind_of_host(objective, hosts):
    found = plan(_loaded(), group(servers('db', 2)), objective=objective)
    assert set(found.hosts.values()) == hosts


def test_fewest_hosts_uses_a_second_host_only_if_necessary():
    wanted = group(servers('db', 11))
    found = plan(_loaded(), wanted, objective='fewest-hosts')
    assert found.objective.value == 2
    assert found.objective.bound == 2
    assert found.objective.gap == 0


def test_spread_keeps_members_of_one_group_apart_on_an_empty_cloud():
    snapshot = cloud(*(host(f'h{n}', 'r', vcpus=10) for n in range(4)))
    found = plan(snapshot, group(servers('db', 4, vcpus=4)))
    found.uses('h0', 'h1', 'h2', 'h3')


def test_hosts_with_a_placed_member_cost_nothing_more():
    wanted = group(servers('db', 2))
    found = plan(_loaded(), wanted, objective='fewest-hosts',
                 placed={'db-0': 'half'})
    found.uses('half')


def test_an_objective_that_is_not_installed_is_refused_by_name():
    with pytest.raises(exceptions.UnknownPlugin, match='cheapest'):
        load_objective('cheapest')
