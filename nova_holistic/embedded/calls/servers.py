# SPDX-License-Identifier: Apache-2.0
"""Servers, flavors and server groups through Nova's API."""

from dataclasses import dataclass

from keystoneauth1 import exceptions as keystone_exceptions

from nova_holistic.embedded.waiting import (
    EmbeddedCloudError, TIMEOUT, wait_for)

# An image of Nova's fake of Glance that requires no minimum of disk or memory.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'
# A volume of Nova's fake of Cinder that has an image.
VOLUME = '6ca404f3-d844-4169-bb96-bc792f37de98'
PROJECT = 'demo'
USER = 'demo'


@dataclass(frozen=True, slots=True)
class CloudUser:
    """A user of the embedded cloud.

    :ivar is_admin: whether the user has the role admin in the project
    """

    project_id: str = PROJECT
    user_id: str = USER
    is_admin: bool = False


ADMIN = CloudUser(is_admin=True)
"""The user of the project ``demo`` with the role admin."""


class ServerCalls:
    """Operations of a user; a mixin of ``EmbeddedCloud``.

    ``compute`` is the Adapter of the administrator. ``compute_for`` returns
    the Adapter of a user of a project.
    """

    def create_flavor(self, name, vcpus, memory_mb, disk_gb,
                      extra_specs=None):
        """Create a public flavor, and return its ID.

        :param memory_mb: MiB
        :param disk_gb: GiB
        """
        flavor = self.compute.post('/flavors', json={'flavor': {
            'name': name, 'vcpus': vcpus, 'ram': memory_mb,
            'disk': disk_gb}}).json()['flavor']
        if extra_specs:
            self.compute.post(f'/flavors/{flavor["id"]}/os-extra_specs',
                              json={'extra_specs': dict(extra_specs)})
        return flavor['id']

    def flavor_id(self, flavor):
        """ID of the flavor with a name or an ID.

        :raises EmbeddedCloudError: no such flavor exists
        """
        for known in self.compute.get('/flavors').json()['flavors']:
            if flavor in (known['id'], known['name']):
                return known['id']
        raise EmbeddedCloudError(f'flavor {flavor!r} is unknown')

    def create_server_group(self, name, policy, project_id=PROJECT,
                            **rules):
        """Create one of Nova's server groups, and return its UUID.

        :param rules: rules of the policy, such as ``max_server_per_host``
        """
        body = {'name': name, 'policy': policy}
        if rules:
            body['rules'] = rules
        return self.compute_for(project_id).post(
            '/os-server-groups', json={'server_group': body},
        ).json()['server_group']['id']

    def create_server(self, name, flavor, pointer=None, *, hints=None,
                      user=CloudUser(), **extra):
        """Request a server, and return its UUID without waiting for it.

        :param flavor: name or ID of the flavor
        :param pointer: ``{'group': uuid, 'member': path}``
        :param hints: further scheduler hints, such as ``group`` with the UUID
            of one of Nova's server groups; a hint with the value None is left
            out
        :param user: the CloudUser that requests the server; Nova requires an
            administrator for a request with a host
        :param extra: further keys of the server in the request, such as
            ``availability_zone`` and ``min_count``
        :raises EmbeddedCloudError: no such flavor exists
        """
        server = {'name': name, 'flavorRef': self.flavor_id(flavor),
                  'imageRef': IMAGE, 'networks': 'none', **extra}
        hints = {name: value for name, value in (hints or {}).items()
                 if value is not None}
        if pointer is not None:
            hints['holistic_group'] = pointer['group']
            hints['holistic_member'] = pointer['member']
        body = {'server': server}
        if hints:
            body['os:scheduler_hints'] = hints
        caller = self.compute_for(
            user.project_id, user.user_id, admin=user.is_admin)
        return caller.post('/servers', json=body).json()['server']['id']

    def boot_from_volume(self, name, flavor, pointer=None, **extra):
        """Request a server whose root disk is a volume, and return its UUID.
        """
        return self.create_server(name, flavor, pointer, imageRef='',
                                  block_device_mapping_v2=[{
                                      'boot_index': 0, 'uuid': VOLUME,
                                      'source_type': 'volume',
                                      'destination_type': 'volume'}],
                                  **extra)

    def occupy(self, host, flavor, count=1, project_id='load'):
        """Create servers on one host as load, and return their UUIDs.

        Nova's weighers consider servers, but not the allocations of consumers
        that only Placement knows.
        """
        created = [
            self.create_server(f'load-{host}-{number}', flavor, host=host,
                               user=CloudUser(project_id, is_admin=True))
            for number in range(count)]
        for server in created:
            self.wait_for_status(server, 'ACTIVE')
        return created

    def get_server(self, server):
        """The server as the administrator sees it."""
        return self.compute.get(f'/servers/{server}').json()['server']

    def host_of(self, server):
        """Name of the compute host of the server; None: it has no host."""
        return self.get_server(server)['OS-EXT-SRV-ATTR:host']

    def servers(self, project_id=None):
        """All servers, or all servers of a project, as the API lists them."""
        query = '?all_tenants=1'
        if project_id is not None:
            query += f'&project_id={project_id}'
        return self.compute.get(f'/servers/detail{query}').json()['servers']

    def wait_for_status(self, server, status, timeout=TIMEOUT):
        """Wait until a server has a status and no task, and return the server.

        :param timeout: seconds
        :raises EmbeddedCloudError: the server has failed, or does not have the
            status within the timeout
        """
        def question():
            if self.progress.is_busy(server):
                return None
            found = self.get_server(server)
            if found['status'] == status:
                if status == 'ERROR':
                    return found if 'fault' in found else None
                return found if not found['OS-EXT-STS:task_state'] else None
            if found['status'] == 'ERROR' and 'fault' in found:
                raise EmbeddedCloudError(
                    f'server {found["name"]}: {found["fault"]["message"]}')
            return None
        return wait_for(question, f'server {server} {status}', timeout)

    def delete_server(self, server, wait=True):
        """Delete a server.

        :param wait: whether to wait until the server no longer exists
        """
        self.compute.delete(f'/servers/{server}')
        if wait:
            self.wait_until_gone(server)

    def wait_until_gone(self, server):
        """Wait until Nova no longer knows the server, and the server has no
        allocations, which nova-compute deletes last."""
        def question():
            if self.progress.is_busy(server):
                return None
            try:
                self.get_server(server)
            except keystone_exceptions.NotFound:
                return None if self.allocations(server) else True
            return None
        wait_for(question, f'server {server} gone')
