# SPDX-License-Identifier: Apache-2.0
"""An operator creates a group on a running Nova, and servers fill it."""

import json

import pytest

from nova_holistic.cli.components import (
    engine_components, managed_groups)
from nova_holistic.cli import manage
from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost

HOSTS = tuple(
    EmbeddedHost(f'{rack}-{number}', zone='az1', rack=rack, vcpus=2)
    for rack in ('r1', 'r2') for number in (1, 2))
PAIR = {'group': {
    'name': 'pair', 'members': [
        {'name': 'node', 'count': 2, 'flavor': 'small'}],
    'policies': [{'type': 'anti-affinity', 'level': 'host'}]}}


@pytest.fixture
def cloud(lend_cloud, monkeypatch):
    """A cloud without Keystone; its connections replace Keystone's."""
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 1024, 1)
        services = {'placement': cloud.placement, 'nova': cloud.compute}
        for module in (engine_components, managed_groups):
            monkeypatch.setattr(
                module, 'connect', lambda conf, name: services[name])
        yield cloud


@pytest.fixture
def run(cloud, tmp_path, capsys, own_logging):
    """Run a command; returns its exit code and output."""
    file = tmp_path / 'nova-holistic.conf'
    file.write_text(
        '[holistic_database]\n'
        f'connection = {cloud.conf.holistic_database.connection}\n')

    def run(*words):
        code = manage.main(['--config-file', str(file), *words])
        return code, capsys.readouterr().out

    return run


def test_a_server_is_created_on_its_planned_host(cloud, run, tmp_path):
    document = tmp_path / 'pair.json'
    document.write_text(json.dumps(PAIR))
    code, output = run(
        'group', 'create', str(document), '--project-id', PROJECT,
        '--user-id', USER, '--format', 'json')
    assert code == 0
    group = json.loads(output)
    planned = {m['member']: m['host'] for m in group['members']}
    assert len(set(planned.values())) == 2
    server = cloud.create_server(
        'one', 'small', {'group': group['uuid'], 'member': 'node-0'})
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == planned['node-0']
    _, output = run('group', 'show', group['uuid'], '--format', 'json')
    assert {m['member']: (m['instance_uuid'], m['host'])
            for m in json.loads(output)['members']} == {
        'node-0': (server, planned['node-0']),
        'node-1': (None, planned['node-1'])}
    # The other place is held until it is released.
    held = cloud.providers()[planned['node-1']]
    assert run('group', 'release', group['uuid']) == (
        0, 'node-1: released\nnode-0: kept, it belongs to a server\n')
    usages = cloud.placement.get(
        f'/resource_providers/{held}/usages').json()['usages']
    assert usages['VCPU'] == 0
    # The pass sees that Nova has built the server.
    assert run('reconcile') == (0, 'built: 1\n')
    assert run('reconcile') == (0, '')
    assert run('group', 'delete', group['uuid']) == (0, '')
    assert cloud.host_of(server) == planned['node-0']
