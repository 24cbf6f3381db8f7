# SPDX-License-Identifier: Apache-2.0
"""The metrics that Prometheus reads. Nothing is measured while they are
disabled."""

import pathlib
import re
import socket
import subprocess
import sys
import urllib.request

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.metrics import exporter, instruments
from nova_holistic.table.queries.totals import totals
from nova_holistic.table.records import MemberState
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import Service
from tests.unit.table import builders
from tools.cloud.ports import free_ports

ROOT = pathlib.Path(__file__).parents[3]
MANUAL = ROOT / 'doc/source/admin/metrics.rst'


@pytest.fixture
def table(tmp_path):
    table = PlacementTable(new_table(tmp_path))
    table.database.listen(exporter.count)
    return table


@pytest.fixture
def registry(table):
    yield exporter.bind(lambda: totals(table.database))
    exporter.unbind()


def value(registry, name, **labels):
    return registry.get_sample_value(instruments.PREFIX + name, labels)


def test_changes_are_counted_by_their_outcome(table, registry):
    group = builders.planned(table, node=20)
    holds = [row.hold for row in table.members(group.uuid)]
    table.claim(group.uuid, 'db/node-0', 'server-1', builders.NOON)
    table.release(holds, builders.NOON)
    found = [value(registry, 'changes_total', kind='member.state',
                   to_state=state) for state in ('claimed', 'released')]
    assert found == [1, 19]
    assert value(registry, 'changes_total', kind='plan.written',
                 to_state='') == 1


def test_gauges_are_read_from_the_table(table, registry):
    group = builders.planned(table, node=3)
    table.change_state(table.members(group.uuid)[0].id,
                       {MemberState.PLANNED}, MemberState.LOST, builders.NOON)
    assert value(registry, 'groups', status='planned') == 1
    assert value(registry, 'members', state='planned') == 2
    assert value(registry, 'members', state='lost') == 1


def test_requests_are_counted_by_route(table, registry):
    service = Service(table)
    group = service.planned()
    service.ask('GET', f'/v1/groups/{group}')
    service.ask('GET', '/v1/groups/none')
    service.ask('ODD', '/made/up')
    shown = {'method': 'GET', 'route': '/v1/groups/{group_id}'}
    assert value(registry, 'api_requests_total', status='200', **shown) == 1
    assert value(registry, 'api_requests_total', status='404', **shown) == 1
    assert value(registry, 'api_requests_total', status='404', method='none',
                 route='none') == 1
    assert value(registry, 'api_request_seconds_count', **shown) == 2


def test_a_disabled_instrument_does_nothing(table):
    with instruments.HOLD_SECONDS.timed(operation='put'):
        builders.planned(table)
    registry = exporter.bind()
    exporter.unbind()
    assert value(registry, 'hold_seconds_count', operation='put') is None


def test_a_block_that_raises_is_measured(registry):
    with pytest.raises(LookupError):
        with instruments.HOLD_SECONDS.timed(operation='put'):
            raise LookupError
    assert value(registry, 'hold_seconds_count', operation='put') == 1


@pytest.fixture
def conf(monkeypatch):
    monkeypatch.setattr(exporter, '_started', None)
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    (port,) = free_ports(1)
    conf.set_override('port', port, group='holistic_metrics')
    yield conf
    exporter.unbind()


def read(conf):
    with urllib.request.urlopen(
            f'http://127.0.0.1:{conf.holistic_metrics.port}/metrics') as page:
        return page.read().decode()


def test_metrics_are_off_by_default(conf):
    exporter.start(conf)
    with pytest.raises(OSError):
        read(conf)


def test_metrics_are_served_once(conf, table, caplog):
    conf.set_override('enabled', True, group='holistic_metrics')
    exporter.start(conf, lambda: totals(table.database))
    exporter.start(conf)
    builders.planned(table)
    page = read(conf)
    assert 'nova_holistic_groups{status="planned"} 1.0' in page
    assert 'in use' not in caplog.text


def test_a_port_in_use_stops_no_process(conf, caplog):
    conf.set_override('enabled', True, group='holistic_metrics')
    with socket.socket() as other:
        other.bind(('127.0.0.1', conf.holistic_metrics.port))
        other.listen()
        exporter.start(conf)
    assert 'in use' in caplog.text


WORKER = '''
import sys
from nova_holistic.metrics import exporter, instruments
registry = exporter.bind()
instruments.CLAIMS.add(result='claimed')
if sys.argv[1:] == ['last']:
    from prometheus_client import generate_latest
    print(generate_latest(registry).decode())
'''


def test_processes_that_share_a_directory_serve_their_sum(tmp_path):
    for words in [], [], ['last']:
        found = subprocess.run(
            [sys.executable, '-c', WORKER, *words], check=True, text=True,
            capture_output=True, cwd=ROOT, env={
                'PATH': '', 'PYTHONPATH': str(ROOT),
                exporter.DIRECTORY: str(tmp_path)})
    assert 'nova_holistic_claims_total{result="claimed"} 3.0' in found.stdout


SERVICE = '''
from oslo_config import cfg
from nova_holistic import conf as options
from nova_holistic.metrics import exporter, instruments
conf = cfg.ConfigOpts()
options.register_opts(conf)
conf([], default_config_files=[], default_config_dirs=[])
conf.set_override('enabled', True, group='holistic_metrics')
exporter.start(conf)
instruments.CLAIMS.add(result='claimed')
'''


@pytest.mark.parametrize('directory', ['/none', '/proc/1'])
def test_a_service_works_without_the_directory_of_metrics(directory):
    """It does not exist, or the service may not write to it."""
    found = subprocess.run(
        [sys.executable, '-c', SERVICE], check=True, text=True,
        capture_output=True, cwd=ROOT, env={
            'PATH': '', 'PYTHONPATH': str(ROOT),
            exporter.DIRECTORY: directory})
    assert f'the directory {directory} cannot be used' in found.stderr


def test_the_manual_lists_every_metric_with_its_labels():
    listed = {}
    for name, labels in re.findall(
            r'^   \* - ``(nova_holistic_\w+)``\n     - (.*)$',
            MANUAL.read_text(), re.MULTILINE):
        listed[name] = set(re.findall(r'``(\w+)``', labels))
    measured = {each.name: set(each.labels) for each in instruments.ALL}
    measured |= {instruments.PREFIX + name: {label}
                 for name, (_, label) in exporter.GAUGES.items()}
    assert listed == measured
