# SPDX-License-Identifier: Apache-2.0
"""Stacks in a nearly full cloud: stock Heat and Nova with server groups, and
the same template with a holistic group.

The stack has three databases and three web servers, each kind in a server
group with anti-affinity. A database needs the memory of four web servers.
Servers of an administrator leave room for three databases on three hosts, for
one web server on three other hosts, and for one more web server on any host.
So a plan always exists. Each stack is created, counted and deleted, in both
forms after each other, and the free hosts change after every five stacks.

The second form has one more resource, which states that all servers are one
group; the lifecycle plug-in plans it. Without it, the same heat-engine and the
same scheduler behave as stock Heat and Nova, as no server has a pointer.

The program starts a cloud of processes with Heat, or uses the empty cloud in
the directory ``NOVA_HOLISTIC_CLOUD``.
"""

import argparse
import contextlib
import os
import pathlib
import random
import tempfile

from keystoneauth1.adapter import Adapter

from tests.heat.stacks import Stacks
from tools.cloud import catalog
from tools.cloud.cloud import Cloud, make
from tools.cloud.layout import Layout
from tools.cloud.waiting import wait_for

HOSTS = 8
EACH_KIND = 3
DATABASE_MB, WEB_MB = 2048, 512
"""Memory of the flavors small and tiny."""
STACKS_PER_FILLING = 5
SERVER = '''{{type: OS::Nova::Server, properties: {{
    flavor: {flavor}, image: nothing, networks: [{{allocate_network: none}}],
    scheduler_hints: {{group: {{get_resource: {kind}}}}}}}}}'''
KIND = '''
  {kind}: {{type: OS::Nova::ServerGroup,
    properties: {{policies: [anti-affinity]}}}}
'''
GROUP = '''
  placement:
    type: OS::Heat::None
    metadata: {holistic_groups: {all: {members: [db, web]}}}
'''


def template(holistic):
    resources = ''
    for kind, flavor in (('db', 'small'), ('web', 'tiny')):
        resources += KIND.format(kind=kind) + ''.join(
            f'  {kind}_{number}: ' + SERVER.format(
                flavor=flavor, kind=kind) + '\n'
            for number in range(EACH_KIND))
    return ('heat_template_version: 2018-08-31\nresources:' + resources
            + (GROUP if holistic else ''))


class Filling:
    """Servers of an administrator that leave little free memory."""

    def __init__(self, session, draw):
        self._compute = Adapter(session, service_type='compute',
                                default_microversion='2.90')
        self._placement = Adapter(session, service_type='placement')
        images = Adapter(session, service_type='image').get(
            '/v2/images').json()['images']
        self._image = images[0]['id']
        self._draw = draw
        self._flavors = []

    def fill(self):
        names = sorted(self._free())
        self._draw.shuffle(names)
        left = dict.fromkeys(names, 0)
        for name in names[:EACH_KIND]:
            left[name] += DATABASE_MB
        for name in names[EACH_KIND:2 * EACH_KIND]:
            left[name] += WEB_MB
        left[self._draw.choice(names)] += WEB_MB
        for name, free in self._free().items():
            self._create(name, free - left[name])
        wait_for('the servers of the administrator', lambda: all(
            each['status'] == 'ACTIVE' for each in self._servers()), 120)
        return left

    def clear(self):
        for each in self._servers():
            self._compute.delete(f'/servers/{each["id"]}')
        wait_for('an empty cloud', lambda: not self._servers(), 120)
        for each in self._flavors:
            self._compute.delete(f'/flavors/{each}')
        self._flavors = []

    def wait(self, left):
        """Return when all memory is free that the filling leaves."""
        wait_for('free memory', lambda: self._free() == left, 120)

    def _create(self, host, memory):
        flavor = self._compute.post('/flavors', json={'flavor': {
            'name': f'filling-{host}', 'vcpus': 1, 'ram': memory,
            'disk': 1}}).json()['flavor']['id']
        self._flavors.append(flavor)
        self._compute.post('/servers', json={'server': {
            'name': f'filling-{host}', 'imageRef': self._image,
            'flavorRef': flavor, 'networks': 'none', 'host': host}})

    def _servers(self):
        return self._compute.get('/servers/detail?name=^filling').json()[
            'servers']

    def _free(self):
        """Free memory by host, in MiB."""
        free = {}
        for each in self._placement.get('/resource_providers').json()[
                'resource_providers']:
            path = f'/resource_providers/{each["uuid"]}'
            inventory = self._placement.get(
                f'{path}/inventories').json()['inventories']['MEMORY_MB']
            used = self._placement.get(f'{path}/usages').json()[
                'usages']['MEMORY_MB']
            free[each['name']] = int(
                (inventory['total'] - inventory['reserved'])
                * inventory['allocation_ratio']) - used
        return free


def created(stacks, name, holistic):
    """Whether all servers of a stack were created; the stack is deleted."""
    stack = stacks.start(name, template(holistic))
    status, reason = stack.settled()
    if status != 'CREATE_COMPLETE':
        print(f'    {name}: {reason[:110]}', flush=True)
    stack.delete()
    return status == 'CREATE_COMPLETE'


@contextlib.contextmanager
def running():
    """The directory of a cloud."""
    directory = os.environ.get('NOVA_HOLISTIC_CLOUD')
    if directory:
        yield Cloud(Layout.read(pathlib.Path(directory)))
        return
    cloud = make(pathlib.Path(tempfile.mkdtemp(prefix='heat-')), HOSTS,
                 heat=True)
    cloud.up()
    try:
        yield cloud
    finally:
        cloud.down()
        cloud.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--stacks', type=int, default=20)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    count = {False: 0, True: 0}
    with running() as cloud:
        filling = Filling(catalog.session(cloud.layout, catalog.ADMIN),
                          random.Random(args.seed))
        stacks = Stacks(catalog.session(cloud.layout, catalog.MEMBER))
        left = {}
        for number in range(args.stacks):
            if number % STACKS_PER_FILLING == 0:
                filling.clear()
                left = filling.fill()
            for holistic in (False, True):
                filling.wait(left)
                kind = 'holistic' if holistic else 'stock'
                count[holistic] += created(
                    stacks, f'{kind}-{number}', holistic)
            print(f'{number + 1} stacks: stock {count[False]}, '
                  f'holistic {count[True]} created', flush=True)
        filling.wait(left)
        filling.clear()


if __name__ == '__main__':
    main()
