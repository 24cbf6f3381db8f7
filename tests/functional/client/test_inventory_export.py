# SPDX-License-Identifier: Apache-2.0
"""The inventory of a running Nova and Placement, and plans on it."""

import json

from nova_holistic.cli import main
from tests.functional.client.test_map import (  # noqa: F401
    HOSTS, lent, PAIR, running, terminal)
from tests.unit.api.service import ADMIN


def export(terminal, *words, user=ADMIN):  # noqa: F811
    return terminal.openstack('holistic', 'inventory', 'export', '--levels',
                              'az,rack,host', *words, user=user)


def test_the_exported_inventory_is_the_cloud(terminal, running):  # noqa: F811
    output = export(terminal)
    assert (output.code, output.err) == (0, '')
    document = json.loads(output.out)
    assert document['levels'] == ['az', 'rack', 'host']
    hosts = {host['name']: host for host in document['hosts']}
    assert sorted(hosts) == sorted(host.name for host in HOSTS)
    for host in HOSTS:
        exported = hosts[host.name]
        assert exported['location'] == ['az1', host.rack]
        assert exported['resources']['VCPU']['total'] == 8
        assert exported['resources']['VCPU']['used'] == 2
    assert document['flavors']['small'] == {
        'VCPU': 2, 'MEMORY_MB': 1024, 'DISK_GB': 1}
    assert 'pools' not in document


def test_the_export_contains_storage_pools_on_request(terminal):  # noqa: F811
    result = export(terminal, '--pools')
    assert (result.code, result.err) == (0, '')
    assert json.loads(result.out)['pools'] == [{
        'name': 'storage-1@lvm#pool',
        'location': ['az1', 'no-rack-of-storage-1@lvm#pool'],
        'total_capacity_gb': 10, 'free_capacity_gb': 8}]


def test_plan_check_and_map_work_on_it(
        terminal, tmp_path, capsys):  # noqa: F811
    cloud, group, plan = (tmp_path / name for name in (
        'cloud.json', 'pair.json', 'plan.json'))
    assert export(terminal, '-o', cloud).code == 0
    group.write_text(json.dumps(PAIR))

    def run(*words):
        code = main.main([*map(str, words), '--inventory', str(cloud)])
        output = capsys.readouterr()
        assert (code, output.err) == (0, '')
        return output.out

    plan.write_text(run('plan', group, '--format', 'json'))
    hosts = {each['location'][1]
             for each in json.loads(plan.read_text())['placements']}
    assert hosts == {'r1', 'r2'}
    run('check', group, '--plan', plan)
    run('map', plan, '--group', group, '-o', tmp_path / 'pair.svg')
    assert (tmp_path / 'pair.svg').stat().st_size > 0
