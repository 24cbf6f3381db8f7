# SPDX-License-Identifier: Apache-2.0
"""A table, a Placement with hosts, and engines: threads and processes."""

import contextlib
from datetime import timedelta
import json
import sys
import threading
import uuid

from oslo_config import cfg
from oslo_utils import timeutils

from nova_holistic import conf as options
from nova_holistic.engine.context import RequestContext
from nova_holistic.engine.instances import Instances
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.engine.reconciler import Reconciler
from nova_holistic.engine.rpc import EngineClient
from nova_holistic.engine.service import EngineParts, EngineService
from nova_holistic.engine.transport import get_transport
from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.inventory import Inventory
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table import migration
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberState, PlanRecord, PlanStatus, Task)
from nova_holistic.table.store import PlacementTable
from tests.services.background import Process, wait_for

VCPUS = 16
SMALL = {'VCPU': 1, 'MEMORY_MB': 512}
HOSTS = {f'{rack}{number}': rack for rack in 'abcd' for number in (1, 2)}
ANN = RequestContext('req-1', 'blue', 'ann')

QUICK = {'heartbeat': 0.2, 'stale_after': 300.0, 'pickup_interval': 0.3,
         'lease_interval': 0.4, 'reconcile_interval': 0.0}
"""What an operator would have in seconds, in tenths of them; but no engine on
a busy machine counts as dead, unless a test ages its sign of life."""

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
    """Servers no two of which are in one rack."""
    return {'group': {
        'name': name, 'members': [
            {'name': 'node', 'count': count, 'resources': SMALL}],
        'policies': [{'type': 'anti-affinity', 'level': 'rack'}]}}


class Hosts(InventoryDriver):
    """The hosts, with what Placement says is used of them."""

    def __init__(self, placement, providers):
        self._placement = placement
        self._providers = providers

    @classmethod
    def from_conf(cls, conf, **adapters):
        raise TypeError('made by the tests alone')

    def snapshot(self):
        return Snapshot(('rack', 'host'), tuple(
            self._host(name, rack) for name, rack in HOSTS.items()))

    def _host(self, name, rack):
        used = self._placement.used(self._providers[name])
        return Host(
            name, name, self._providers[name], (rack,), FrozenMapping({
                'VCPU': Inventory(total=VCPUS, used=used['VCPU']),
                'MEMORY_MB': Inventory(
                    total=VCPUS * 512, used=used['MEMORY_MB'])}))


class NoServers(Instances):
    """Nobody has created any server."""

    def get(self, instance_uuid):
        return None


class WatchedPlanner(Planner):
    """A planner that tells what it was given to do.

    :ivar performed: UUIDs, in turn
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.performed = []
        self._lock = threading.Lock()

    def perform(self, record):
        with self._lock:
            self.performed.append(record.uuid)
        super().perform(record)


class EngineWorld:
    """Four racks of two hosts, each with room for 16 small servers.

    :ivar transport_url: of the engines and the client
    """

    def __init__(self, directory, placement, table=None,
                 transport_url='fake://', vcpus=VCPUS):
        """
        :param table: URL of an empty database; None is a SQLite file
        :param vcpus: of each host, and as many times 512 MiB
        """
        self._vcpus = vcpus
        self.directory = directory
        self.placement = placement
        self.transport_url = transport_url
        self.table_url = table or f'sqlite:///{directory}/table.sqlite'
        migration.upgrade(self.table_url)
        self.table = PlacementTable(self.table_url)
        self.hosts = {name: placement.add_host(
            f'{name}-{uuid.uuid4()}', vcpus, vcpus * 512) for name in HOSTS}
        self.holds = HoldClient(placement.adapter)
        self.planners = []
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self._stack.close()
        self.table.database.engine.dispose()

    def conf(self, **engine):
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], default_config_files=[])
        for name, value in {**QUICK, **engine}.items():
            conf.set_override(name, value, group='engine')
        return conf

    def client(self, timeout=None, exchange=None):
        """
        :param exchange: that the client's service has configured
        """
        conf = self._with_transport(self.conf())
        if exchange is not None:
            conf.set_override('control_exchange', exchange)
        transport = get_transport(conf)
        self._stack.callback(transport.cleanup)
        return EngineClient(transport, timeout)

    def start(self, skew=timedelta(), **engine):
        """An engine in this process.

        :param skew: by which the clock of its machine is ahead
        """
        clock = self.clock_of_a_machine(skew)
        conf = self._with_transport(self.conf(**engine))
        transport = get_transport(conf)
        self._stack.callback(transport.cleanup)
        inventory = Hosts(self.placement, self.hosts)
        planner = WatchedPlanner(
            conf, inventory, self.table, self.holds, clock)
        self.planners.append(planner)
        service = EngineService(conf, EngineParts(
            self.table, inventory, planner,
            Lifecycle(conf, self.table, self.holds, clock),
            Reconciler(conf, inventory, self.table, self.holds, NoServers(),
                       clock)), transport, clock)
        service.start()
        self._stack.callback(service.stop)
        return service

    def clock_of_a_machine(self, skew):
        return DatabaseClock(
            self.table.database, lambda: timeutils.utcnow() + skew)

    def start_process(self, inventory, **engine):
        """An engine in a process of its own."""
        name = uuid.uuid4().hex[:8]
        file = self.directory / f'engine-{name}.conf'
        file.write_text(CONFIGURATION.format(
            transport=self.transport_url, table=self.table_url,
            placement=self.placement.endpoint, inventory=inventory,
            engine='\n'.join(f'{key} = {value}' for key, value
                             in {**QUICK, **engine}.items())))
        return self.run_process('--config-file', file)

    def run_process(self, *arguments):
        """``nova-holistic-engine``, of the Python that runs the tests."""
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
        """What an API writes of a create, before it tells the engines."""
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
        """The group, once no engine has anything to do with it."""
        return wait_for(f'group {group_uuid} to be settled', lambda: (
            self._idle(self.table.get_group(group_uuid))))

    @staticmethod
    def _idle(group):
        return group if group.task is None else None

    def statuses(self, groups):
        return {str(self.settled(uuid).status) for uuid in groups}

    def vcpus_used(self):
        return sum(self.placement.used(provider)['VCPU']
                   for provider in self.hosts.values())

    def assert_agreement(self):
        """Each planned member has its hold, and nothing else is taken."""
        expected = 0
        for group in self.table.list_groups():
            for row in self.table.members(group.uuid):
                planned = row.state == MemberState.PLANNED
                assert row.held == planned, row
                assert self.holds.has(row.hold, row) == planned, row
                expected += planned
        assert self.vcpus_used() == expected

    def _with_transport(self, conf):
        # The option is registered by whoever first makes a transport of it.
        get_transport(conf).cleanup()
        conf.set_override('transport_url', self.transport_url)
        return conf
