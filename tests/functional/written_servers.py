# SPDX-License-Identifier: Apache-2.0
"""Servers that are written to Nova's databases and to Placement and that no
compute service has built. Many of them take little time."""

import uuid

from nova import context as nova_context
from nova.network import model as network_model
from nova import objects
from oslo_utils import timeutils

from nova_holistic.embedded.calls.servers import IMAGE


class WrittenServers:
    """Writes active servers of one project, and removes them."""

    def __init__(self, cloud, flavor, project):
        self._cloud, self._project = cloud, project
        admin = nova_context.get_admin_context()
        self._cell, = (each for each in objects.CellMappingList.get_all(admin)
                       if not each.is_cell0())
        self._flavor = objects.Flavor.get_by_name(admin, flavor)
        with self._target() as context:
            self._nodes = {
                node.host: node for node
                in objects.ComputeNodeList.get_all(context)}

    def add(self, host):
        """Write an active server on a host; returns its UUID."""
        server, node = str(uuid.uuid4()), self._nodes[host]
        answer = self._cloud.placement.put(f'/allocations/{server}', json={
            'allocations': {node.uuid: {'resources': {
                'VCPU': self._flavor.vcpus,
                'MEMORY_MB': self._flavor.memory_mb,
                'DISK_GB': self._flavor.root_gb}}},
            'project_id': self._project, 'user_id': 'ann',
            'consumer_type': 'INSTANCE', 'consumer_generation': None})
        assert answer.status_code == 204
        with self._target() as context:
            self._instance(context, server, node).create()
            objects.InstanceMapping(
                context, instance_uuid=server, project_id=self._project,
                user_id='ann', cell_mapping=self._cell,
                queued_for_delete=False).create()
        return server

    def remove(self, server):
        self._cloud.placement.delete(f'/allocations/{server}')
        with self._target() as context:
            objects.Instance.get_by_uuid(
                context, server, expected_attrs=[]).destroy()
            objects.InstanceMapping.get_by_instance_uuid(
                context, server).destroy()

    def _target(self):
        return nova_context.target_cell(nova_context.RequestContext(
            'ann', self._project, is_admin=True), self._cell)

    def _instance(self, context, server, node):
        flavor = self._flavor
        instance = objects.Instance(
            context, uuid=server, host=node.host,
            node=node.hypervisor_hostname, launched_on=node.host,
            compute_id=node.id, user_id='ann', project_id=self._project,
            vm_state='active', power_state=1, task_state=None,
            launched_at=timeutils.utcnow(), display_name=server,
            hostname='written', image_ref=IMAGE, flavor=flavor,
            memory_mb=flavor.memory_mb, vcpus=flavor.vcpus,
            root_gb=flavor.root_gb, ephemeral_gb=0,
            instance_type_id=flavor.id, metadata={}, system_metadata={},
            locked=False)
        instance.old_flavor = instance.new_flavor = None
        instance.info_cache = objects.InstanceInfoCache(
            instance_uuid=server, network_info=network_model.NetworkInfo())
        return instance
