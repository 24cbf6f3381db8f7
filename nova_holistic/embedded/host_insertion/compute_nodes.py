# SPDX-License-Identifier: Apache-2.0
"""Writes compute hosts directly into Nova's databases.

These hosts have no services. They serve to measure the scheduler with many
hosts. To start a service for each host would take minutes.
"""

import json

from nova import context, objects
from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova.db.main import api as main_database
from nova.db.main import models
from nova.objects import service as service_object
from nova.scheduler.client import query
from nova.virt import fake
from oslo_utils import timeutils, uuidutils
import sqlalchemy as sa


def compute_traits():
    """Traits that nova-compute reports for a host with the fake hypervisor."""
    capabilities = fake.FakeDriver(None).capabilities_as_traits()
    # nova-compute reports this trait only for a host with such PCI devices.
    del capabilities['COMPUTE_REMOTE_MANAGED_PORTS']
    return {'COMPUTE_NODE', 'OWNER_NOVA', *(name for name, is_supported
                                            in capabilities.items()
                                            if is_supported)}


def insert_nodes(cell, hosts):
    """Insert services, compute nodes and host mappings, and return the UUID of
    each node by the name of its host.

    :param cell: CellMapping of the cell
    :param hosts: EmbeddedHosts
    """
    admin = context.get_admin_context()
    with context.target_cell(admin, cell) as target:
        nodes = _insert_in_cell(target, hosts)
    _insert_mappings(admin, cell, hosts)
    return nodes


def insert_in_aggregates(members):
    """Add hosts to host aggregates, and notify the scheduler.

    :param members: names of hosts by ID of the aggregate
    """
    admin = context.get_admin_context()
    _insert_aggregate_hosts(admin, members)
    query.SchedulerQueryClient().update_aggregates(
        admin, objects.AggregateList.get_all(admin))


@main_database.pick_context_manager_writer
def _insert_in_cell(target, hosts):
    session = target.session
    session.execute(sa.insert(models.Service), [
        _service(host) for host in hosts])
    services = dict(session.execute(
        sa.select(models.Service.host, models.Service.id).where(
            models.Service.binary == 'nova-compute')).all())
    nodes = [_node(host, services[host.name]) for host in hosts]
    session.execute(sa.insert(models.ComputeNode), nodes)
    return {node['host']: node['uuid'] for node in nodes}


@api_database.context_manager.writer
def _insert_mappings(admin, cell, hosts):
    admin.session.execute(sa.insert(api_models.HostMapping), [
        {'host': host.name, 'cell_id': cell.id} for host in hosts])


@api_database.context_manager.writer
def _insert_aggregate_hosts(admin, members):
    admin.session.execute(sa.insert(api_models.AggregateHost), [
        {'host': name, 'aggregate_id': aggregate}
        for aggregate, names in members.items() for name in names])


def _service(host):
    return {
        'uuid': uuidutils.generate_uuid(), 'host': host.name,
        'binary': 'nova-compute', 'topic': 'compute', 'report_count': 1,
        'last_seen_up': timeutils.utcnow(),
        'version': service_object.SERVICE_VERSION}


def _node(host, service):
    return {
        'uuid': uuidutils.generate_uuid(), 'service_id': service,
        'host': host.name, 'hypervisor_hostname': host.name,
        'hypervisor_type': 'fake', 'hypervisor_version': 1000,
        'host_ip': '192.0.2.2', 'cpu_info': '{}', 'mapped': 1,
        'updated_at': timeutils.utcnow(),
        'vcpus': host.vcpus, 'vcpus_used': 0,
        'memory_mb': host.memory_mb, 'memory_mb_used': host.reserved_memory_mb,
        'free_ram_mb': host.memory_mb - host.reserved_memory_mb,
        'local_gb': host.disk_gb, 'local_gb_used': 0,
        'free_disk_gb': host.disk_gb, 'disk_available_least': 0,
        'current_workload': 0, 'running_vms': 0, 'metrics': '[]',
        'stats': json.dumps({'failed_builds': '0'}),
        'supported_instances': json.dumps([['x86_64', 'fake', 'hvm']]),
        'cpu_allocation_ratio': host.cpu_allocation_ratio,
        'ram_allocation_ratio': 1.0, 'disk_allocation_ratio': 1.0}
