# SPDX-License-Identifier: Apache-2.0
"""A cloud that is full of servers before it has groups."""

import json
from xml.etree import ElementTree

import pytest
import yaml

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct import DirectEngine
from tests.functional.client.test_map import relay
from tests.functional.written_servers import WrittenServers
from tests.unit.api.service import ADMIN, MEMBER, Service
from tests.unit.client.cloud import Cloud, Terminal

HOSTS = tuple(EmbeddedHost(f'h{number:02}', zone='az1',
                           rack=f'r{number // 10}', vcpus=12)
              for number in range(50))
SERVERS = 200
FULL, EMPTIER = 'h00', 'h01'
"""One host has a server more than the policy allows, another one less."""
MOST = 4
NODES = {
    'name': 'nodes',
    'policies': [{'type': 'anti-affinity', 'max_per_domain': MOST}],
    'members': [{'name': 'node', 'count': SERVERS + 1, 'flavor': 'small'}]}


@pytest.fixture(scope='module')
def lent(lend_cloud):
    """Servers of a project, four on each host, and five on one of them."""
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 1024, 1)
        written = WrittenServers(cloud, 'small', MEMBER.project)
        servers = [written.add(host.name) for host in HOSTS
                   for _ in range({FULL: MOST + 1, EMPTIER: MOST - 1}.get(
                       host.name, MOST))]
        assert len(servers) == SERVERS
        yield cloud
        for server in servers:
            written.remove(server)


@pytest.fixture
def running(lent):
    """The cloud, in which the test leaves no group."""
    yield lent
    for group in lent.table.list_groups():
        lent.lifecycle.delete(group.uuid)


@pytest.fixture
def terminal(running, capsys, own_logging):
    service = Service(running.table, DirectEngine(
        running.conf, running.table, running.inventory, running.planner,
        running.lifecycle, running.clock))
    with Cloud(service.app, others={
            'placement': relay(running.placement),
            'compute': relay(running.compute)}) as cloud:
        yield Terminal(cloud, capsys)


@pytest.fixture
def read(terminal):
    """A function that types a command, and reads its JSON."""
    def read(*words, **options):
        said = terminal.openstack('holistic', *words, '-f', 'json', **options)
        assert said.code == 0, said.err
        return json.loads(said.out)
    return read


def allocations(cloud):
    """All allocations, by server or hold."""
    return {consumer: resources for provider in cloud.holds.providers()
            for consumer, resources
            in cloud.holds.resources(provider).items()}


def test_two_hundred_servers_are_adopted_and_a_violation_is_drawn(
        running, read, terminal, tmp_path):
    before = allocations(running)
    servers = sorted(running.servers(MEMBER.project),
                     key=lambda each: each['OS-EXT-SRV-ATTR:host'])
    file = tmp_path / 'nodes.yaml'
    file.write_text(yaml.safe_dump({**NODES, 'adopt': {
        f'node-{number}': server['id']
        for number, server in enumerate(servers)}}))
    group = read('group', 'create', '--file', file, '--wait')
    assert group['status'] == 'degraded'
    assert group['members'] == {'built': SERVERS, 'planned': 1}
    (violation,) = read('group', 'show', group['id'], user=ADMIN)['violations']
    assert FULL in str(violation) and EMPTIER not in str(violation)
    rows = running.table.members(group['id'])
    assert {row.instance_uuid: row.place.host for row in rows[:-1]} == {
        each['id']: each['OS-EXT-SRV-ATTR:host'] for each in servers}
    assert rows[-1].place.host == EMPTIER
    after = allocations(running)
    assert after.pop(rows[-1].hold)['VCPU'] == 2
    assert after == before
    for form in ('svg', 'html'):
        picture = tmp_path / f'nodes.{form}'
        said = terminal.openstack(
            'holistic', 'group', 'map', group['id'], '-o', picture, '--levels',
            'az,rack,host', user=ADMIN)
        assert said.code == 1
        assert 'anti-affinity' in said.out and FULL in said.out
        assert 'violated: anti-affinity' in picture.read_text()
    marks = [text for text in ElementTree.parse(
        tmp_path / 'nodes.svg').getroot().itertext()
        if text.startswith('violated: ')]
    assert all(FULL in text for text in marks) and marks


def test_a_strict_adoption_names_the_violation(
        running, terminal, tmp_path):
    servers = [each['id'] for each in running.servers(MEMBER.project)
               if each['OS-EXT-SRV-ATTR:host'] == FULL]
    file = tmp_path / 'nodes.yaml'
    file.write_text(yaml.safe_dump({**NODES, 'members': [
        {'name': 'node', 'count': MOST + 1, 'flavor': 'small'}], 'adopt': {
        f'node-{number}': server for number, server in enumerate(servers)}}))
    said = terminal.openstack(
        'holistic', 'group', 'create', '--file', file, '--strict', '--wait')
    assert said.code == 1
    assert 'anti-affinity' in said.err and 'unplaceable' in said.err
    (group,) = running.table.list_groups()
    assert not running.table.members(group.uuid)


def test_a_server_is_adopted_by_name_and_detached(running, read, tmp_path):
    file = tmp_path / 'nodes.yaml'
    file.write_text(yaml.safe_dump({**NODES, 'members': [
        {'name': 'node', 'count': 2, 'flavor': 'small'}]}))
    read('group', 'create', '--file', file, '--wait')
    server = running.servers(MEMBER.project)[0]
    before = allocations(running)[server['id']]
    group = read('group', 'adopt', 'nodes', 'node-1', server['name'],
                 '--wait')
    assert group['members'] == {'planned': 1, 'built': 1}
    assert [each['instance_uuid'] for each in read(
        'member', 'list', 'nodes')] == [None, server['id']]
    group = read('member', 'detach', 'nodes', 'node-1')
    assert group['members'] == {'planned': 1, 'released': 1}
    found = allocations(running)
    assert found[server['id']] == before
    assert len(found) == SERVERS + 1


def test_a_server_group_is_imported_with_its_servers_and_its_policy(
        running, read):
    group = running.create_server_group(
        'apart', 'anti-affinity', MEMBER.project, max_server_per_host=2)
    servers = [running.create_server(
        f'apart-{number}', 'small', server_group=group, host=host,
        as_admin=True, project_id=MEMBER.project)
        for number, host in enumerate((EMPTIER, 'h02'))]
    try:
        for server in servers:
            running.wait_for_status(server, 'ACTIVE')
        found = read('group', 'import', group, '--wait')
        assert (found['status'], found['members']) == (
            'complete', {'built': 2})
        shown = read('group', 'show', 'apart')
        assert shown['definition'] == {
            'name': 'apart', 'policies': [
                {'type': 'anti-affinity', 'max_per_domain': 2}],
            'members': [{'name': 'small', 'count': 2, 'flavor': 'small'}]}
        assert {row.instance_uuid for row
                in running.table.members(found['id'])} == {*servers}
    finally:
        for server in servers:
            running.delete_server(server)
