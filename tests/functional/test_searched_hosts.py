# SPDX-License-Identifier: Apache-2.0
"""A create finds another host if its planned host and all alternates are
refused: the member is planned again while the request waits."""

import threading
import uuid

import pytest

from nova_holistic.scheduler.claim.claims import Claims
from nova_holistic.table.records import MemberState
from tests.functional.claims import (
    ALL_CPUS, APART, assert_claimed, create, document, host_of_active,
    SMALL)


def test_another_host_takes_the_server_in_the_same_create(cloud):
    """The planned host and the only alternate, cmp-0, are disabled."""
    group = cloud.plan(document('a', 'b', policies=APART),
                       {'a': 'cmp-2', 'b': 'cmp-1'}, resources=SMALL,
                       alternates=1)
    hold = cloud.row(group, 'a').hold
    for host in 'cmp-0', 'cmp-2':
        cloud.disable_compute(host)
    server = create(cloud, group, 'a')
    host = host_of_active(cloud, server)
    # The other member is planned on cmp-1.
    assert host in ('cmp-3', 'cmp-4')
    assert_claimed(cloud, group, 'a', server, host)
    assert cloud.holds.exists(hold) is None
    assert cloud.used() == {host: SMALL, 'cmp-1': SMALL}
    assert cloud.row(group, 'a').place == cloud.place(host)
    assert host_of_active(cloud, create(cloud, group, 'b')) == 'cmp-1'


def host_beside_other_servers(cloud, group, vcpus):
    """Create member a, whose planned host cmp-2 is disabled, while other
    servers are on all hosts but cmp-3. Return the host of the member."""
    cloud.disable_compute('cmp-2')
    other_servers = [cloud.add_consumer(host, {'VCPU': vcpus})
                     for host in ('cmp-0', 'cmp-1', 'cmp-4')]
    found = host_of_active(cloud, create(cloud, group, 'a'))
    for other_server in other_servers:
        cloud.delete_consumer(other_server)
    return found


def test_the_objective_of_the_group_chooses_the_host(cloud):
    """Its objective prefers empty hosts."""
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL,
                       alternates=0)
    assert host_beside_other_servers(cloud, group, 1) == 'cmp-3'


def test_the_objective_counts_hosts_of_other_members(cloud):
    """The group has no policy, and its objective is the number of hosts: the
    member joins the other one, although other hosts are fuller."""
    group = cloud.plan(document('a', 'b'), {'a': 'cmp-2', 'b': 'cmp-3'},
                       resources=SMALL, alternates=0,
                       objective='fewest-hosts')
    assert host_beside_other_servers(cloud, group, 2) == 'cmp-3'


def test_requirements_of_the_description_are_kept(cloud):
    """The create request does not contain the rack of the member."""
    shop = document('a')
    shop['members'][0]['location'] = 'az1/r4'
    group = cloud.plan(shop, {'a': 'cmp-2'}, resources=SMALL, alternates=0)
    cloud.disable_compute('cmp-2')
    assert host_of_active(cloud, create(cloud, group, 'a')) == 'cmp-4'


def test_a_member_that_no_host_can_take_is_lost(cloud):
    group = cloud.plan(document('a', 'b', policies=APART),
                       {'a': 'cmp-2', 'b': 'cmp-1'}, resources=SMALL,
                       alternates=0)
    other_servers = [cloud.add_consumer(host, ALL_CPUS)
                     for host in ('cmp-0', 'cmp-3', 'cmp-4')]
    cloud.disable_compute('cmp-2')
    fault = cloud.fault_of(create(cloud, group, 'a'))
    assert 'no other host that was tried' in fault and 'cmp' not in fault
    row = cloud.row(group, 'a')
    assert (row.state, row.held) == (MemberState.LOST, False)
    (reason,) = cloud.table.get_group(group).reasons
    assert 'host cmp-2 is disabled' in reason['message']
    for other_server in other_servers:
        cloud.delete_consumer(other_server)


def test_without_time_nothing_is_searched(cloud):
    """A ``search_time_limit`` of 0 disables the search."""
    cloud.conf.set_override('search_time_limit', 0, group='holistic')
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL,
                       alternates=0)
    cloud.disable_compute('cmp-2')
    fault = cloud.fault_of(create(cloud, group, 'a'))
    assert 'no other host that was tried' not in fault
    assert cloud.row(group, 'a').state == MemberState.LOST


@pytest.mark.parametrize('alternates', [0, 8])
def test_two_creates_that_choose_one_host_at_the_same_time(
        cloud, monkeypatch, alternates):
    """The planned hosts of both members are refused. Both creates choose the
    same other host before one of them has written its choice."""
    group = cloud.plan(document('a', 'b', policies=APART),
                       {'a': 'cmp-2', 'b': 'cmp-3'}, resources=SMALL,
                       alternates=alternates)
    for host in 'cmp-2', 'cmp-3':
        cloud.disable_compute(host)
    both = threading.Barrier(2, timeout=300)
    chosen = []
    write = Claims.write

    def write_together(self, row, checked_rows):
        if len(chosen) < 2:
            chosen.append(row.place.host)
            both.wait()
        return write(self, row, checked_rows)

    monkeypatch.setattr(Claims, 'write', write_together)
    answers = {}

    def ask(member):
        instance = str(uuid.uuid4())
        answers[instance] = cloud.select_destinations(cloud.request_spec(
            'small', {'group': group, 'member': member}, instance),
            [instance])[0][0].service_host

    threads = [threading.Thread(target=ask, args=[member])
               for member in ('a', 'b')]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert chosen[0] == chosen[1]
    assert len(answers) == 2
    hosts = {row.instance_uuid: row.place.host
             for row in cloud.table.members(group)}
    assert hosts == answers and len({*hosts.values()}) == 2
    assert cloud.used() == {host: SMALL for host in hosts.values()}
    for instance in answers:
        cloud.delete_consumer(instance)
