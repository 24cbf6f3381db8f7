# SPDX-License-Identifier: Apache-2.0
"""Members that use devices are built on alternates, with the devices that were
chosen there."""

from dataclasses import replace
from datetime import timedelta

from nova import exception
from oslo_utils import timeutils
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.engine.alternate_places import AlternatePlaces
from nova_holistic.engine.member_rows import place_of
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic.engine.shared_allocations import of_root
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.graphics_cards import card, FAST
from tests.functional.placement_audit import resources

HOSTS = (
    EmbeddedHost('gpu-1', rack='r1', vcpus=8, devices=(
        card('a', 1, FAST), card('b', 1))),
    EmbeddedHost('gpu-2', rack='r1', vcpus=8, devices=(
        card('a', 1), card('b', 1, FAST))),
    EmbeddedHost('gpu-3', rack='r1', vcpus=8, devices=(
        card('a', 1), card('b', 1))),
    EmbeddedHost('plain', rack='r2', vcpus=8))
SPECS = {
    'two': {'resources1:VGPU': '1', 'resources2:VGPU': '1',
            'group_policy': 'isolate'},
    'fast': {'resources_gpu:VGPU': '1', f'trait_gpu:{FAST}': 'required'},
    'vgpu': {'resources:VGPU': '1'}}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0,
            ('reconciler', 'grace'): 0}) as cloud:
        for name, specs in SPECS.items():
            cloud.create_flavor(name, 2, 512, 1, specs)
        yield cloud


@pytest.fixture
def cloud(running):
    yield running
    running.clear()
    running.enable_computes()


def created(cloud, flavor, count=1, **others):
    record = cloud.planner.create({'name': 'gpus', **others, 'members': [
        {'name': 'node', 'flavor': flavor, 'count': count}]},
        project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.PLANNED
    return record.uuid


def boot(cloud, group, flavor, path='node-0'):
    server = cloud.create_server(path, flavor, {
        'group': group, 'member': path})
    cloud.wait_for_status(server, 'ACTIVE')
    return server


def allocated(place):
    """Amounts by provider, as Placement returns them for a consumer."""
    return {uuid: dict(amounts) for uuid, amounts
            in place.allocation.resources.items()}


def device(cloud, host, name):
    listed = cloud.placement.get('/resource_providers', microversion='1.14')
    (uuid,) = (each['uuid'] for each in listed.json()['resource_providers']
               if each['name'] == f'{host}_{name}')
    return uuid


def test_alternates_have_the_devices_that_the_member_requires(cloud):
    """The plan and the alternate have one device each with the trait."""
    row, = cloud.table.members(created(cloud, 'fast'))
    other, name = {'gpu-1': ('gpu-2', 'b'), 'gpu-2': ('gpu-1', 'a')}[
        row.place.host]
    (place,) = row.alternates
    assert place.host == other
    assert place.allocation.mappings['_gpu'] == (
        device(cloud, other, name),)
    assert allocated(place) == {
        place.provider: {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 1},
        device(cloud, other, name): {'VGPU': 1}}


def test_devices_of_other_members_are_not_those_of_alternates(cloud):
    """The plan holds the devices of two hosts, so the third one is the only
    alternate of both members."""
    rows = cloud.table.members(created(cloud, 'two', 2))
    used = {row.place.host for row in rows}
    (free,) = {'gpu-1', 'gpu-2', 'gpu-3'} - used
    assert [[place.host for place in row.alternates] for row in rows] == [
        [free], [free]]
    # One more member leaves no devices.
    group = created(cloud, 'two')
    assert cloud.row(group, 'node-0').place.host == free
    assert not cloud.row(group, 'node-0').alternates


@pytest.mark.parametrize('flavor', [*SPECS])
def test_nova_builds_a_server_on_an_alternate(cloud, flavor, monkeypatch):
    """The build on the planned host fails. Nova tries the alternates, without
    another request to a scheduler."""
    def no_spawn(*args, **kwargs):
        raise exception.NovaException('out of order')

    group = created(cloud, flavor)
    row = cloud.row(group, 'node-0')
    monkeypatch.setattr(
        cloud.computes.services[row.place.host].manager.driver, 'spawn',
        no_spawn)
    server = boot(cloud, group, flavor)
    (place,) = (each for each in row.alternates
                if each.host == cloud.host_of(server))
    assert resources(cloud, server) == allocated(place)
    cloud.reconciler.reconcile()
    now = cloud.row(group, 'node-0')
    assert (now.state, now.place) == (MemberState.BUILT, place)
    assert cloud.holds.exists(row.hold) is None


@pytest.mark.parametrize('flavor', [*SPECS])
def test_the_scheduler_chooses_an_alternate(cloud, flavor):
    """The planned host is disabled before the server is created."""
    group = created(cloud, flavor)
    row = cloud.row(group, 'node-0')
    cloud.disable_compute(row.place.host)
    server = boot(cloud, group, flavor)
    now = cloud.row(group, 'node-0')
    assert (now.state, now.instance_uuid) == (MemberState.CLAIMED, server)
    assert now.place in row.alternates
    assert cloud.host_of(server) == now.place.host
    assert resources(cloud, server) == allocated(now.place)
    assert cloud.holds.exists(row.hold) is None


def test_devices_that_are_used_by_others_are_refused_later(cloud):
    """Nothing is held on alternates. The best alternate is used by a server
    without a group, and the next one is chosen."""
    group = created(cloud, 'two')
    row = cloud.row(group, 'node-0')
    first, second = row.alternates
    for host in (row.place.host, second.host):
        cloud.disable_compute(host)
    taken = cloud.create_server('other', 'two')
    cloud.wait_for_status(taken, 'ACTIVE')
    assert cloud.host_of(taken) == first.host
    cloud.enable_compute(second.host)
    server = boot(cloud, group, 'two')
    assert cloud.host_of(server) == second.host
    assert resources(cloud, server) == allocated(second)


class Asked:
    """Holds that count requests for providers, and advance a clock."""

    def __init__(self, holds, seconds=0):
        self._holds = holds
        self._seconds = seconds
        self.hosts = []
        self.now = timeutils.utcnow()

    def __getattr__(self, name):
        return getattr(self._holds, name)

    def candidates(self, provider, wanted):
        self.hosts.append(provider)
        self.now += timedelta(seconds=self._seconds)
        return self._holds.candidates(provider, wanted)


def places(cloud, asked, alternates):
    return AlternatePlaces(PlannerComponents(
        cloud.conf, None, cloud.table, asked, {}, lambda: asked.now)).of(
            alternates)


def test_equal_members_need_one_request_for_each_host(cloud):
    rows = cloud.table.members(created(cloud, 'vgpu', 2, policies=[
        {'type': 'affinity', 'level': 'host'}]))
    hosts = [host for host in cloud.inventory.snapshot().hosts
             if host.providers and host.name != rows[0].place.host]
    asked = Asked(cloud.holds)
    found = places(cloud, asked, [(row, hosts) for row in rows])
    assert sorted(asked.hosts) == sorted(host.uuid for host in hosts)
    # Each of the members gets its own device on both hosts.
    for one, other in zip(*found.values()):
        assert one.host == other.host
        assert not {*one.allocation.resources} & {
            *other.allocation.resources} - {one.provider}


def test_each_member_gets_a_device_that_only_one_of_them_can_have(cloud):
    """The devices of one host are not enough for both members. Each of them
    could be built there."""
    rows = cloud.table.members(created(cloud, 'two', 2))
    (host,) = (host for host in cloud.inventory.snapshot().hosts
               if host.providers and host.name not in {
                   row.place.host for row in rows})
    asked = Asked(cloud.holds)
    found = places(cloud, asked, [(row, [host]) for row in rows])
    assert {row.id for row in rows} == found.keys()
    assert asked.hosts == [host.uuid] * 2


def test_the_search_for_providers_ends_at_the_time_limit(cloud):
    """The best alternate of each member comes first."""
    rows = cloud.table.members(created(cloud, 'vgpu', 2, policies=[
        {'type': 'affinity', 'level': 'host'}]))
    hosts = [host for host in cloud.inventory.snapshot().hosts
             if host.providers and host.name != rows[0].place.host]
    asked = Asked(cloud.holds, cloud.conf.planner.time_limit)
    found = places(cloud, asked, [(rows[0], hosts), (rows[1], hosts[::-1])])
    assert asked.hosts == [hosts[0].uuid]
    assert [[place.host for place in each] for each in found.values()] == [
        [hosts[0].name]] * 2


def test_members_of_root_providers_need_no_request(cloud):
    cloud.create_flavor('small', 2, 512, 1)
    rows = cloud.table.members(created(cloud, 'small', 2))
    snapshot = cloud.inventory.snapshot()
    asked = Asked(cloud.holds)
    found = places(cloud, asked, [(row, snapshot.hosts) for row in rows])
    assert not asked.hosts
    assert all(each == [*map(place_of, snapshot.hosts)]
               for each in found.values())
    # Once a member uses other providers on one host, each alternate has an
    # allocation, because the scheduler refuses places without one.
    first = replace(rows[0], place=replace(
        rows[0].place, allocation=of_root(
            rows[0].member.requirements, rows[0].place.provider)))
    found = places(cloud, asked, [(first, snapshot.hosts)])
    assert all(place.allocation is not None for place in found[first.id])
    assert not asked.hosts
