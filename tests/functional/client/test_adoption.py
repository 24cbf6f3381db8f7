# SPDX-License-Identifier: Apache-2.0
"""A cloud that is full of servers before it has groups."""

from dataclasses import replace
import json
import pathlib
import re
import shlex
from xml.etree import ElementTree

import pytest
import yaml

from nova_holistic.embedded.calls.servers import CloudUser
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from tests.functional.client.test_map import relay
from tests.functional.written_servers import WrittenServers
from tests.unit.api.service import ADMIN, MEMBER, Service
from tests.unit.client.cloud import Cloud, Terminal, USERS

HOSTS = tuple(EmbeddedHost(f'h{number:02}', zone='az1',
                           rack=f'r{number // 10}', vcpus=12)
              for number in range(50))
GUIDE = (pathlib.Path(__file__).parents[3]
         / 'doc/source/howto/full-cloud.rst')
OPERATOR = replace(ADMIN, user='olga', project=MEMBER.project)
SERVERS = 200
FULL, EMPTIER = 'h00', 'h01'
"""One host has one server more than the policy allows, and another host one
less."""
MOST = 4
NODES = {
    'name': 'nodes',
    'policies': [{'type': 'anti-affinity', 'max_per_domain': MOST}],
    'members': [{'name': 'node', 'count': SERVERS + 1, 'flavor': 'small'}]}


@pytest.fixture(scope='module')
def lent(lend_cloud):
    """A cloud with servers of one project: five on ``FULL``, three on
    ``EMPTIER``, and four on each other host."""
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
def terminal(running, capsys, own_logging, monkeypatch):
    monkeypatch.setitem(USERS, OPERATOR.user, OPERATOR)
    service = Service(running.table, DirectEngine(
        running.conf, running.clock, PlanningParts(
            running.table, running.inventory, running.planner,
            running.lifecycle)))
    admins, mine = (relay(adapter) for adapter in (
        running.compute, running.compute_for(MEMBER.project)))

    def compute(environ, start_response):
        owned = 'server' in environ['PATH_INFO']
        return (mine if owned else admins)(environ, start_response)

    with Cloud(service.app, others={
            'placement': relay(running.placement),
            'compute': compute}) as cloud:
        yield Terminal(cloud, capsys)


@pytest.fixture
def read(terminal):
    """A function that runs a command, and parses its output as JSON."""
    def read(*words, **options):
        output = terminal.openstack('holistic', *words, '-f', 'json',
                                    **options)
        assert output.code == 0, output.err
        return json.loads(output.out)
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
        output = terminal.openstack(
            'holistic', 'group', 'map', group['id'], '-o', picture, '--levels',
            'az,rack,host', user=ADMIN)
        assert output.code == 1
        assert 'anti-affinity' in output.out and FULL in output.out
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
    output = terminal.openstack(
        'holistic', 'group', 'create', '--file', file, '--strict', '--wait')
    assert output.code == 1
    assert 'anti-affinity' in output.err and 'unplaceable' in output.err
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
    after = allocations(running)
    assert after[server['id']] == before
    assert len(after) == SERVERS + 1


@pytest.fixture
def apart(running):
    """Servers of a server group, and a server with the name web-7."""
    group = running.create_server_group(
        'apart', 'anti-affinity', MEMBER.project, max_server_per_host=2)
    servers = [running.create_server(
        name, 'small', hints={'group': group if name != 'web-7' else None},
        host=host, user=CloudUser(MEMBER.project, is_admin=True))
        for name, host in (('apart-0', EMPTIER), ('apart-1', 'h02'),
                           ('web-7', 'h03'))]
    for server in servers:
        running.wait_for_status(server, 'ACTIVE')
    yield servers[:2]
    for server in servers:
        running.delete_server(server)


def test_the_commands_of_the_guide_work(
        running, terminal, apart, tmp_path, monkeypatch):
    text = GUIDE.read_text()
    (block,) = re.findall(r'code-block:: yaml\n\n((?: +.*\n|\n)+)', text)
    document = yaml.safe_load(block)
    document['adopt'] = {
        path: next(each['id'] for each in running.servers(MEMBER.project)
                   if each['OS-EXT-SRV-ATTR:host'] == host)
        for path, host in zip(document['adopt'], ('h04', 'h05'))}
    monkeypatch.chdir(tmp_path)
    pathlib.Path('shop.yaml').write_text(yaml.safe_dump(document))
    commands = re.findall(r'^ +\$ openstack (.+)$', text, re.MULTILINE)
    assert [command.split()[2] for command in commands] == [
        'create', 'map', 'create', 'adopt', 'import', 'detach']
    for number, command in enumerate(commands):
        if number == 2:
            # The same servers are adopted again, now with --strict.
            (group,) = running.table.list_groups()
            running.lifecycle.delete(group.uuid)
        output = terminal.openstack(*shlex.split(command), user=OPERATOR)
        assert output.code == 0, (command, output.err)
    assert '</svg>' in pathlib.Path('shop.svg').read_text()
    imported, shop = sorted(running.table.list_groups(),
                            key=lambda group: group.name)
    assert [row.state for row in running.table.members(shop.uuid)] == [
        'built', 'built', 'released']
    assert imported.document == {
        'name': 'apart', 'policies': [
            {'type': 'anti-affinity', 'max_per_domain': 2}],
        'members': [{'name': 'small', 'count': 2, 'flavor': 'small'}]}
    assert {row.instance_uuid for row
            in running.table.members(imported.uuid)} == {*apart}
