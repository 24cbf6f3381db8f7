# SPDX-License-Identifier: Apache-2.0
"""The times at which the allocations of servers are read from Placement."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.holds.errors import HoldsError
from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.reconcile.members_with_servers import MembersWithServers
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.reconcile import resized_servers
from nova_holistic.reconcile.resized_servers import ResizedServers, Servers
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.table import builders

LARGE = {'VCPU': 8, 'MEMORY_MB': 4096}


class Allocations:
    """The part of Placement that is called here.

    :ivar found: resources by consumer
    :ivar asked: providers in the order of the requests
    :ivar generations: generations of all providers
    :ivar listed: how often all providers were listed
    :ivar away: whether it is unavailable
    """

    def __init__(self):
        self.found = {}
        self.asked = []
        self.generations = {}
        self.listed = 0
        self.away = False

    def providers(self):
        self.listed += 1
        if self.away:
            raise HoldsError('no answer')
        return dict(self.generations)

    def resources(self, provider):
        self.asked.append(provider)
        if self.away:
            raise HoldsError('no answer')
        return self.found


class Scenario:
    """Two servers on different hosts.

    :ivar views: the latest state of each server in Nova
    """

    def __init__(self, table):
        self.table = table
        self.placement = Allocations()
        self.now = builders.NOON
        group = builders.a_group(GroupStatus.COMPLETE)
        table.create_group(group)
        self.group = group.uuid
        table.write_members(group.uuid, [
            replace(row, state=MemberState.BUILT, held=False,
                    instance_uuid=builders.new_uuid())
            for row in builders.members_of(group, {'node': 2})])
        self.views = {row.instance_uuid: InstanceView(
            row.instance_uuid, row.place.host, 'ACTIVE', flavor='small')
            for row in self.rows()}
        self.first, self.second = self.views
        self.placement.found = dict.fromkeys(
            self.views, dict(builders.SMALL.resources))
        self.placement.generations = {
            row.place.provider: 1 for row in self.rows()}
        self.members, self.changed = MembersWithServers(), set()
        self.resized = ResizedServers(
            table, self.placement, lambda: self.now)

    def rows(self):
        return self.table.members(self.group)

    def resources(self):
        return [dict(row.member.requirements.resources)
                for row in self.rows()]

    def change(self, instance, **fields):
        self.views[instance] = replace(self.views[instance], **fields)
        self.changed.add(instance)

    def servers(self):
        """The servers, and which of them have changed since the previous
        call."""
        changed = self.members.follow(self.table.outlines.read())
        changed, self.changed = changed | self.changed, set()
        return Servers(self.members.by_server, changed, self.views.get)

    def reconcile_members(self):
        """One pass: its repairs, and the number of hosts for which it sent a
        request."""
        repaired, asked = Counter(), len(self.placement.asked)
        self.resized.reconcile_members(
            repaired, self.servers(), Reconciler._each)
        return repaired['resized'], len(self.placement.asked) - asked


@pytest.fixture
def scenario(tmp_path):
    return Scenario(PlacementTable(new_table(tmp_path)))


def test_each_host_is_queried_once(scenario):
    assert scenario.reconcile_members() == (0, 2)
    assert scenario.reconcile_members() == (0, 0)


def test_a_server_with_another_flavor_is_checked(scenario):
    scenario.reconcile_members()
    scenario.placement.found[scenario.first] = LARGE
    assert scenario.reconcile_members() == (0, 0)
    scenario.change(scenario.first, flavor='large')
    assert scenario.reconcile_members() == (1, 1)
    assert scenario.resources() == [LARGE, dict(builders.SMALL.resources)]
    wanted = scenario.rows()[0].member.requirements
    assert replace(wanted, resources=builders.SMALL.resources) == (
        builders.SMALL)
    assert scenario.reconcile_members() == (0, 0)


@pytest.mark.parametrize('change', [
    {'status': 'VERIFY_RESIZE'}, {'status': 'RESIZE'}, {'host': 'cmp-7'},
    {'host': None}, {'flavor': ''}])
def test_a_server_that_moves_or_is_unknown_is_left_alone(scenario, change):
    scenario.placement.found[scenario.first] = LARGE
    scenario.change(scenario.first, **change)
    assert scenario.reconcile_members() == (0, 1)
    assert scenario.resources()[0] == builders.SMALL.resources


def test_a_resize_that_was_reverted_is_checked_again(scenario):
    scenario.reconcile_members()
    scenario.change(scenario.first, status='VERIFY_RESIZE', flavor='large')
    assert scenario.reconcile_members() == (0, 0)
    scenario.change(scenario.first, status='ACTIVE', flavor='small')
    assert scenario.reconcile_members() == (0, 1)


def test_a_server_without_an_allocation_keeps_what_was_planned(scenario):
    scenario.placement.found = {}
    assert scenario.reconcile_members() == (0, 2)
    assert scenario.resources() == [dict(builders.SMALL.resources)] * 2


def test_a_server_that_now_belongs_to_another_member_is_ignored(scenario):
    rows = scenario.rows()
    scenario.placement.found[scenario.first] = LARGE
    taken = scenario.servers()
    scenario.table.change_state(
        rows[0].id, [MemberState.BUILT], MemberState.CLAIMED, scenario.now)
    repaired = Counter()
    scenario.resized.reconcile_members(
        repaired, taken, Reconciler._each)
    assert not repaired['resized']
    assert scenario.resources()[0] == builders.SMALL.resources


def test_a_request_to_an_unavailable_placement_is_repeated(scenario):
    scenario.placement.away = True
    assert scenario.reconcile_members() == (0, 2)
    scenario.placement.away = False
    scenario.placement.found[scenario.second] = LARGE
    assert scenario.reconcile_members() == (1, 2)


def test_a_pass_queries_only_some_hosts(scenario, monkeypatch):
    monkeypatch.setattr(resized_servers, 'MOST_HOSTS', 1)
    assert [scenario.reconcile_members() for _ in range(3)] == [(0, 1), (0, 1),
                                                                (0, 0)]


def an_hour_later(scenario, *written):
    """Let the interval pass after which hosts are checked again.

    :param written: providers on which allocations were written in the meantime
    """
    for provider in written:
        scenario.placement.generations[provider] += 1
    scenario.now += resized_servers.CHECK_AGAIN


def test_each_host_is_checked_if_a_round_takes_longer_than_an_hour(
        scenario, monkeypatch):
    monkeypatch.setattr(resized_servers, 'MOST_HOSTS', 1)
    for _ in range(4):
        assert scenario.reconcile_members() == (0, 1)
        an_hour_later(scenario, *scenario.placement.generations)
    assert len({*scenario.placement.asked[:2]}) == 2
    assert {*scenario.placement.asked[:2]} == {*scenario.placement.asked[2:]}


@pytest.mark.parametrize('noticed', [True, False])
def test_a_resize_does_not_wait_for_other_hosts(
        scenario, monkeypatch, noticed):
    monkeypatch.setattr(resized_servers, 'MOST_HOSTS', 1)
    assert [scenario.reconcile_members() for _ in range(2)] == [(0, 1), (0, 1)]
    last = next(row.instance_uuid for row in scenario.rows()
                if row.place.provider == scenario.placement.asked[-1])
    if noticed:
        scenario.change(last, status='VERIFY_RESIZE', flavor='large')
        assert scenario.reconcile_members() == (0, 0)
    # All hosts are due again.
    an_hour_later(scenario, *scenario.placement.generations)
    scenario.placement.found[last] = LARGE
    scenario.change(last, status='ACTIVE', flavor='large')
    assert scenario.reconcile_members() == (1, 1)


def test_hosts_are_checked_again_if_allocations_were_written(scenario):
    scenario.reconcile_members()
    scenario.now += resized_servers.CHECK_AGAIN - timedelta(seconds=1)
    written = scenario.rows()[1].place.provider
    scenario.placement.generations[written] += 1
    scenario.placement.found[scenario.second] = LARGE
    assert scenario.reconcile_members() == (0, 0)
    scenario.now += timedelta(seconds=1)
    assert scenario.reconcile_members() == (1, 1)
    assert scenario.placement.asked[2:] == [written]


def test_an_hour_without_changes_costs_one_request(scenario):
    scenario.reconcile_members()
    for number in range(2, 5):
        an_hour_later(scenario)
        assert [scenario.reconcile_members() for _ in range(3)] == [(0, 0)] * 3
        assert scenario.placement.listed == number


def test_allocations_written_during_the_checks_are_checked_an_hour_later(
        scenario):
    scenario.reconcile_members()
    scenario.placement.found[scenario.first] = LARGE
    an_hour_later(scenario, *scenario.placement.generations)
    assert scenario.reconcile_members() == (1, 2)


def test_all_hosts_are_checked_if_generations_are_not_known(scenario):
    scenario.reconcile_members()
    scenario.placement.away = True
    an_hour_later(scenario)
    assert scenario.reconcile_members() == (0, 2)
    scenario.placement.away = False
    assert scenario.reconcile_members() == (0, 2)
    an_hour_later(scenario)
    # No earlier generation is known.
    assert scenario.reconcile_members() == (0, 2)
    an_hour_later(scenario)
    assert scenario.reconcile_members() == (0, 0)


def test_a_missing_provider_is_queried(scenario):
    scenario.reconcile_members()
    del scenario.placement.generations[scenario.rows()[0].place.provider]
    an_hour_later(scenario)
    assert scenario.reconcile_members() == (0, 1)
