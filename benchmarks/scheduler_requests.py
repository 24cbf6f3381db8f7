# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.scheduler_requests DIRECTORY ROUNDS LOOKUPS STOCK
MEMBERS``: requests to nova-holistic-scheduler and to stock nova-scheduler in
turns, on the cloud in a directory, whose engine runs.

The result is JSON: for each scheduler, the seconds of each request and the
processor time of each service, by round.
"""

import contextlib
import json
import sys
import time
import uuid

from keystoneauth1.adapter import Adapter
from nova import context as nova_context
from nova import objects
from nova import rpc
from nova.scheduler import rpcapi
import oslo_messaging
import tenacity

from benchmarks import inserted_servers, processor, stock_nova
from nova_holistic.client.client import Client
from tools.cloud import catalog
from tools.cloud.layout import write
from tools.cloud.nova import UNPATCHED
from tools.cloud.processes import Processes, scripts

WARM = 5
"""Requests to each started scheduler that are not timed: they fill caches."""
STOCK = {name: value
         for name, value in stock_nova.OPTIONS['filter_scheduler'].items()
         if name != 'track_instance_changes'}
COMMANDS = {'looked up': ('nova-holistic-scheduler', {}),
            'stock': ('nova-scheduler', {'filter_scheduler': STOCK})}
SERVICES = ('placement', 'mariadb', 'rabbitmq')
"""Services whose processor time counts, besides the scheduler."""
ALTERNATES = 2


class Requests:
    """A client of Nova's schedulers, which also starts and stops them."""

    def __init__(self, directory):
        self._layout = inserted_servers.configure(directory)
        self._processes = Processes(self._layout)
        session = catalog.session(self._layout, catalog.ADMIN)
        self._owner = session.get_user_id(), session.get_project_id()
        self._groups = Client(session).groups
        self._placement = Adapter(session, service_type='placement',
                                  default_microversion='1.39')
        self._flavor = objects.Flavor.get_by_name(
            nova_context.get_admin_context(), 'small')
        self._rpc = rpcapi.SchedulerAPI()
        self._servers_of_hosts = _servers_of_hosts()
        self._created = []

    @contextlib.contextmanager
    def planned(self, members):
        """A group whose members the requests look up."""
        created = self._groups.create({
            'name': 'scheduler-requests', 'policies': [
                {'type': 'anti-affinity', 'level': 'rack',
                 'max_per_domain': '50%'}],
            'members': [{'name': 'node', 'flavor': 'small',
                         'count': members}]}, lease=0)
        self._group = created['id']
        try:
            found = self._groups.wait(self._group)
            assert found['status'] == 'planned', found['reasons']
            self._places = {
                place['member']: place['host']
                for place in self._groups.placements(self._group)}
            yield
        finally:
            for server in self._created:
                self._placement.delete(f'/allocations/{server}')
            self._groups.delete(self._group)

    def turn(self, kind, count):
        """Start one scheduler, send it requests one by one, and stop it."""
        command, options = COMMANDS[kind]
        name = f'turn-{command}'
        conf = self._layout.configuration('nova') / 'nova.conf'
        own = write(self._layout.configuration(name) / 'nova.conf', {
            'DEFAULT': {'host': name, 'rpc_ping_enabled': 'true'}, **options})
        ask = self._look_up if kind == 'looked up' else self._schedule
        self._processes.start(name, [
            scripts(command), '--config-file', conf, '--config-file', own],
            UNPATCHED)
        try:
            self._wait(name)
            self._send_servers_of_hosts()
            for _ in range(WARM):
                ask()
            watched = {'scheduler': self._processes.leader(name), **{
                each: self._processes.leader(each) for each in SERVICES}}
            before = {each: processor.seconds(pid)
                      for each, pid in watched.items()}
            seconds = [ask() for _ in range(count)]
            return {'seconds': seconds, 'cpu': {
                each: processor.seconds(pid) - before[each]
                for each, pid in watched.items()}}
        finally:
            self._processes.end([name])

    @tenacity.retry(
        retry=tenacity.retry_if_exception_type(
            oslo_messaging.MessagingTimeout),
        stop=tenacity.stop_after_delay(120), wait=tenacity.wait_fixed(0.5))
    def _wait(self, name):
        self._rpc.client.prepare(
            server=name, version='1.0', timeout=2).call(
            nova_context.get_admin_context(), 'oslo_rpc_server_ping')

    def _send_servers_of_hosts(self):
        """Do what nova-compute does every two minutes: otherwise the stock
        scheduler reads the servers of each host for each request."""
        context = nova_context.get_admin_context()
        for host, servers in self._servers_of_hosts.items():
            self._rpc.update_instance_info(context, host, servers)

    def _look_up(self):
        member, host = self._places.popitem()
        seconds, answer = self._ask({
            'holistic_group': [self._group], 'holistic_member': [member]})
        assert answer == host, (member, answer, host)
        return seconds

    def _schedule(self):
        return self._ask({})[0]

    def _ask(self, hints):
        """The seconds until one server has a host, and the host."""
        context = nova_context.RequestContext(*self._owner)
        server = str(uuid.uuid4())
        spec = objects.RequestSpec.from_components(
            context, server, {'id': str(uuid.uuid4()), 'properties': {}},
            self._flavor, None, None, {'scheduler_hints': hints}, None, None,
            security_groups=objects.SecurityGroupList(objects=[]))
        begin = time.monotonic()
        answer, = self._rpc.select_destinations(
            context, spec, [server], return_objects=True,
            return_alternates=True)
        seconds = time.monotonic() - begin
        self._created.append(server)
        assert len(answer) == 1 + ALTERNATES, answer
        return seconds, answer[0].service_host


def _servers_of_hosts():
    """The servers of each host, as its nova-compute sends them."""
    admin = nova_context.get_admin_context()
    cell, = (each for each in objects.CellMappingList.get_all(admin)
             if not each.is_cell0())
    with nova_context.target_cell(admin, cell) as context:
        return {node.host: objects.InstanceList.get_by_host(
            context, node.host, expected_attrs=[])
            for node in objects.ComputeNodeList.get_all(context)}


def main(directory, rounds, lookups, stock, members):
    counts = {'looked up': int(lookups), 'stock': int(stock)}
    results = {kind: [] for kind in counts}
    requests = Requests(directory)
    with requests.planned(max(
            int(members), int(rounds) * (counts['looked up'] + WARM))):
        for _ in range(int(rounds)):
            for kind, count in counts.items():
                results[kind].append(requests.turn(kind, count))
    rpc.cleanup()
    print(json.dumps(results))


if __name__ == '__main__':
    main(*sys.argv[1:])
