# SPDX-License-Identifier: Apache-2.0
"""Placement does not know NUMA nodes and huge pages. Nova's filter refuses
hosts, and the engine learns the refusals. The computes run Nova's libvirt
driver on the fake libvirt of Nova's own tests."""

from nova import context as nova_context
from nova import objects
from nova.tests.fixtures import libvirt as fake_libvirt
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.fake_libvirt import FILTERS, LibvirtHypervisors
from tests.functional.placement_audit import audit

SMALL_CELLS, LARGE_CELL = ('cells-1', 'cells-2'), 'cell-3'
HOSTS = tuple(EmbeddedHost(name, zone='nova', rack='r1')
              for name in (*SMALL_CELLS, LARGE_CELL))
FLAVORS = {
    # Each of the two cells of the other hosts has four processors.
    'node': (6, {'hw:numa_nodes': '1'}),
    # Only the pages of the large cell are huge.
    'pages': (1, {'hw:mem_page_size': 'large'}),
}
GIB = 1024 * 1024


def machine(cells, *page_sizes):
    """A host with eight processors and 16 GiB of memory."""
    def info():
        memory = 16 * GIB // cells
        pages = [fake_libvirt.create_mempages([
            (size, memory // len(page_sizes) // size) for size in page_sizes])
            for _ in range(cells)]
        return {'host_info': fake_libvirt.HostInfo(
            cpu_nodes=cells, cpu_cores=8 // cells, kB_mem=16 * GIB,
            mempages=pages)}
    return info


@pytest.fixture(scope='module')
def running(own_cloud):
    with own_cloud((), options={
            ('filter_scheduler', 'enabled_filters'): FILTERS,
            ('holistic', 'search_time_limit'): 0,
            ('planner', 'alternates'): 0}) as cloud:
        cloud.computes.useFixture(LibvirtHypervisors({
            **dict.fromkeys(SMALL_CELLS, machine(2, 4)),
            LARGE_CELL: machine(1, 4, 2048)}))
        cloud.add_hosts(HOSTS)
        for name, (vcpus, specs) in FLAVORS.items():
            cloud.create_flavor(name, vcpus, 512, 1, specs)
        yield cloud


@pytest.fixture
def cloud(running):
    yield running
    running.conf.set_override('search_time_limit', 0, group='holistic')
    running.clear()


def planned(cloud, flavor):
    """A group with one member that is planned on a host of small cells."""
    vcpus = FLAVORS[flavor][0]
    return cloud.plan(
        {'name': 'numa', 'members': [{'name': 'a', 'flavor': flavor}]},
        {'a': SMALL_CELLS[0]}, alternates=0, resources={
            'VCPU': vcpus, 'MEMORY_MB': 512, 'DISK_GB': 1})


def create(cloud, group, flavor):
    return cloud.create_server(
        'a', flavor, {'group': group, 'member': 'a'})


def topology(cloud, server):
    admin = nova_context.get_admin_context()
    with nova_context.target_cell(admin, cloud.computes.cell) as target:
        return objects.InstanceNUMATopology.get_by_instance_uuid(
            target, server)


@pytest.mark.parametrize('flavor', FLAVORS)
def test_hosts_whose_cells_are_refused_are_left_out_of_the_next_plan(
        cloud, flavor):
    group = planned(cloud, flavor)
    refused = set()
    while cloud.row(group, 'a').place.host != LARGE_CELL:
        refused.add(cloud.row(group, 'a').place.host)
        server = create(cloud, group, flavor)
        assert "rejected by Nova's filters" in cloud.fault_of(server)
        cloud.delete_server(server)
        assert cloud.row(group, 'a').state == MemberState.LOST
        assert any('NUMATopologyFilter' in each['message']
                   for each in cloud.table.get_group(group).reasons)
        assert cloud.table.refusals.of_group(
            group, cloud.clock().replace(year=2000)) == {'a': refused}
        assert cloud.planner.replan(group).status == GroupStatus.PLANNED
    server = create(cloud, group, flavor)
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == LARGE_CELL
    (cell,) = topology(cloud, server).cells
    assert (len(cell.cpuset), cell.pagesize) == {
        'node': (6, None), 'pages': (1, 2048)}[flavor]
    audit(cloud, [server])


def test_a_search_finds_the_host_with_such_a_cell_in_the_same_create(cloud):
    cloud.conf.set_override('search_time_limit', 60, group='holistic')
    group = planned(cloud, 'node')
    server = create(cloud, group, 'node')
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == LARGE_CELL


def test_a_group_that_no_cell_can_take_is_unplaceable_in_the_end(cloud):
    """Placement has processors for two such members on the three hosts, but
    only one cell is large enough."""
    record = cloud.planner.create({'name': 'numa', 'members': [
        {'name': 'a', 'flavor': 'node', 'count': 2}], 'policies': [
            {'type': 'anti-affinity'}]}, project_id=PROJECT, user_id=USER)
    active = []
    for _ in range(6):
        for row in cloud.table.members(record.uuid):
            if row.state != MemberState.PLANNED:
                continue
            server = cloud.create_server('a', 'node', {
                'group': record.uuid, 'member': row.member.path})
            if row.place.host == LARGE_CELL:
                cloud.wait_for_status(server, 'ACTIVE')
                active.append(server)
            else:
                cloud.fault_of(server)
                cloud.delete_server(server)
        cloud.planner.replan(record.uuid)
    assert len(active) == 1
    lost = [row for row in cloud.table.members(record.uuid)
            if row.state == MemberState.LOST]
    assert len(lost) == 1
    found = cloud.table.get_group(record.uuid).reasons
    assert any("Nova's filters refused 2 of 3 hosts" in each['message']
               for each in found), found
    audit(cloud, active)
