# SPDX-License-Identifier: Apache-2.0
"""Requests for servers as other tools send them to Nova.

These tools support a server group of Nova, and no pointer. Microversions and
keys of the bodies are those of the tools and of their libraries. kops and
Cluster API create ports first; here, Nova creates the ports.
"""

import base64

from nova.tests.fixtures import NeutronFixture

from nova_holistic.embedded.calls.servers import IMAGE

USER_DATA = base64.b64encode(b'#cloud-config\n').decode()
NETWORK = NeutronFixture.network_1['id']


def octavia(name, flavor, server_group):
    """octavia.compute.drivers.nova_driver, with python-novaclient."""
    return '2.15', {
        'server': {
            'name': name, 'imageRef': IMAGE, 'flavorRef': flavor,
            'user_data': USER_DATA, 'config_drive': True,
            'personality': [{
                'path': '/etc/octavia/amphora-agent.conf',
                'contents': base64.b64encode(b'[DEFAULT]\n').decode()}],
            'min_count': 1, 'max_count': 1,
            'networks': [{'uuid': NETWORK}]},
        'os:scheduler_hints': {'group': server_group}}


def heat(name, flavor, server_group):
    """OS::Nova::Server as Magnum's templates use it, with ``scheduler_hints:
    {group: {get_param: nodes_server_group_id}}``."""
    return heat_server(name, flavor, {'group': server_group})


def heat_server(name, flavor, hints):
    """OS::Nova::Server of Heat, alone, in an OS::Heat::ResourceGroup or in an
    OS::Heat::AutoScalingGroup.

    :param hints: the property ``scheduler_hints``. A ResourceGroup replaces
        ``%index%``; an AutoScalingGroup sends the same hints for each server
    """
    return '2.1', {
        'server': {
            'name': name, 'imageRef': IMAGE, 'flavorRef': flavor,
            'user_data': USER_DATA, 'config_drive': True,
            'metadata': {'metering.stack': 'nodes'},
            'min_count': 1, 'max_count': 1,
            'networks': [{'uuid': NETWORK}]},
        'os:scheduler_hints': hints}


def heat_with_stack_hints(name, flavor, server_group):
    """The request of :func:`heat` with Heat's option
    ``stack_scheduler_hints``."""
    version, body = heat(name, flavor, server_group)
    return version, {**body, 'os:scheduler_hints': {
        'heat_root_stack_id': '8f33fe0f-0d74-4a5a-9b0a-6b6e3f6b4b5c',
        'heat_stack_id': 'a0b2b4a6-6d7c-4d39-8f39-58f1f4d1c1a1',
        'heat_stack_name': 'nodes-0',
        'heat_path_in_stack': ['nodes,', 'nodes-0'],
        'heat_resource_name': 'node', 'heat_resource_uuid':
            '0d9a3e0e-4b44-44bb-a0a2-3c2c8f0a3d3d', **body[
                'os:scheduler_hints']}}


def kops(name, flavor, server_group):
    """upup/pkg/fi/cloudup/openstacktasks of kops, with gophercloud."""
    return '2.1', {
        'server': {
            'name': name, 'imageRef': IMAGE, 'flavorRef': flavor,
            'user_data': USER_DATA,
            'metadata': {'KubernetesCluster': 'k8s.example.com',
                         'k8s': 'k8s.example.com', 'ig_generation': '0'},
            'networks': [{'uuid': NETWORK}]},
        'os:scheduler_hints': {'group': server_group}}


def cluster_api(name, flavor, server_group):
    """pkg/cloud/services/compute of cluster-api-provider-openstack, with
    gophercloud. A template of machines has one server group, and its further
    hints are the same for each machine."""
    return '2.60', {
        'server': {
            'name': name, 'imageRef': IMAGE, 'flavorRef': flavor,
            'user_data': USER_DATA, 'config_drive': False,
            'tags': ['cluster-api'], 'metadata': {'cluster': 'k8s'},
            'block_device_mapping_v2': [{
                'source_type': 'image', 'destination_type': 'local',
                'uuid': IMAGE, 'boot_index': 0,
                'delete_on_termination': True}],
            'networks': [{'uuid': NETWORK}]},
        'os:scheduler_hints': {'group': server_group}}


TOOLS = (octavia, heat, heat_with_stack_hints, kops, cluster_api)


def send(cloud, tool, name, flavor, server_group):
    """Create a server as the tool does; returns its UUID."""
    version, body = tool(name, cloud.flavor_id(flavor), server_group)
    return cloud.compute_for().post(
        '/servers', json=body, microversion=version).json()['server']['id']
