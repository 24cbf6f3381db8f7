# SPDX-License-Identifier: Apache-2.0
"""An engine with a cached snapshot reads exactly the changes of a real Nova
and a real Placement."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.engine.planner import Planner
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.use_tracking_adapter import UseTrackingAdapter
from nova_holistic.inventory.cached_inventory import CachedInventory
from tests.functional.watched_inventory import Watch

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number}',
                           vcpus=2) for number in range(4))
EACH_TIME = {'flavors/detail': 1, 'resource_providers': 1}
"""The requests of every cached snapshot."""
CHANGED = {'one/allocations': 1, 'one/inventories': 1, 'one/traits': 1}
WEB = {'name': 'shop', 'members': [{'name': 'web', 'flavor': 'small'}]}
ALONE = WEB | {'policies': [{'type': 'exclusive'}]}
PINNED = {'name': 'shop', 'members': [
    {'name': 'web', 'flavor': 'small', 'location': 'az1/r2'}]}


class KeptWatch(Watch):
    """A cached inventory of a cloud, and the requests since the last check.

    :ivar now: seconds of the timer of the inventory
    """

    def __init__(self, cloud, interval=100.0, cold=False):
        """:param cold: whether nothing has been read yet"""
        super().__init__(cloud)
        self.now = 0.0
        self.inventory = CachedInventory(
            self._inventory, self._inventory.reader, interval,
            lambda: self.now)
        if not cold:
            self.inventory.snapshot()
        self.clear()

    def clear(self):
        for adapter in self._adapters:
            adapter.requests.clear()

    def cached_snapshot(self):
        self.clear()
        return {host.name: host
                for host in self.inventory.cached_snapshot().hosts}

    def fresh(self):
        """The result of an engine without earlier reads."""
        return self.inventory.snapshot()

    def engine(self, cloud):
        """A planner that marks the hosts of its holds."""
        return Planner(
            cloud.conf, self.inventory, cloud.table,
            HoldClient(UseTrackingAdapter(
                cloud.placement, self.inventory)), cloud.clock)


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, scheduler='stock') as cloud:
        cloud.create_flavor('small', 2, 512, 1)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    running.enable_computes()
    running.clear()


@pytest.fixture
def other_server(cloud):
    """A function that creates another server with all or some VCPUs of a
    host."""
    consumers = []

    def other_server(host, vcpus=2):
        consumers.append(cloud.add_consumer(host, {'VCPU': vcpus}))
        return consumers[-1]

    yield other_server
    for consumer in consumers:
        if cloud.allocations(consumer):
            cloud.delete_consumer(consumer)


@pytest.fixture
def watch(cloud):
    return KeptWatch(cloud)


def create(watch, cloud, document=WEB):
    record = watch.engine(cloud).create(
        document, project_id=PROJECT, user_id=USER)
    assert record.status == 'planned', record.reasons
    row, = cloud.table.members(record.uuid)
    return row.place.host


def test_a_kept_snapshot_costs_two_requests_and_stays_the_same_object(
        watch):
    first = watch.inventory.cached_snapshot()
    watch.clear()
    assert watch.inventory.cached_snapshot() is first
    assert watch.requests == EACH_TIME


def test_a_plan_reads_nothing_for_the_holds_of_its_own_engine(watch, cloud):
    create(watch, cloud)
    watch.clear()
    create(watch, cloud)
    # The search for alternates uses what was read for the plan.
    assert watch.requests == EACH_TIME
    known = watch.cached_snapshot()
    assert known == {host.name: host for host in watch.fresh().hosts}
    assert sum(host.servers for host in known.values()) == 2


def test_a_dropped_hold_takes_one_request(watch, cloud):
    """The rest of the provider is not read, because a deletion does not depend
    on it."""
    holds = HoldClient(UseTrackingAdapter(cloud.placement, watch.inventory))
    record = Planner(
        cloud.conf, watch.inventory, cloud.table, holds, cloud.clock).create(
            WEB, project_id=PROJECT, user_id=USER)
    row, = cloud.table.members(record.uuid)
    holds.drop([row.hold])
    assert not watch.cached_snapshot()[row.place.host].inventories['VCPU'].used
    assert watch.requests == EACH_TIME | {'one/allocations': 1}


def test_a_plan_of_a_new_engine_takes_one_request_for_each_provider(
        watch, cloud, other_server):
    """The number of servers is read for the first group that needs it."""
    for name in 'cmp-1', 'cmp-1', 'cmp-2':
        other_server(name, vcpus=1)
    cold = KeptWatch(cloud, cold=True)
    assert create(cold, cloud) in ('cmp-0', 'cmp-2', 'cmp-3')
    assert cold.requests['one/inventories'] == len(HOSTS)
    assert cold.requests['one/allocations'] == 0
    cold.clear()
    create(cold, cloud, ALONE)
    # The two hosts whose servers are not counted, and again the planned host,
    # because servers may have been created in the meantime.
    assert cold.requests['one/allocations'] == 2 + 1
    assert cold.cached_snapshot() == {
        host.name: host for host in watch.fresh().hosts}
    assert cold.requests == EACH_TIME


def test_an_exclusive_group_of_a_new_engine_finds_other_servers_beside_its_own(
        cloud, other_server):
    """A host whose servers are not counted seems to have one server. If it
    were the group's own, the host would seem to have no other server."""
    for _ in range(2):
        other_server('cmp-1', vcpus=1)
    cold = KeptWatch(cloud, cold=True)
    uncounted, = (host.servers for host
                  in cold.inventory.uncounted_snapshot().hosts
                  if host.name == 'cmp-1')
    assert uncounted == 1
    assert not cold.requests['one/allocations']
    assert cold.cached_snapshot()['cmp-1'].servers == 2
    assert cold.requests['one/allocations'] == 1


def test_a_new_engine_counts_servers_if_nova_limits_their_number(
        cloud, other_server):
    other_server('cmp-1', vcpus=1)
    cold = KeptWatch(cloud, cold=True)
    options = cloud.conf.filter_scheduler
    before = options.enabled_filters
    cloud.conf.set_override('enabled_filters', [
        *before, 'NumInstancesFilter'], 'filter_scheduler')
    try:
        create(cold, cloud)
    finally:
        cloud.conf.set_override('enabled_filters', before, 'filter_scheduler')
    assert cold.requests['one/allocations'] == 1


def test_a_trait_that_came_with_other_use_is_found_by_the_comparison(
        watch, cloud, other_server):
    """After a notification, only the usage is read."""
    other_server('cmp-2')
    cloud.disable_compute('cmp-2')
    watch.inventory.mark_hosts(['cmp-2'])
    watch.inventory.follow()
    assert watch.requests == {'one/allocations': 1}
    watch.inventory.compare()
    while watch.inventory.is_comparing:
        watch.inventory.compare()
    assert watch.cached_snapshot() == {host.name: host
                                       for host in watch.fresh().hosts}
    assert not watch.cached_snapshot()['cmp-2'].enabled


def test_hosts_in_the_names_of_notifications_are_read_again(
        watch, cloud, other_server):
    before = watch.cached_snapshot()
    consumer = other_server('cmp-1')
    watch.inventory.mark_hosts(['cmp-1', 'elsewhere'])
    after = watch.cached_snapshot()
    assert after['cmp-1'].inventories['VCPU'].used == 2
    assert watch.requests == EACH_TIME | {'one/allocations': 1}
    assert all(after[name] is before[name]
               for name in before if name != 'cmp-1')
    cloud.delete_consumer(consumer)
    watch.inventory.mark_hosts(['cmp-1'])
    assert watch.cached_snapshot() == before
    assert watch.requests == EACH_TIME | {'one/allocations': 1}


def test_marked_hosts_are_read_in_the_background(watch, cloud, other_server):
    watch.inventory.follow()
    assert not watch.requests
    other_server('cmp-1')
    watch.inventory.mark_hosts(['cmp-1'])
    watch.inventory.follow()
    assert watch.cached_snapshot()['cmp-1'].servers == 1
    assert watch.requests == EACH_TIME


def test_a_new_flavor_and_a_disabled_host_are_seen_at_once(watch, cloud):
    cloud.disable_compute('cmp-2')
    hosts = watch.cached_snapshot()
    assert not hosts['cmp-2'].enabled
    assert watch.requests == EACH_TIME | CHANGED
    cloud.enable_compute('cmp-2')
    assert watch.cached_snapshot()['cmp-2'].enabled
    made = cloud.compute.post('/flavors', json={'flavor': {
        'name': 'new', 'vcpus': 1, 'ram': 64, 'disk': 1}}).json()['flavor']
    assert 'new' in watch.inventory.cached_snapshot().flavors
    cloud.compute.delete(f'/flavors/{made["id"]}')
    assert 'new' not in watch.inventory.cached_snapshot().flavors


def test_a_report_about_an_aggregate_has_it_read(watch, cloud):
    aggregate = cloud.create_aggregate('green', {}, ['cmp-3'])
    assert 'green' not in watch.cached_snapshot()['cmp-3'].aggregates
    watch.inventory.mark_nova()
    assert 'green' in watch.cached_snapshot()['cmp-3'].aggregates
    cloud.act_on_aggregate(aggregate, 'remove_host', host='cmp-3')
    watch.inventory.read_nova()
    assert 'green' not in watch.cached_snapshot()['cmp-3'].aggregates


def test_room_that_another_server_freed_is_found_before_unplaceable(
        watch, cloud, other_server):
    consumer = other_server('cmp-2')
    watch.fresh()
    cloud.delete_consumer(consumer)
    assert watch.cached_snapshot()['cmp-2'].inventories['VCPU'].free == 0
    assert create(watch, cloud, PINNED) == 'cmp-2'


def test_a_host_that_placement_refuses_is_read_and_another_one_is_planned(
        watch, cloud):
    other = KeptWatch(cloud)
    taken = {create(watch, cloud) for _ in range(2)}
    # The other engine does not know either of them.
    assert {name for name, host in other.cached_snapshot().items()
            if host.servers} == set()
    assert create(other, cloud) not in taken


def test_the_comparison_finds_in_pieces_what_nothing_reported(
        watch, cloud, other_server):
    watch = KeptWatch(cloud, interval=2.0)
    for host in HOSTS:
        other_server(host.name)
    found = []
    for piece in range(2):
        watch.clear()
        watch.inventory.compare()
        assert watch.requests['one/allocations'] == 2
        # Only the first piece of a round reads the list of providers.
        assert watch.requests['resource_providers'] == (piece == 0)
        found.append(sum(
            host.servers for host in watch.cached_snapshot().values()))
    assert found == [2, 4]


def test_a_snapshot_that_no_comparison_confirms_is_read_again(
        watch, cloud, other_server):
    other_server('cmp-1')
    watch.now = 300.0
    assert watch.cached_snapshot()['cmp-1'].servers == 0
    watch.now = 301.0
    assert watch.cached_snapshot()['cmp-1'].servers == 1
    watch.cached_snapshot()
    assert watch.requests == EACH_TIME


def test_threads_see_the_marks_before_their_call(
        watch, cloud, other_server):
    for host in HOSTS:
        other_server(host.name)

    def ask(name):
        watch.inventory.mark_hosts([name])
        hosts = {host.name: host
                 for host in watch.inventory.cached_snapshot().hosts}
        return hosts[name].servers

    with ThreadPoolExecutor(len(HOSTS)) as pool:
        assert list(pool.map(ask, [host.name for host in HOSTS])) == [1] * 4
