# SPDX-License-Identifier: Apache-2.0
"""The traffic of all groups on an uplink never exceeds what is reserved for
them together."""

from concurrent.futures import ThreadPoolExecutor
import random

import pytest

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.table.changes.group_purge import Choice, purge
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from tests.unit.table import builders

A, B = (Domain('rack', (name,)) for name in 'ab')
POWER = Domain('power/feed', ('x' * 255,))
LIMITS = {A: 1000, B: 1000}


def groups(table, number):
    return [builders.planned(table, web=None).uuid for _ in range(number)]


def used(table):
    return table.links.demand_of_others(None)


def test_a_second_group_gets_what_the_first_one_leaves(table):
    first, second = groups(table, 2)
    assert table.links.reserve(first, {A: 600, B: 100}, LIMITS) is None
    assert table.links.reserve(second, {A: 401, B: 10}, LIMITS) == A
    assert used(table) == {A: 600, B: 100}
    assert table.links.reserve(second, {A: 400}, LIMITS) is None
    assert table.links.demand_of_others(first) == {A: 400}
    assert table.links.demand_of_others(second) == {A: 600, B: 100}


def test_a_link_without_a_limit_is_counted(table):
    group, = groups(table, 1)
    assert table.links.reserve(group, {POWER: 10**7}, LIMITS) is None
    assert used(table) == {POWER: 10**7}


def test_until_a_plan_is_accepted_both_places_are_reserved(table):
    group, other = groups(table, 2)
    table.links.reserve(group, {A: 600}, LIMITS)
    assert table.links.reserve(group, {A: 200, B: 600}, LIMITS) is None
    assert used(table) == {A: 600, B: 600}
    assert table.links.settle(
        table.links.version(group), {A: 200, B: 600}, owned=True)
    assert used(table) == {A: 200, B: 600}
    assert table.links.reserve(other, {A: 800}, LIMITS) is None


def test_a_group_without_members_in_place_is_replaced(table):
    group, = groups(table, 1)
    table.links.reserve(group, {A: 600}, LIMITS, replace=True)
    table.links.reserve(group, {B: 600}, LIMITS, replace=True)
    assert used(table) == {B: 600}


def test_a_reservation_is_changed_until_it_is_settled(table):
    group, = groups(table, 1)
    assert table.links.changed() == []
    table.links.reserve(group, {A: 600}, LIMITS)
    seen, = table.links.changed()
    table.links.reserve(group, {A: 700}, LIMITS)
    assert not table.links.settle(seen, {})
    seen, = table.links.changed()
    assert table.links.settle(seen, {A: 700})
    assert table.links.changed() == []


def test_a_change_of_places_is_found(table):
    group, = groups(table, 1)
    table.links.reserve(group, {A: 600}, LIMITS)
    table.links.settle(table.links.version(group), {A: 600})
    hold = table.members(group)[0].hold
    table.release([hold], builders.NOON)
    assert [seen.group_uuid for seen in table.links.changed()] == [group]


def test_a_group_with_a_task_is_left_to_its_engine(table):
    group, = groups(table, 1)
    table.links.reserve(group, {A: 600}, LIMITS)
    seen, = table.links.changed()
    assert table.tasks.request(
        group, NewTask(
            Task.UPDATING, {}, [GroupStatus.PLANNED]), builders.NOON)
    assert table.links.changed() == []
    assert not table.links.settle(seen, {})
    assert table.links.settle(seen, {B: 1}, owned=True)
    assert used(table) == {B: 1}


@pytest.mark.parametrize('end', [
    lambda table, group: table.delete_group(group),
    lambda table, group: purge(table.database, group, Choice())])
def test_a_deleted_group_uses_nothing(table, end):
    group, other = groups(table, 2)
    for each in group, other:
        table.links.reserve(each, {A: 300}, LIMITS)
    builders.force_status(table, group, GroupStatus.RELEASED)
    hold = table.members(group)[0].hold
    table.release([hold], builders.NOON)
    table.forget_holds([hold])
    end(table, group)
    assert table.get_group(group) is None
    assert used(table) == {A: 300}
    # The plan of a deleted group is not accepted.
    assert table.links.reserve(group, {A: 300}, LIMITS) is None
    assert used(table) == {A: 300}


def test_engines_at_the_same_time_do_not_exceed_a_link(table):
    some = groups(table, 8)

    def reserve(group):
        return table.links.reserve(group, {A: 240, B: 10}, LIMITS)

    with ThreadPoolExecutor(8) as pool:
        refused = list(pool.map(reserve, some))
    assert (refused.count(None), refused.count(A)) == (4, 4)
    assert used(table) == {A: 960, B: 40}


def test_totals_are_the_sums_of_all_groups(table):
    """After any sequence of reservations, changes and deletions."""
    chance = random.Random(7)
    known = {group: {} for group in groups(table, 6)}
    for _ in range(60):
        group = chance.choice(sorted(known))
        demand = {each: chance.randint(1, 400)
                  for each in (A, B) if chance.random() < 0.7}
        act = chance.random()
        if act < 0.6:
            full = table.links.reserve(group, demand, LIMITS, replace=True)
            rest = {each: sum(other.get(each, 0) for name, other
                              in known.items() if name != group)
                    for each in (A, B)}
            fits = all(rest[each] + mbps <= 1000
                       for each, mbps in demand.items())
            assert (full is None) == fits
            if fits:
                known[group] = demand
        elif act < 0.95:
            assert table.links.settle(table.links.version(group), demand)
            known[group] = demand
        elif len(known) > 2:
            table.delete_group(group)
            del known[group]
        sums = {each: sum(other.get(each, 0) for other in known.values())
                for each in (A, B)}
        assert used(table) == {each: mbps for each, mbps in sums.items()
                               if mbps}
