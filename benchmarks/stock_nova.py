# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.stock_nova DIRECTORY SERVERS``: what stock Nova needs
to schedule as many servers, on the cloud in a directory.

One nova-scheduler with Nova's own driver, filters and weighers. Servers are
requested one by one, with Nova's RPC ``select_destinations`` as nova-conductor
sends it, and then together in one such request. Each answer has written the
allocation of its server in Placement; all of them are deleted at the end. The
first answer is left out: it fills caches. The result is JSON.
"""

import json
import sys
import time
import uuid

from keystoneauth1.adapter import Adapter
from nova import context as nova_context
from nova import objects
from nova import rpc
from nova.scheduler import rpcapi

from benchmarks import inserted_servers, processor
from tools.cloud import catalog
from tools.cloud.layout import write
from tools.cloud.manual import enabled_filters
from tools.cloud.nova import UNPATCHED
from tools.cloud.processes import Processes, scripts
from tools.cloud.waiting import wait_for

NAME = 'stock-scheduler'
WATCHED = (NAME, 'placement', 'mariadb')
OPTIONS = {
    'DEFAULT': {'host': NAME},
    'filter_scheduler': {
        'available_filters': 'nova.scheduler.filters.all_filters',
        'enabled_filters': ','.join(
            name for name in enabled_filters() if 'Holistic' not in name),
        'weight_classes': 'nova.scheduler.weights.all_weighers',
        'track_instance_changes': 'false'}}


def start(layout, processes):
    """Start the scheduler; returns when it is up."""
    conf = layout.configuration('nova') / 'nova.conf'
    own = write(layout.configuration(NAME) / 'nova.conf', OPTIONS)
    processes.start(NAME, [
        scripts('nova-scheduler'), '--config-file', conf,
        '--config-file', own], UNPATCHED)
    compute = Adapter(catalog.session(layout, catalog.ADMIN),
                      service_type='compute')
    wait_for('the scheduler', lambda: any(
        each['host'] == NAME and each['state'] == 'up'
        for each in compute.get('/os-services?binary=nova-scheduler').json()[
            'services']))


class Client:
    def __init__(self, layout):
        session = catalog.session(layout, catalog.ADMIN)
        self._owner = session.get_user_id(), session.get_project_id()
        self._flavor = objects.Flavor.get_by_name(
            nova_context.get_admin_context(), 'small')
        self._scheduler = rpcapi.SchedulerAPI()
        self.servers = []

    def schedule(self, number):
        """Seconds until as many servers, in one request, have hosts."""
        context = nova_context.RequestContext(*self._owner)
        servers = [str(uuid.uuid4()) for _ in range(number)]
        spec = objects.RequestSpec.from_components(
            context, servers[0], {'id': str(uuid.uuid4()), 'properties': {}},
            self._flavor, None, None, {}, None, None,
            security_groups=objects.SecurityGroupList(objects=[]))
        spec.num_instances = number
        begin = time.monotonic()
        answer = self._scheduler.select_destinations(
            context, spec, servers, return_objects=True,
            return_alternates=True)
        seconds = time.monotonic() - begin
        assert len(answer) == number
        self.servers.extend(servers)
        return seconds


def main(directory, servers):
    number = int(servers)
    layout = inserted_servers.configure(directory)
    processes = Processes(layout)
    placement = inserted_servers.placement_of(layout)
    start(layout, processes)
    try:
        client = Client(layout)
        client.schedule(1)
        groups = {name: processes.leader(name) for name in WATCHED}
        before = {n: processor.seconds(pid) for n, pid in groups.items()}
        seconds = [client.schedule(1) for _ in range(number)]
        cpu = {name: processor.seconds(pid) - before[name]
               for name, pid in groups.items()}
        together = client.schedule(number)
    finally:
        processes.end([NAME])
    for server in client.servers:
        placement.delete(f'/allocations/{server}')
    rpc.cleanup()
    print(json.dumps({'servers': number, 'seconds': seconds, 'cpu': cpu,
                      'together': together}))


if __name__ == '__main__':
    main(*sys.argv[1:])
