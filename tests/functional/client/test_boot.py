# SPDX-License-Identifier: Apache-2.0
"""``group create --boot``, ``group boot`` and ``group rollback``, on a real
Nova."""

from concurrent import futures
import contextlib
import json
import pathlib
import re
import shlex
import signal
import textwrap
import threading

from nova import exception
import pytest
import yaml

from nova_holistic.client.boot import member_boot, rollback, server_states
from nova_holistic.client.groups import Groups
from nova_holistic.client.osc import boot_progress
from nova_holistic.documents.servers.create_request import (
    create_body, member_description, MemberServer)
from nova_holistic.embedded.calls.servers import IMAGE
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from tests.functional.client.test_map import relay
from tests.unit.api.service import ADMIN, MEMBER, Service
from tests.unit.client.cloud import Cloud, Terminal

MANUAL = pathlib.Path(__file__).parents[3] / 'doc/source'
HOSTS = tuple(EmbeddedHost(f'{rack}-{number}', rack=rack, vcpus=8)
              for rack in ('r1', 'r2') for number in (1, 2))
REQUEST = {'imageRef': IMAGE, 'networks': 'none', 'metadata': {'role': 'x'}}
WEB = {'name': 'web', 'flavor': 'small', 'server': REQUEST}
SHOP = {
    'name': 'shop',
    'members': [WEB, {**WEB, 'name': 'cache', 'count': {
        'min': 0, 'desired': 2, 'max': 4}}],
    'groups': [{
        'name': 'db', 'count': 2, 'policies': [{'type': 'anti-affinity'}],
        'members': [{**WEB, 'name': 'node', 'count': 2, 'server': {
            **REQUEST, 'name': '{member}.{group}'}}]}]}
PATHS = {'web', 'cache-0', 'cache-1', 'db-0/node-0', 'db-0/node-1',
         'db-1/node-0', 'db-1/node-1'}


@pytest.fixture(scope='module')
def lent(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 1, 512, 1)
        yield cloud


@pytest.fixture
def running(lent):
    """The cloud, in which the test leaves nothing."""
    yield lent
    for server in lent.servers(MEMBER.project):
        lent.delete_server(server['id'])
    for group in lent.table.list_groups():
        lent.lifecycle.delete(group.uuid)


@pytest.fixture
def terminal(running, capsys, own_logging):
    service = Service(running.table, DirectEngine(
        running.conf, running.clock, PlanningParts(
            running.table, running.inventory, running.planner,
            running.lifecycle)))
    with Cloud(service.app, others={'compute': relay(running.compute_for(
            MEMBER.project, MEMBER.user))}) as cloud:
        yield Terminal(cloud, capsys)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Short intervals: servers of this cloud are active within a second."""
    monkeypatch.setattr(member_boot, '_FIRST_PAUSE', 0.2)
    monkeypatch.setattr(member_boot, '_LONGEST_PAUSE', 0.5)
    monkeypatch.setattr(server_states, '_INTERVAL', 0.2)
    monkeypatch.setattr(rollback, '_PAUSE', 0.2)


@pytest.fixture
def shop(tmp_path):
    file = tmp_path / 'shop.yaml'
    file.write_text(yaml.safe_dump(SHOP))
    return file


@contextlib.contextmanager
def reconciling(cloud):
    """Passes of the reconciler, one after the other."""
    end = threading.Event()

    def passes():
        while not end.wait(0.2):
            cloud.reconciler.reconcile()

    with futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(passes)
        try:
            yield
        finally:
            end.set()
            running.result()


def create(terminal, shop, *words):
    return terminal.openstack('holistic', 'group', 'create', '--file', shop,
                              '--boot', *words, '-f', 'json')


def placed(cloud):
    """The UUIDs of servers by the paths of their members. Asserts that each
    server is active on its planned host, and that no other server exists."""
    group, = cloud.table.list_groups()
    rows = {row.member.path: row for row in cloud.table.members(group.uuid)}
    servers = {server['id']: server
               for server in cloud.servers(MEMBER.project)}
    assert {row.instance_uuid for row in rows.values()} == set(servers)
    for row in rows.values():
        server = servers[row.instance_uuid]
        assert server['status'] == 'ACTIVE'
        assert server['OS-EXT-SRV-ATTR:host'] == row.place.host
    return {path: row.instance_uuid for path, row in rows.items()}


def no_rest(cloud):
    """Assert that no server, no group and no allocation exists."""
    assert cloud.servers(MEMBER.project) == []
    assert list(cloud.table.list_groups()) == []
    assert not any(cloud.holds.resources(provider)
                   for provider in cloud.holds.providers())


def test_one_command_creates_the_group_and_its_servers(
        running, terminal, shop):
    output = create(terminal, shop)
    assert output.code == 0, output.err
    group = json.loads(output.out)
    assert sum(group['members'].values()) == 7
    server_of = placed(running)
    assert set(server_of) == PATHS
    assert len(output.err.splitlines()) == 7
    assert output.err.count('shop: web: active (') == 1
    assert '(7 of 7 active)' in output.err.splitlines()[-1]
    server = running.get_server(server_of['db-1/node-0'])
    assert server['name'] == 'node-0.shop'
    assert server['metadata'] == {
        'role': 'x', 'holistic_group': group['id'],
        'holistic_member': 'db-1/node-0'}
    assert running.get_server(server_of['cache-1'])['name'] == 'shop-cache-1'


def test_a_repeated_command_creates_nothing(running, terminal, shop):
    first = create(terminal, shop)
    before = placed(running)
    second = create(terminal, shop)
    assert (first.code, second.code) == (0, 0), second.err
    assert json.loads(first.out)['id'] == json.loads(second.out)['id']
    assert placed(running) == before


def test_a_command_continues_with_servers_of_an_interrupted_one(
        running, terminal, shop):
    output = terminal.openstack('holistic', 'group', 'create', '--file', shop,
                                '--wait', '-f', 'json')
    group = json.loads(output.out)['id']
    nova = running.compute_for(MEMBER.project, MEMBER.user)
    created = {}
    for path in ('web', 'db-0/node-1', 'cache-0'):
        body = create_body(MemberServer(
            group, 'shop', path, member_description(SHOP, path)),
            running.flavor_id('small'))
        created[path] = nova.post('/servers', json=body, microversion='2.94'
                                  ).json()['server']['id']
    output = terminal.openstack('holistic', 'group', 'boot', 'shop', '-f',
                                'json')
    assert output.code == 0, output.err
    server_of = placed(running)
    assert set(server_of) == PATHS
    assert {path: server_of[path] for path in created} == created


def fail(cloud, monkeypatch, names, times):
    """Builds of servers with these names fail the given number of times."""
    left = dict.fromkeys(names, times)
    for service in cloud.computes.services.values():
        driver = service.manager.driver

        def spawn(context, instance, *args, real=driver.spawn, **kwargs):
            if left.get(instance.display_name, 0):
                left[instance.display_name] -= 1
                raise exception.BuildAbortException(
                    instance_uuid=instance.uuid, reason='out of order')
            return real(context, instance, *args, **kwargs)
        monkeypatch.setattr(driver, 'spawn', spawn)


def test_a_failed_server_is_created_again_in_its_place(
        running, terminal, shop, monkeypatch):
    fail(running, monkeypatch, ['shop-web', 'shop-cache-1'], times=2)
    with reconciling(running):
        output = create(terminal, shop)
    assert output.code == 0, output.err
    assert set(placed(running)) == PATHS


def test_failures_are_reported_and_a_further_command_continues(
        running, terminal, shop, monkeypatch):
    fail(running, monkeypatch, ['shop-web'], times=2)
    with reconciling(running):
        output = create(terminal, shop, '--retries', 1)
        assert output.code == 1
        assert '1 of 7 servers of group ' in output.err
        failed = output.err.splitlines()[-1]
        assert failed.startswith('web     ') and 'out of order' in failed
        assert len(running.servers(MEMBER.project)) == 7
        output = create(terminal, shop)
    assert output.code == 0, output.err
    assert set(placed(running)) == PATHS


def test_rollback_deletes_the_servers_and_the_group(
        running, terminal, shop, monkeypatch):
    fail(running, monkeypatch, ['shop-web'], times=9)
    with reconciling(running):
        output = create(terminal, shop, '--retries', 0, '--rollback')
    assert output.code == 1
    assert 'rolled back: 7 servers and group ' in output.err
    no_rest(running)


def test_rollback_keeps_servers_that_existed_before_the_command(
        running, terminal, shop):
    """A server of a group in use is in ERROR, for example after a failed
    evacuation."""
    assert create(terminal, shop, '--rollback').code == 0
    before = placed(running)
    running.compute.post(f'/servers/{before["web"]}/action', json={
        'os-resetState': {'state': 'error'}})
    output = create(terminal, shop, '--rollback')
    assert output.code == 1
    assert 'repair or delete it' in output.err
    assert 'not rolled back: 7 servers existed before this command' in (
        output.err)
    assert {server['id'] for server in running.servers(MEMBER.project)} == (
        set(before.values()))
    assert len(running.table.list_groups()) == 1


def interrupt():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def interrupt_planning(monkeypatch):
    """Press Ctrl-C while the command waits for the plan."""
    wait, calls = Groups.wait, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 1:
            interrupt()
        return wait(*args)
    monkeypatch.setattr(Groups, 'wait', interrupted)


def interrupt_creates(monkeypatch):
    """Press Ctrl-C when the first server is being built."""
    report, states = boot_progress.BootProgress.report, []

    def interrupted(self, member, state):
        report(self, member, state)
        states.append(state)
        if states.count('building') == 1 and state == 'building':
            interrupt()
    monkeypatch.setattr(boot_progress.BootProgress, 'report', interrupted)


@pytest.mark.parametrize('press', [interrupt_planning, interrupt_creates])
def test_an_interrupted_command_rolls_back(
        running, terminal, shop, monkeypatch, press):
    press(monkeypatch)
    output = create(terminal, shop, '--rollback')
    assert output.code == 1
    assert re.search('^interrupted\nrolled back: [0-7] servers and group ',
                     output.err, re.MULTILINE), output.err
    no_rest(running)


@pytest.mark.parametrize('press', [interrupt_planning, interrupt_creates])
def test_an_interrupted_command_names_the_commands_that_follow(
        running, terminal, shop, monkeypatch, press):
    press(monkeypatch)
    output = create(terminal, shop)
    (group,) = running.table.list_groups()
    assert output.code == 1
    assert output.err.splitlines()[-1] == (
        f'interrupted; to continue: openstack holistic group boot '
        f'{group.uuid}; to delete the group and its servers: openstack '
        f'holistic group rollback {group.uuid}')
    monkeypatch.undo()
    assert create(terminal, shop).code == 0
    assert set(placed(running)) == PATHS


def test_an_interrupted_command_can_be_rolled_back(running, terminal, shop):
    assert create(terminal, shop).code == 0
    output = terminal.openstack('holistic', 'group', 'rollback', 'shop')
    assert (output.code, output.out) == (0, ''), output.err
    no_rest(running)


def test_a_refusal_by_nova_is_reported_at_once(running, terminal, tmp_path):
    file = tmp_path / 'shop.yaml'
    file.write_text(yaml.safe_dump({'name': 'shop', 'members': [
        WEB, {**WEB, 'name': 'bad', 'server': {
            **REQUEST, 'key_name': 'unknown'}}]}))
    output = create(terminal, file)
    assert output.code == 1
    assert output.err.splitlines()[-1].startswith('bad')
    assert 'Invalid key_name' in output.err
    server, = running.servers(MEMBER.project)
    assert server['name'] == 'shop-web'


def test_members_without_a_request_are_refused_before_anything_is_created(
        running, terminal, tmp_path):
    file = tmp_path / 'shop.yaml'
    file.write_text(yaml.safe_dump({'name': 'shop', 'members': [
        WEB, {'name': 'db', 'flavor': 'small'}]}))
    output = create(terminal, file)
    assert (output.code, output.err.strip()) == (
        2, 'members[1]: --boot needs the key server in the descriptions of '
        'all members')
    assert terminal.openstack('holistic', 'group', 'create', '--file', file,
                              '--wait').code == 0
    output = terminal.openstack('holistic', 'group', 'boot', 'shop')
    assert (output.code, output.err.strip()) == (
        1, 'no key server in the descriptions of these members: db')
    assert running.servers(MEMBER.project) == []


def test_an_unplaceable_group_is_rolled_back(running, terminal, tmp_path):
    file = tmp_path / 'shop.yaml'
    file.write_text(yaml.safe_dump({'name': 'shop', 'members': [
        {**WEB, 'count': 100}]}))
    output = create(terminal, file, '--rollback')
    assert output.code == 1
    assert ' is unplaceable: ' in output.err and 'rolled back: 0' in output.err
    no_rest(running)


def test_a_changed_request_moves_no_member(running, terminal, shop, tmp_path):
    output = terminal.openstack('holistic', 'group', 'create', '--file', shop,
                                '--wait', '-f', 'json', user=ADMIN)
    group = json.loads(output.out)['id']
    before = [(row.member.path, row.hold, row.place.host)
              for row in running.table.members(group)]
    changed = json.loads(json.dumps(SHOP))
    changed['members'][0]['server']['metadata'] = {'role': 'y'}
    (tmp_path / 'shop.yaml').write_text(yaml.safe_dump(changed))
    output = terminal.openstack('holistic', 'group', 'set', group, '--file',
                                shop, '--wait', user=ADMIN)
    assert output.code == 0, output.err
    assert [(row.member.path, row.hold, row.place.host)
            for row in running.table.members(group)] == before
    output = terminal.openstack('holistic', 'group', 'show', group, '-f',
                                'json', user=ADMIN)
    assert json.loads(output.out)['definition'] == changed


@pytest.mark.parametrize('page', ['user/servers', 'howto/one-call'])
def test_the_manual(running, terminal, tmp_path, page, monkeypatch):
    text = (MANUAL / f'{page}.rst').read_text()
    document = yaml.safe_load(textwrap.dedent(re.search(
        r'code-block:: yaml\n\n((?: +.*\n|\n)+)', text)[1].replace(
            '155d900f-4e14-4e4c-a73d-069cbf4541e6', IMAGE)).replace(
                'm1.small', 'small').replace('key_name: shop', ''))
    (tmp_path / 'shop.yaml').write_text(yaml.safe_dump(document))
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r'^ +\$ openstack (.*)$', text, re.MULTILINE)
    assert len(commands) >= 3
    for command in commands:
        output = terminal.openstack(*shlex.split(command))
        assert output.code == 0, (command, output.err)
    no_rest(running)
