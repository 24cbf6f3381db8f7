# SPDX-License-Identifier: Apache-2.0
"""A world with engines as threads and processes."""

import contextlib
from datetime import timedelta
import json
import sys
import threading
import uuid

from oslo_config import cfg
import oslo_messaging as messaging
from oslo_utils import timeutils

from nova_holistic import conf as options
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.messaging.client import EngineClient
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging.transport import (
    get_nova_notification_transport, get_transport)
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.service.service import EngineParts, EngineService
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, PlanRecord, PlanStatus, Task)
from tests.services.background_processes import Process, wait_for, WaitTimeout
from tests.tables import new_table
from tests.world.base import BaseWorld, SMALL

VCPUS = 16
HOSTS = {f'{rack}{number}': rack for rack in 'abcd' for number in (1, 2)}
ANN = RequestContext('req-1', 'blue', 'ann')

QUICK = {'heartbeat': 0.2, 'stale_after': 300.0, 'pickup_interval': 0.3,
         'lease_interval': 0.4, 'reconcile_interval': 0.0}
"""Short intervals in seconds. ``stale_after`` is long, because an engine on a
busy machine must not count as failed. Tests of failed engines age the
heartbeat."""

CONFIGURATION = '''
[DEFAULT]
transport_url = {transport}
[holistic_database]
connection = {table}
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
[nova]
auth_type = admin_token
endpoint = http://nova.example.org
token = admin
[inventory]
driver = file
path = {inventory}
[engine]
{engine}
'''


def pair(name='pair', count=2):
    """A document of a group. No two of its servers may be in one rack."""
    return {'group': {
        'name': name, 'members': [
            {'name': 'node', 'count': count, 'resources': SMALL}],
        'policies': [{'type': 'anti-affinity', 'level': 'rack'}]}}


class WatchedPlanner(Planner):
    """A planner that records its tasks.

    :ivar performed: UUIDs of groups in the order of their tasks
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.performed = []
        self._lock = threading.Lock()

    def perform(self, record):
        with self._lock:
            self.performed.append(record.uuid)
        super().perform(record)


class EngineWorld(BaseWorld):
    """Four racks of two hosts. Each host has capacity for 16 small servers.

    :ivar directory: folder of its files
    :ivar transport_url: URL of the broker of the engines and the client
    :ivar planners: WatchedPlanner of each engine in this process
    :ivar engines: Engines that start processes
    """

    def __init__(self, directory, placement, table=None,
                 transport_url='fake://', vcpus=VCPUS):
        """
        :param table: URL of an empty placement table; None means an SQLite
            file
        :param vcpus: VCPUs of each host, which also has 512 MiB for each of
            them
        """
        # Worlds that share a Placement have different hosts.
        super().__init__(placement, table or new_table(directory), HOSTS,
                         vcpus, name='{}-' + str(uuid.uuid4()))
        self._vcpus = vcpus
        self.directory = directory
        self.transport_url = transport_url
        self.planners = []
        self.engines = None
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self._stack.close()
        self.table.database.engine.dispose()

    def clock(self):
        return timeutils.utcnow()

    def conf(self, **engine):
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], default_config_files=[])
        for name, value in {**QUICK, **engine}.items():
            conf.set_override(name, value, group='engine')
        return conf

    def client(self, timeout=None, exchange=None):
        """A client that calls the engines.

        :param exchange: exchange in the configuration of the client's service
        """
        conf = self._with_transport(self.conf())
        if exchange is not None:
            conf.set_override('control_exchange', exchange)
        transport = get_transport(conf)
        self._stack.callback(transport.cleanup)
        return EngineClient(transport, timeout)

    def nova(self):
        """A client that sends notifications as the nova-compute of a host
        does."""
        conf = self._with_transport(self.conf())
        conf.set_override('control_exchange', conf.nova_notifications.exchange)
        transport = get_nova_notification_transport(conf)
        self._stack.callback(transport.cleanup)
        return messaging.Notifier(
            transport, 'nova-compute:a1', driver='messagingv2',
            topics=conf.nova_notifications.topics)

    def start(self, skew=timedelta(), inventory=None, listens=False,
              **engine):
        """An engine in this process.

        :param skew: offset of the clock of its machine
        :param inventory: inventory of this engine; None means that of the
            world
        :param listens: whether it listens to notifications of Nova
        """
        inventory = inventory or self.inventory
        clock = self.clock_of_a_machine(skew)
        conf = self._with_transport(self.conf(**engine))
        transport = get_transport(conf)
        self._stack.callback(transport.cleanup)
        planner = WatchedPlanner(
            conf, inventory, self.table, self.holds, clock)
        self.planners.append(planner)
        notifications = None
        if listens:
            notifications = get_nova_notification_transport(conf)
            self._stack.callback(notifications.cleanup)
        service = EngineService(conf, EngineParts(
            self.table, inventory, planner,
            Lifecycle(conf, self.table, self.holds, clock),
            Reconciler(ReconcileComponents(
                conf, inventory, self.table, self.holds, self.instances,
                clock))), transport, clock,
            notifications)
        service.start()
        self._stack.callback(service.stop)
        return service

    def clock_of_a_machine(self, skew):
        return DatabaseClock(
            self.table.database, lambda: timeutils.utcnow() + skew)

    def start_process(self, inventory, crash_point=None, **engine):
        """Start an engine as a fork of a process with its imports.

        :param inventory: path of its inventory file
        :param crash_point: crash point at which the engine is killed, or None
        """
        name = uuid.uuid4().hex[:8]
        file = self.directory / f'engine-{name}.conf'
        file.write_text(CONFIGURATION.format(
            transport=self.transport_url, table=self.table_url,
            placement=self.placement.endpoint, inventory=inventory,
            engine='\n'.join(f'{key} = {value}' for key, value
                             in {**QUICK, **engine}.items())))
        return self._stack.enter_context(self.engines.start(
            ['--config-file', file], file.with_suffix('.log'), crash_point))

    def run_process(self, *arguments):
        """Run ``nova-holistic-engine`` with the Python of the tests."""
        program = ('import sys; from nova_holistic.cli.engine import main; '
                   'sys.exit(main())')
        return self._stack.enter_context(Process(
            [sys.executable, '-W', 'ignore', '-c', program, *arguments],
            self.directory / f'engine-{uuid.uuid4().hex[:8]}.log'))

    def inventory_document(self):
        room = {'VCPU': {'total': self._vcpus},
                'MEMORY_MB': {'total': self._vcpus * 512}}
        return json.dumps({'levels': ['rack', 'host'], 'hosts': [
            {'name': name, 'uuid': self.hosts[name], 'location': [rack],
             'resources': room} for name, rack in HOSTS.items()]})

    def ask(self, document=None, **fields):
        """Write the rows that the API writes before it sends a message to
        engines; returns the UUID of the group."""
        now = timeutils.utcnow()
        document = document or pair()
        record = GroupRecord(**{
            'uuid': str(uuid.uuid4()), 'name': document['group']['name'],
            'project_id': 'blue', 'user_id': 'ann', 'document': document,
            'status': GroupStatus.PLANNING, 'objective': 'spread',
            'created_at': now, 'updated_at': now, 'task': Task.PLANNING,
            'pending': {'lease': 3600, 'request_id': 'req-1'}, **fields})
        self.table.create_group(record)
        return record.uuid

    def ask_plan(self, document=None):
        now = timeutils.utcnow()
        document = document or pair()
        record = PlanRecord(
            str(uuid.uuid4()), 'blue', 'ann', document['group']['name'],
            PlanStatus.PLANNING, document, 'spread', created_at=now,
            updated_at=now)
        self.table.plans.create(record)
        return record.uuid

    def settled(self, group_uuid):
        """The group, once no engine has a task for it."""
        return wait_for(f'group {group_uuid} to be settled', lambda: (
            self._idle(self.table.get_group(group_uuid))))

    @staticmethod
    def _idle(group):
        return group if group.task is None else None

    def statuses(self, groups):
        return {str(self.settled(uuid).status) for uuid in groups}

    def assert_nothing_left(self):
        """Assert that table and Placement agree once the engines have no
        tasks."""
        try:
            wait_for('agreement', lambda: not self.disagreements())
        except WaitTimeout:
            super().assert_nothing_left()

    def _with_transport(self, conf):
        # The option is registered when the first transport is created.
        get_transport(conf).cleanup()
        conf.set_override('transport_url', self.transport_url)
        return conf
