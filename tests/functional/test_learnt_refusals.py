# SPDX-License-Identifier: Apache-2.0
"""Refusals of Nova's filters that the planner cannot predict are learnt, so
that no member remains unclaimable."""

import pytest

from nova_holistic.api.views import reasons
from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState

FILTER = 'ComputeCapabilitiesFilter'
FILTERS = ['ComputeFilter', 'ServerGroupAntiAffinityFilter', FILTER]
HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1', vcpus=4)
              for number in range(4))
FAST = 'cmp-3'
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
SHOP = {'name': 'shop', 'members': [{'name': 'a', 'flavor': 'fast'}]}


@pytest.fixture(scope='module')
def running(own_cloud):
    with own_cloud(HOSTS, options={
            ('filter_scheduler', 'enabled_filters'): FILTERS}) as cloud:
        cloud.create_flavor('fast', 2, 2048, 10, {
            'capabilities:host': FAST})
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    for name in 'alternates', 'refusal_lifetime':
        running.conf.clear_override(name, group='planner')
    for name in 'search_time_limit', 'search_hosts':
        running.conf.clear_override(name, group='holistic')
    running.clear()


def create(cloud, group):
    return cloud.create_server(
        'a', 'fast', {'group': group, 'member': 'a'})


def test_stock_nova_boots_the_flavor_on_the_one_host(cloud):
    server = cloud.create_server('stock', 'fast')
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == FAST


def test_the_alternate_that_passes_the_filter_takes_the_server(cloud):
    group = cloud.plan(SHOP, {'a': 'cmp-0'}, resources=SMALL)
    server = create(cloud, group)
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == FAST
    row = cloud.row(group, 'a')
    assert (row.state, row.place.host) == (MemberState.CLAIMED, FAST)
    assert cloud.used() == {FAST: SMALL}


def test_every_refused_host_is_reported_and_left_out_of_the_next_plan(cloud):
    """With one alternate, each plan learns about two hosts."""
    cloud.conf.set_override('search_time_limit', 0, group='holistic')
    cloud.conf.set_override('alternates', 1, group='planner')
    group = cloud.plan(SHOP, {'a': 'cmp-0'}, resources=SMALL, alternates=1)
    fault = cloud.fault_of(create(cloud, group))
    assert "its planned host was rejected by Nova's filters" in fault
    assert 'cmp' not in fault
    assert cloud.row(group, 'a').state == MemberState.LOST
    assert cloud.used() == {}
    found_reasons = cloud.table.get_group(group).reasons
    (shown,) = reasons.visible_reasons(found_reasons, hosts=True)
    assert shown['at'] == 'a'
    for host in 'cmp-0', 'cmp-1':
        assert (f"host {host} was rejected by Nova's filters ({FILTER})"
                in shown['message'])
    (discreet,) = reasons.visible_reasons(found_reasons, hosts=False)
    assert 'cmp' not in discreet['message'] and FILTER in discreet['message']
    cloud.reconciler.reconcile()
    cloud.find_alternates(group)
    row = cloud.row(group, 'a')
    assert row.state == MemberState.PLANNED
    assert {row.place.host, *(p.host for p in row.alternates)} == {
        'cmp-2', FAST}
    assert not row.member.requirements.forbidden_traits
    server = create(cloud, group)
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == FAST


def test_the_reasons_state_that_every_host_is_refused(cloud):
    group = cloud.plan(SHOP, {'a': 'cmp-0'}, resources=SMALL, alternates=2)
    cloud.disable_compute(FAST)
    try:
        cloud.fault_of(create(cloud, group))
        found_reasons = cloud.planner.replan(group).reasons
    finally:
        cloud.enable_compute(FAST)
    assert cloud.row(group, 'a').state == MemberState.LOST
    assert any("Nova's filters refused 3 of 4 hosts" in each['message']
               for each in found_reasons), found_reasons


def test_a_refusal_expires(cloud):
    """The operator may have changed the aggregates, so the host is planned
    again."""
    cloud.conf.set_override('search_time_limit', 0, group='holistic')
    cloud.conf.set_override('alternates', 0, group='planner')
    group = cloud.plan(SHOP, {'a': 'cmp-0'}, resources=SMALL, alternates=0)
    cloud.fault_of(create(cloud, group))
    now = cloud.clock()
    assert cloud.table.refusals.of_group(group, now.replace(year=2000)) == {
        'a': {'cmp-0'}}
    assert not cloud.table.refusals.of_group(group, now.replace(year=9000))
    cloud.conf.set_override('refusal_lifetime', 0, group='planner')
    for host in HOSTS[1:]:
        cloud.disable_compute(host.name)
    try:
        assert not cloud.planner.replan(group).reasons
    finally:
        cloud.enable_computes()
    assert cloud.row(group, 'a').place.host == 'cmp-0'


def test_refusals_go_with_their_group(cloud):
    """The deletion of a group deletes its refusals."""
    cloud.conf.set_override('search_time_limit', 0, group='holistic')
    group = cloud.plan(SHOP, {'a': 'cmp-0'}, resources=SMALL, alternates=0)
    cloud.fault_of(create(cloud, group))
    cloud.lifecycle.delete(group)
    assert not cloud.table.refusals.of_group(
        group, cloud.clock().replace(year=2000))


def test_a_plan_of_the_engine_is_claimed_in_the_end(cloud):
    group = cloud.planner.create(
        SHOP, project_id=PROJECT, user_id=USER).uuid
    server = create(cloud, group)
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == FAST


def test_a_search_finds_the_one_host_that_passes_the_filter(cloud):
    group = cloud.plan(SHOP, {'a': 'cmp-0'}, resources=SMALL, alternates=0)
    server = create(cloud, group)
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == FAST
    assert cloud.row(group, 'a').place.host == FAST
    assert cloud.used() == {FAST: SMALL}


def test_a_search_tries_no_more_hosts_than_it_may(cloud):
    """The search tries the host that passes the filter last, because it is not
    empty."""
    cloud.conf.set_override('search_hosts', 1, group='holistic')
    other_server = cloud.add_consumer(FAST, {'VCPU': 1})
    group = cloud.plan(SHOP, {'a': 'cmp-0'}, resources=SMALL, alternates=0)
    cloud.fault_of(create(cloud, group))
    cloud.delete_consumer(other_server)
    learnt = cloud.table.refusals.of_group(
        group, cloud.clock().replace(year=2000))['a']
    assert len(learnt) == 2 and 'cmp-0' in learnt and FAST not in learnt
