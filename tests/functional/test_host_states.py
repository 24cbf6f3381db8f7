# SPDX-License-Identifier: Apache-2.0
"""The state of a host that the scheduler reads itself equals the state that
Nova reads."""

import uuid

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager as nova_hosts
import pytest

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.scheduler.hosts.host_reader import HostReader
from tests.functional.call_counts import counted

HOSTS = [EmbeddedHost(f'cmp-{number}') for number in range(3)]
DIFFERENT = 'DifferentHostFilter'


def values(state):
    """All data of a host that filters can read, in a comparable form."""
    found = dict(vars(state))
    found['pci_stats'] = found['pci_stats'].pools
    found['metrics'] = found['metrics'].obj_to_primitive()
    found['instances'] = {*found['instances'].keys()}
    found['numa_topology'] = str(found['numa_topology'])
    return found


@pytest.mark.parametrize('with_numa', [True, False])
def test_every_attribute_is_the_same(lend_cloud, with_numa):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        group = cloud.plan({'name': 'web', 'members': [
            {'name': 'a', 'flavor': 'small'}]}, {'a': 'cmp-1'},
            resources={'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10})
        server = cloud.create_server(
            'one', 'small', {'group': group, 'member': 'a'})
        cloud.wait_for_status(server, 'ACTIVE')
        place = cloud.row(group, 'a').place
        manager = cloud.controllers.scheduler.manager
        context = nova_context.get_admin_context()
        own_state, = HostReader(
            manager.host_manager, manager.servicegroup_api, None, with_numa
        ).states(context, cloud.computes.cell, [place])
        nova, = nova_hosts.HostManager().get_host_states_by_uuids(
            context, [place.provider], objects.RequestSpec())
        own_state, nova = values(own_state[1]), values(nova)
        if not with_numa:
            nova['numa_topology'] = 'None'
    assert own_state == nova
    assert own_state['instances'] == {server}


def test_servers_of_a_host_are_read_for_a_filter_that_uses_them(
        lend_cloud):
    """This takes one statement for all hosts."""
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        manager = cloud.controllers.scheduler.manager
        host_manager = manager.host_manager
        before = host_manager.enabled_filters
        host_manager.enabled_filters = [
            *before, host_manager.filter_cls_map[DIFFERENT]()]
        try:
            group = cloud.plan({'name': 'web', 'members': [
                {'name': name, 'flavor': 'small'} for name in 'ab']},
                {'a': 'cmp-1', 'b': 'cmp-2'},
                resources={'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10})
            found = []
            for member in 'ab':
                instance = str(uuid.uuid4())
                spec = cloud.request_spec(
                    'small', {'group': group, 'member': member}, instance)
                if member == 'b':
                    spec.scheduler_hints['different_host'] = [
                        str(uuid.uuid4())]
                with counted() as calls:
                    answer = cloud.select_destinations(spec, [instance])[0]
                found.append((answer[0].service_host, len([
                    text for text in calls.sql if 'FROM instances' in text])))
        finally:
            host_manager.enabled_filters = before
    assert found == [('cmp-1', 0), ('cmp-2', 1)]
