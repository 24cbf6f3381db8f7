# SPDX-License-Identifier: Apache-2.0
"""Lookups per second of one nova-holistic-scheduler and of two, and requests
per second of stock nova-scheduler on the same cloud.

A whole cloud of processes (tools.cloud): MariaDB, RabbitMQ, keystone,
Placement, Nova with fake compute hosts, and for the plan our API and engines,
which are stopped before the measurement. Requests are Nova's own RPC
``select_destinations``, sent by threads of this process as nova-conductor
sends them: one server each, with alternates. Every server with a pointer must
get its planned host, and Placement must contain its allocation on this host at
the end.

The rates depend on this machine, which runs the whole cloud. The processor
time of a request, in the schedulers and in total, shows what limits them.
"""

import os

# Before any of Nova is imported: threads, as in the processes of the cloud.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '1'

import argparse  # noqa: E402
from concurrent import futures  # noqa: E402
import math  # noqa: E402
import pathlib  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import uuid  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from keystoneauth1.adapter import Adapter  # noqa: E402
from nova import conf as nova_conf  # noqa: E402
from nova import config  # noqa: E402
from nova import context as nova_context  # noqa: E402
from nova import objects  # noqa: E402
from nova import rpc  # noqa: E402
from nova.scheduler import rpcapi  # noqa: E402

from benchmarks import processor  # noqa: E402
from nova_holistic.client.client import Client  # noqa: E402
from tools.cloud import catalog  # noqa: E402
from tools.cloud.cloud import make  # noqa: E402
from tools.cloud.holistic import ENGINES  # noqa: E402
from tools.cloud.layout import write  # noqa: E402
from tools.cloud.manual import enabled_filters  # noqa: E402
from tools.cloud.nova import UNPATCHED  # noqa: E402
from tools.cloud.processes import scripts  # noqa: E402
from tools.cloud.waiting import wait_for  # noqa: E402

FLAVOR = 'tiny'
WARM = 4
"""Answers of each scheduler that are not timed: they fill its caches."""
STOCK = {'filter_scheduler': {
    'available_filters': 'nova.scheduler.filters.all_filters',
    'enabled_filters': ','.join(
        name for name in enabled_filters() if 'Holistic' not in name),
    'weight_classes': 'nova.scheduler.weights.all_weighers'}}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=20)
    parser.add_argument('--schedulers', type=int, nargs='+', default=[1, 2])
    parser.add_argument('--lookups', type=int, default=200,
                        help='lookups to time for each number of schedulers')
    parser.add_argument('--stock', type=int, default=100,
                        help='requests without a pointer to time in the same '
                             'way')
    parser.add_argument('--clients', type=int, default=8,
                        help='threads that each wait for their answer')
    return parser.parse_args()


class Bench:
    def __init__(self, cloud, arguments):
        self._cloud = cloud
        self._arguments = arguments
        self._session = catalog.session(cloud.layout, catalog.ADMIN)
        self._owner = (self._session.get_user_id(),
                       self._session.get_project_id())
        self._conf = cloud.layout.configuration('nova') / 'nova.conf'
        self._places = {}
        self._given = {}

    def plan(self):
        """A group with a member for every lookup, and its places."""
        schedulers = self._arguments.schedulers
        count = sum(self._arguments.lookups + WARM * n for n in schedulers)
        groups = Client(self._session).groups
        group = groups.create({
            'name': 'lookups',
            'policies': [
                {'type': 'anti-affinity', 'level': 'rack',
                 'max_per_domain': '50%'},
                {'type': 'anti-affinity', 'level': 'host',
                 'max_per_domain': 100}],
            'members': [{'name': 'node', 'flavor': FLAVOR, 'count': count}]})
        status = groups.wait(group['id'])['status']
        assert status == 'planned', groups.get(group['id'])['reasons']
        self._places = {
            place['member']: (group['id'], place['host'])
            for place in groups.placements(group['id'])}
        # Nothing but a scheduler is at work from here on.
        self._cloud.processes.end(
            [*ENGINES, 'holistic', 'nova-holistic-scheduler'])

    def connect(self):
        """Make this process a client of the cloud's broker."""
        config.parse_args(['lookups', '--config-file', str(self._conf)])
        objects.register_all()
        self._spec = objects.Flavor.get_by_name(
            nova_context.get_admin_context(), FLAVOR)
        self._scheduler = rpcapi.SchedulerAPI()

    def run(self, command, number):
        """Start, measure and stop this number of schedulers; return a row."""
        names = [f'{command}-{number}-{i}' for i in range(number)]
        for name in names:
            self._start(command, name)
        wait_for('schedulers', lambda: set(names) <= self._up())
        pointed = command == 'nova-holistic-scheduler'
        ask = self._look_up if pointed else self._schedule
        count = self._arguments.lookups if pointed else self._arguments.stock
        for _ in range(WARM * number):
            ask()
        with futures.ThreadPoolExecutor(self._arguments.clients) as pool:
            begin, before = time.perf_counter(), self._used(names)
            times = sorted(pool.map(lambda _: ask(), range(count)))
            seconds = time.perf_counter() - begin
            own, all_of_them = (1000 * (now - then) / count for now, then
                                in zip(self._used(names), before))
        self._cloud.processes.end(names)
        return (f'{command:<24} {number:>9} {count:>8} {count / seconds:>8.1f}'
                f' {1000 * statistics.median(times):>9.0f} '
                f'{1000 * times[math.ceil(0.95 * count) - 1]:>8.0f} '
                f'{own:>8.0f} {all_of_them:>11.0f}')

    def check(self):
        """Every looked-up server has its allocation where it was planned."""
        placement = Adapter(self._session, service_type='placement',
                            default_microversion='1.39')
        providers = {each['name']: each['uuid'] for each in placement.get(
            '/resource_providers').json()['resource_providers']}
        for host in set(self._given.values()):
            consumers = set(placement.get(
                f'/resource_providers/{providers[host]}/allocations').json()[
                    'allocations'])
            planned_instances = {instance for instance, planned
                                 in self._given.items() if planned == host}
            assert planned_instances <= consumers, (
                host, planned_instances - consumers)
        print(f'{len(self._given)} servers have their allocations where they '
              f'were planned')

    def _used(self, schedulers):
        """CPU seconds of the schedulers, without and with those of Placement,
        MariaDB and RabbitMQ."""
        pids = self._cloud.layout.state('processes')

        def total(names):
            return sum(processor.seconds(int(
                (pids / f'{name}.pid').read_text().split()[0]))
                for name in names)

        own = total(schedulers)
        return own, own + total(('placement', 'mariadb', 'rabbitmq'))

    def _start(self, command, name):
        own = write(self._cloud.layout.configuration(name) / 'nova.conf', {
            'DEFAULT': {'host': name},
            **({} if command == 'nova-holistic-scheduler' else STOCK)})
        self._cloud.processes.start(name, [
            scripts(command), '--config-file', self._conf,
            '--config-file', own], UNPATCHED)

    def _up(self):
        return {each['host'] for each in Adapter(
            self._session, service_type='compute').get(
                '/os-services?binary=nova-scheduler').json()['services']
            if each['state'] == 'up'}

    def _look_up(self):
        member, (group, planned) = self._places.popitem()
        seconds, instance, host = self._ask({
            'holistic_group': [group], 'holistic_member': [member]})
        assert host == planned, (member, host, planned)
        self._given[instance] = host
        return seconds

    def _schedule(self):
        return self._ask({})[0]

    def _ask(self, hints):
        """Seconds, the server, and the host that it was given."""
        context = nova_context.RequestContext(*self._owner)
        instance = str(uuid.uuid4())
        spec = objects.RequestSpec.from_components(
            context, instance, {'id': str(uuid.uuid4()), 'properties': {}},
            self._spec, None, None, {'scheduler_hints': hints}, None, None,
            security_groups=objects.SecurityGroupList(objects=[]))
        begin = time.perf_counter()
        answer, = self._scheduler.select_destinations(
            context, spec, [instance], return_objects=True,
            return_alternates=True)
        seconds = time.perf_counter() - begin
        assert len(answer) == nova_conf.CONF.scheduler.max_attempts
        return seconds, instance, answer[0].service_host


def main():
    arguments = parse()
    # A short path, which the names of sockets are part of.
    cloud = make(pathlib.Path(tempfile.mkdtemp(prefix='cloud-')),
                 arguments.hosts)
    try:
        cloud.up()
        bench = Bench(cloud, arguments)
        bench.plan()
        bench.connect()
        print(f'{"scheduler":<24} {"processes":>9} {"requests":>8} '
              f'{"a second":>8} {"median ms":>9} {"95 % ms":>8} '
              f'{"CPU ms":>8} {"CPU ms, all":>11}')
        for command in ('nova-holistic-scheduler', 'nova-scheduler'):
            for number in arguments.schedulers:
                print(bench.run(command, number), flush=True)
        bench.check()
        rpc.cleanup()
    finally:
        cloud.down()
    cloud.remove()


if __name__ == '__main__':
    main()
