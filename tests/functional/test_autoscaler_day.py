# SPDX-License-Identifier: Apache-2.0
"""A day of an autoscaler on a real Nova, compared with a model.

Servers are created and deleted in any order, the reconciler runs at any time,
the numbers change, and the lease expires. After each step, the policies hold,
and Placement has what the existing servers and the held places need. At the
end, the member can grow to its maximum again.

By default there are two days of 20 steps. NOVA_HOLISTIC_TEST_EFFORT=12.5 makes
two days of 250 steps. A failing sequence is reported unchanged, because the
search for a shorter one would take hours.
"""

from hypothesis import stateful, strategies
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import MemberState, Task
from tests import effort

HOSTS = tuple(EmbeddedHost(f'h{n}', zone='az1', rack=f'r{n % 3}', vcpus=2)
              for n in range(9))
RACKS = {host.name: host.rack for host in HOSTS}
SMALL = {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 1}
ROOM = 3
"""Servers per rack that the policy permits; there are three racks."""
LIVE = (MemberState.PLANNED, MemberState.CLAIMED, MemberState.BUILT)


@pytest.fixture(scope='module')
def cloud(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 512, 1)
        yield cloud


def document(desired, most):
    return {'name': 'day', 'policies': [
        {'type': 'anti-affinity', 'level': 'host'},
        {'type': 'anti-affinity', 'level': 'rack', 'max_per_domain': ROOM}],
        'members': [{'name': 'node', 'flavor': 'small',
                     'count': {'min': 0, 'desired': desired, 'max': most}}]}


def revised(cloud, group, wanted):
    """The group after an update by an engine."""
    record = cloud.table.get_group(group)
    assert cloud.table.tasks.request(
        group, NewTask(Task.UPDATING, {
            'document': wanted, 'objective': None, 'lease': None,
            'user_id': USER, 'project_id': PROJECT, 'request_id': None,
            'released': []}, [record.status], record.revision), cloud.clock())
    cloud.planner.perform(cloud.table.tasks.take(
        group, 'engine', cloud.clock(), cloud.clock()))
    return cloud.table.get_group(group)


class Day(stateful.RuleBasedStateMachine):
    """A member of a real cloud, and a model of it.

    :ivar servers: UUIDs of the servers that exist
    """

    cloud = None
    steps = 0
    """Number of steps of all days."""

    def __init__(self):
        super().__init__()
        self.servers = []
        self.desired, self.most = 3, 5
        record = self.cloud.planner.create(
            document(3, 5), project_id=PROJECT, user_id=USER)
        assert record.status == 'planned', record.reasons
        self.group = record.uuid

    def teardown(self):
        self.cloud.clear()

    def rows(self):
        return [row for row in self.cloud.table.members(self.group)
                if row.state in LIVE]

    @stateful.rule()
    def create(self):
        """Create a server: this succeeds below the maximum and is refused
        otherwise."""
        server = self.cloud.create_server(
            'node', 'small', {'group': self.group, 'member': 'node'})
        if len(self.servers) < self.most:
            self.cloud.wait_for_status(server, 'ACTIVE')
            self.servers.append(server)
        else:
            assert (f'its maximum is {self.most}'
                    in self.cloud.fault_of(server))
            self.cloud.delete_server(server)

    @stateful.precondition(lambda self: self.servers)
    @stateful.rule(data=strategies.data())
    def delete(self, data):
        server = data.draw(strategies.sampled_from(sorted(self.servers)))
        self.servers.remove(server)
        self.cloud.delete_server(server)
        if data.draw(strategies.booleans()):
            self.reconcile()

    @stateful.rule()
    def reconcile(self):
        self.cloud.reconciler.reconcile()
        # After a pass, the group has exactly the desired number.
        assert len(self.rows()) <= max(self.desired, len(self.servers))

    @stateful.rule()
    def expire(self):
        self.cloud.lifecycle.release(self.group)

    @stateful.rule(desired=strategies.integers(1, 6),
                   more=strategies.integers(0, 3))
    def scale(self, desired, more):
        most = max(desired + more, len(self.servers))
        self.reconcile()
        record = revised(self.cloud, self.group, document(desired, most))
        assert not record.reasons, record.reasons
        self.desired, self.most = desired, most

    @stateful.invariant()
    def servers_places_and_allocations_agree(self):
        hosts_by_server = {server['id']: server['OS-EXT-SRV-ATTR:host']
                           for server in self.cloud.servers()}
        rows = self.rows()
        held = {row.hold: row.place.host for row in rows
                if row.state == MemberState.PLANNED}
        assert sorted(hosts_by_server) == sorted(self.servers) == sorted(
            row.instance_uuid for row in rows
            if row.instance_uuid in self.servers)
        self.policies_hold([*hosts_by_server.values(), *held.values()])
        self.allocations_are({**hosts_by_server, **held})
        type(self).steps += 1

    @staticmethod
    def policies_hold(hosts):
        assert len(hosts) == len(set(hosts)), hosts
        racks = [RACKS[name] for name in hosts]
        assert all(racks.count(rack) <= ROOM for rack in racks)

    def allocations_are(self, wanted):
        """
        :param wanted: hosts of all consumers
        """
        found = {consumer: (host, resources) for host in RACKS
                 for consumer, resources in self.cloud.consumers(host).items()}
        assert found == {consumer: (host, SMALL)
                         for consumer, host in wanted.items()}


def test_an_autoscaler_works_all_day(cloud):
    Day.cloud, Day.steps = cloud, 0
    stateful.run_state_machine_as_test(
        Day, settings=effort.long_runs(2, 20))
    # Invariants are checked before the first step of a day, too.
    assert Day.steps == 2 * (effort.times(20) + 1)
