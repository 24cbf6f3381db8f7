# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.filled_databases DIRECTORY HOSTS SERVERS``: hosts
and servers in the databases of the cloud (``tools.cloud``) in a directory.

The rows are inserted in bulk through the models of Nova and Placement. They
are what nova-compute with the libvirt driver, nova-api and Placement write
for such hosts: service, compute node and host mapping; a root provider with
inventories, traits and the aggregate of its rack; for each server an instance,
its mapping, a consumer and its allocations. Nothing runs on the hosts. At the
end, the program reads the inserted rows through the APIs.
"""

import importlib
import pathlib
import sys

# This import comes first: it decides on the threading of the process.
importlib.import_module('nova_holistic.embedded')

from keystoneauth1.adapter import Adapter  # noqa: E402
from nova import config  # noqa: E402
from nova import context as nova_context  # noqa: E402
from nova.db.api import api as api_database  # noqa: E402
from nova.db.api import models as api_models  # noqa: E402
from nova.db.main import api as main_database  # noqa: E402
from nova.db.main import models  # noqa: E402
from nova import objects  # noqa: E402
from oslo_config import cfg  # noqa: E402
from oslo_utils import timeutils, uuidutils  # noqa: E402
from placement import conf as placement_conf  # noqa: E402
from placement import context as placement_context  # noqa: E402
from placement.db.sqlalchemy import models as placement_models  # noqa: E402
from placement import db_api  # noqa: E402
import sqlalchemy as sa  # noqa: E402

from benchmarks import libvirt_host  # noqa: E402
from nova_holistic.embedded.host_insertion import (  # noqa: E402
    compute_nodes, providers)
from tools.cloud import catalog  # noqa: E402
from tools.cloud.layout import Layout  # noqa: E402

CHUNK = 1000
"""Hosts that are inserted in one step, so that memory stays bounded."""


def main(directory, hosts, servers):
    layout = Layout.read(pathlib.Path(directory))
    configure(layout)
    created = libvirt_host.hosts(int(hosts))
    for first in range(0, len(created), CHUNK):
        fill(created[first:first + CHUNK], int(servers))
    verify(catalog.session(layout, catalog.ADMIN), created, int(servers))


def configure(layout):
    """Let this process use the databases of Nova and Placement."""
    nova_conf = layout.configuration('nova') / 'nova.conf'
    config.parse_args(['benchmark', '--config-file', str(nova_conf)])
    objects.register_all()
    own = cfg.ConfigOpts()
    placement_conf.register_opts(own)
    own([], default_config_files=[
        str(layout.configuration('placement') / 'placement.conf')])
    db_api.configure(own)


def fill(hosts, servers):
    """Insert hosts, the racks that they are in, and their servers."""
    admin = nova_context.get_admin_context()
    cell, = (each for each in objects.CellMappingList.get_all(admin)
             if not each.is_cell0())
    nodes = compute_nodes.insert_nodes(cell, hosts)
    aggregates = _insert_racks(admin, hosts)
    providers.insert_providers(
        [(nodes[host.name], host) for host in hosts], aggregates,
        libvirt_host.COMPUTE_TRAITS)
    with nova_context.target_cell(admin, cell) as target:
        _give_numa_topology(target)
        instances = _insert_instances(target, hosts, servers)
    _insert_mappings(admin, cell, instances)
    _insert_allocations(placement_context.RequestContext(), nodes, instances)


def verify(session, hosts, servers):
    """Verify that the APIs report the inserted number of hosts, and the first
    and the last host with the inserted values.

    :raises AssertionError: the APIs report other values
    """
    placement = Adapter(session, service_type='placement',
                        default_microversion='1.39')
    compute = Adapter(session, service_type='compute',
                      default_microversion='2.53')
    uuids = {each['name']: each['uuid'] for each in placement.get(
        '/resource_providers').json()['resource_providers']}
    assert uuids.keys() == {host.name for host in hosts}
    for host in (hosts[0], hosts[-1]):
        path = f'/resource_providers/{uuids[host.name]}'
        read = {part: placement.get(f'{path}/{part}').json()[part] for part in
                ('inventories', 'traits', 'aggregates', 'usages')}
        assert read['inventories'] == host.inventories(), read
        assert {*read['traits']} == {
            *libvirt_host.COMPUTE_TRAITS, *host.traits}, read
        assert len(read['aggregates']) == 1, read
        assert read['usages'] == {name: servers * amount for name, amount in
                                  libvirt_host.SERVER.items()}, read
        node = compute.get(f'/os-hypervisors/{uuids[host.name]}').json()[
            'hypervisor']
        assert node['service']['host'] == host.name, node
        assert (node['state'], node['status']) == ('up', 'enabled'), node


def _insert_racks(admin, hosts):
    """UUIDs of the host aggregates of each host."""
    aggregates = {}
    for host in hosts:
        if host.rack not in aggregates:
            aggregates[host.rack] = objects.Aggregate(
                admin, name=host.rack, metadata={
                    'availability_zone': host.zone, 'rack': host.rack,
                    **host.labels})
            aggregates[host.rack].create()
    _insert_members(admin, [
        {'host': host.name, 'aggregate_id': aggregates[host.rack].id}
        for host in hosts])
    return {host.name: [aggregates[host.rack].uuid] for host in hosts}


@api_database.context_manager.writer
def _insert_members(admin, rows):
    admin.session.execute(sa.insert(api_models.AggregateHost), rows)


@main_database.pick_context_manager_writer
def _give_numa_topology(target):
    target.session.execute(
        sa.update(models.ComputeNode)
        .where(models.ComputeNode.numa_topology.is_(None))
        .values(numa_topology=libvirt_host.numa_topology()._to_json())
        .execution_options(synchronize_session=False))


@main_database.pick_context_manager_writer
def _insert_instances(target, hosts, servers):
    now = timeutils.utcnow()
    rows = [{
        'uuid': uuidutils.generate_uuid(), 'host': host.name,
        'node': host.name, 'launched_on': host.name,
        'project_id': libvirt_host.PROJECT, 'user_id': libvirt_host.USER,
        'vm_state': 'active', 'power_state': 1, 'launched_at': now,
        'display_name': 'other-server', 'hostname': 'other-server',
        'deleted': 0,
        'memory_mb': libvirt_host.SERVER['MEMORY_MB'],
        'vcpus': libvirt_host.SERVER['VCPU'],
        'root_gb': libvirt_host.SERVER['DISK_GB'], 'ephemeral_gb': 0}
        for host in hosts for _ in range(servers)]
    if rows:
        target.session.execute(sa.insert(models.Instance), rows)
    return [(row['uuid'], row['host']) for row in rows]


@api_database.context_manager.writer
def _insert_mappings(admin, cell, instances):
    if instances:
        admin.session.execute(sa.insert(api_models.InstanceMapping), [
            {'instance_uuid': uuid, 'cell_id': cell.id, 'queued_for_delete':
             False, 'project_id': libvirt_host.PROJECT,
             'user_id': libvirt_host.USER} for uuid, _ in instances])


@db_api.placement_context_manager.writer
def _insert_allocations(admin, nodes, instances):
    if not instances:
        return
    session = admin.session
    owner = {
        'project_id': _id_of(session, placement_models.Project, 'external_id',
                             libvirt_host.PROJECT),
        'user_id': _id_of(session, placement_models.User, 'external_id',
                          libvirt_host.USER),
        'consumer_type_id': _id_of(session, placement_models.ConsumerType,
                                   'name', 'INSTANCE')}
    session.execute(sa.insert(placement_models.Consumer), [
        {'uuid': uuid, 'generation': 1, **owner} for uuid, _ in instances])
    providers = dict(session.execute(sa.select(
        placement_models.ResourceProvider.uuid,
        placement_models.ResourceProvider.id)).all())
    classes = dict(session.execute(sa.select(
        placement_models.ResourceClass.name,
        placement_models.ResourceClass.id)).all())
    session.execute(sa.insert(placement_models.Allocation), [
        {'resource_provider_id': providers[nodes[host]], 'consumer_id': uuid,
         'resource_class_id': classes[name], 'used': amount}
        for uuid, host in instances
        for name, amount in libvirt_host.SERVER.items()])


def _id_of(session, model, key, value):
    """The id of a row, which is inserted if it does not exist."""
    query = sa.select(model.id).where(getattr(model, key) == value)
    row_id = session.execute(query).scalar()
    if row_id is None:
        session.execute(sa.insert(model), [{key: value}])
        row_id = session.execute(query).scalar()
    return row_id


if __name__ == '__main__':
    main(*sys.argv[1:])
