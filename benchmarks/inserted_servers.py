# SPDX-License-Identifier: Apache-2.0
"""Servers as Nova writes them, on hosts on which nothing runs.

An instance and its mapping in Nova's databases, an allocation in Placement
through its API, and the versioned notifications of nova-compute on the bus.
"""

import pathlib

from keystoneauth1.adapter import Adapter
from nova.compute import utils as compute_utils
from nova import config
from nova import context as nova_context
from nova.network import model as network_model
from nova import objects
from nova.objects import fields
from oslo_utils import timeutils

from benchmarks import libvirt_host
from tools.cloud import catalog
from tools.cloud.layout import Layout

IMAGE = '00000000-0000-0000-0000-000000000001'


def configure(directory):
    """Let this process be a part of the Nova in a cloud's directory; returns
    the layout of the cloud."""
    layout = Layout.read(pathlib.Path(directory))
    conf = layout.configuration('nova') / 'nova.conf'
    config.parse_args(['benchmark', '--config-file', str(conf)])
    objects.register_all()
    return layout


class Servers:
    """Writes and deletes servers; several threads may use it."""

    def __init__(self, layout, placement, owner=None):
        """
        :param placement: Adapter of Placement's API
        :param owner: user and project of the servers; None for servers outside
            of groups
        """
        self._placement = placement
        self._owner = owner or (libvirt_host.USER, libvirt_host.PROJECT)
        admin = nova_context.get_admin_context()
        self._cell, = (each for each in objects.CellMappingList.get_all(admin)
                       if not each.is_cell0())
        self._flavor = objects.Flavor.get_by_name(admin, 'small')
        with self._target() as context:
            self._nodes = {
                node.host: node.id
                for node in objects.ComputeNodeList.get_all(context)}

    def create(self, uuid, host, provider=None):
        """A server that is active on a host.

        :param provider: UUID of the host's resource provider, on which the
            server's allocation is written; None if it has one already
        :returns: False if Placement refuses the allocation
        """
        if provider is not None and not self._allocate(uuid, provider):
            return False
        with self._target() as context:
            instance = self._instance(context, uuid, host)
            instance.create()
            objects.InstanceMapping(
                context, instance_uuid=uuid, project_id=self._owner[1],
                user_id=self._owner[0], cell_mapping=self._cell,
                queued_for_delete=False).create()
            compute_utils.notify_about_instance_create(
                context, instance, host,
                phase=fields.NotificationPhase.END)
        return True

    def delete(self, uuid, host):
        self._placement.delete(f'/allocations/{uuid}')
        with self._target() as context:
            instance = objects.Instance.get_by_uuid(
                context, uuid, expected_attrs=[
                    'flavor', 'info_cache', 'metadata', 'system_metadata'])
            instance.vm_state = 'deleted'
            instance.terminated_at = timeutils.utcnow()
            instance.destroy()
            compute_utils.notify_about_instance_action(
                context, instance, host, action='delete',
                phase=fields.NotificationPhase.END)
            objects.InstanceMapping.get_by_instance_uuid(
                context, uuid).destroy()

    def _target(self):
        return nova_context.target_cell(
            nova_context.RequestContext(*self._owner, is_admin=True),
            self._cell)

    def _allocate(self, uuid, provider):
        user, project = self._owner
        return self._placement.put(f'/allocations/{uuid}', json={
            'allocations': {provider: {'resources': {
                'VCPU': self._flavor.vcpus,
                'MEMORY_MB': self._flavor.memory_mb,
                'DISK_GB': self._flavor.root_gb}}},
            'project_id': project, 'user_id': user, 'consumer_type':
            'INSTANCE', 'consumer_generation': None},
            raise_exc=False).status_code == 204

    def _instance(self, context, uuid, host):
        user, project = self._owner
        instance = objects.Instance(
            context, uuid=uuid, host=host, node=host, launched_on=host,
            compute_id=self._nodes[host],
            user_id=user, project_id=project, vm_state='active',
            power_state=1, task_state=None, launched_at=timeutils.utcnow(),
            display_name='written', hostname='written', image_ref=IMAGE,
            flavor=self._flavor, memory_mb=self._flavor.memory_mb,
            vcpus=self._flavor.vcpus, root_gb=self._flavor.root_gb,
            ephemeral_gb=0, instance_type_id=self._flavor.id,
            metadata={}, system_metadata={}, locked=False)
        instance.old_flavor = instance.new_flavor = None
        instance.info_cache = objects.InstanceInfoCache(
            instance_uuid=uuid, network_info=network_model.NetworkInfo())
        return instance


def placement_of(layout):
    """Adapter of Placement's API."""
    return Adapter(catalog.session(layout, catalog.ADMIN),
                   service_type='placement', default_microversion='1.39')
