# SPDX-License-Identifier: Apache-2.0
"""Servers in Nova's API."""

from concurrent import futures

from keystoneauth1.adapter import Adapter

from tools.cloud.initial_resources import IMAGE
from tools.cloud.waiting import wait_for

WAIT_SECONDS = 600
"""Timeout for hundreds of servers in seconds, on a machine that may be
slow."""
PAUSE = 2
CLIENTS = 4
"""Number of clients that delete servers at the same time."""


class Servers:
    """The servers of the user of a session.

    :param everybody: include the servers of all projects; the user must be an
        administrator
    """

    def __init__(self, session, everybody=False):
        self._whose = 'all_tenants=1' if everybody else ''
        self._compute = Adapter(session, service_type='compute',
                                default_microversion='2.90')
        images = Adapter(session, service_type='image').get(
            f'/v2/images?name={IMAGE}').json()['images']
        self._image = images[0]['id']
        self._flavors = {each['name']: each for each in self._get(
            '/flavors/detail')['flavors']}

    def create(self, name, flavor='tiny', count=1, hints=None):
        """Request servers. A single server gets this name; several get a
        number."""
        body = {'server': {
            'name': name, 'imageRef': self._image, 'networks': 'none',
            'flavorRef': self._flavors[flavor]['id'], 'min_count': count}}
        if hints:
            body['os:scheduler_hints'] = hints
        return self._compute.post('/servers', json=body).json()[
            'server']['id']

    def server_group(self, name, policy):
        return self._compute.post('/os-server-groups', json={
            'server_group': {'name': name, 'policy': policy}}).json()[
                'server_group']['id']

    def settled(self, prefix):
        """The servers with that prefix by their names, once none of them is
        being built."""
        def ready():
            return not self._listed(f'name=^{prefix}&status=BUILD&limit=1')
        wait_for(f'servers {prefix}', ready, WAIT_SECONDS, PAUSE)
        return {server['name']: server for server in self.all(prefix)}

    def all(self, prefix=''):
        """All servers with their details."""
        return self._listed(f'name=^{prefix}', '/servers/detail')

    def delete(self, prefix=''):
        """Delete all servers with that prefix, and wait until Nova does not
        list them."""
        with futures.ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(self._delete, [
                server['id'] for server in self._listed(f'name=^{prefix}')]))
        wait_for(f'servers {prefix} to go', lambda: not self._listed(
            f'name=^{prefix}&limit=1'), WAIT_SECONDS, PAUSE)

    def _delete(self, one):
        self._compute.delete(f'/servers/{one}', raise_exc=False)

    def hosts_up(self, since):
        """The number of nova-computes that have reported since that time
        (ISO)."""
        return sum(service['state'] == 'up'
                   and (service['updated_at'] or '') > since
                   for service in self._get(
                       '/os-services?binary=nova-compute')['services'])

    def _listed(self, query='', path='/servers'):
        return self._get(f'{path}?{query}&{self._whose}')['servers']

    def _get(self, path):
        return self._compute.get(path).json()


def asked_for(server):
    """The resources of a server in Placement's units."""
    flavor = server['flavor']
    return {'VCPU': flavor['vcpus'], 'MEMORY_MB': flavor['ram'],
            'DISK_GB': flavor['disk']}
