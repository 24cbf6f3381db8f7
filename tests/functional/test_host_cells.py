# SPDX-License-Identifier: Apache-2.0
"""The scheduler caches the cell of a host as long as the host exists."""

import uuid

import pytest

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.scheduler.claim.request_refusal import HostRefused
from nova_holistic.scheduler.hosts.host_reader import HostReader
from tests.functional.call_counts import counted

SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
MEMBERS = {'a': 'cmp-0', 'b': 'cmp-1', 'c': 'cmp-2'}
GROUP = {'name': 'web', 'members': [
    {'name': name, 'flavor': 'small'} for name in MEMBERS]}
HOSTS = [EmbeddedHost(host) for host in MEMBERS.values()]


def planned(cloud):
    cloud.create_flavor('small', 2, 2048, 10)
    return cloud.plan(GROUP, MEMBERS, resources=SMALL)


def ask(cloud, group, member):
    """The selected host, and the statements that read the cells of hosts."""
    instance = str(uuid.uuid4())
    spec = cloud.request_spec(
        'small', {'group': group, 'member': member}, instance)
    with counted() as calls:
        answer = cloud.select_destinations(spec, [instance])[0]
    return answer[0].service_host, [
        text for text in calls.sql if 'FROM host_mappings' in text]


def host_manager(cloud):
    return cloud.controllers.scheduler.manager.host_manager


def test_the_cells_of_all_hosts_of_a_group_are_read_once(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        group = planned(cloud)
        host_manager(cloud).refresh_cells_caches()
        found = [ask(cloud, group, member) for member in MEMBERS]
    assert [host for host, _ in found] == list(MEMBERS.values())
    assert [len(reads) for _, reads in found] == [1, 0, 0]


def test_a_host_that_is_not_in_its_cell_is_forgotten(lend_cloud):
    """The host may be in another cell now."""
    with lend_cloud(HOSTS) as cloud:
        group = planned(cloud)
        ask(cloud, group, 'a')
        known = host_manager(cloud).host_to_cell_uuid
        cell, = {known[host] for host in MEMBERS.values()}
        reader = HostReader(host_manager(cloud), None, None)
        place = cloud.row(group, 'b').place
        for other, is_known in (str(uuid.uuid4()), True), (cell, False):
            mapping = host_manager(cloud).cells[cell].obj_clone()
            mapping.uuid = other
            with pytest.raises(HostRefused, match='no longer exists'):
                reader._state(mapping, place, None, {})
            assert (place.host in known) is is_known
        host, reads = ask(cloud, group, 'b')
    assert (host, len(reads)) == ('cmp-1', 1)
