# SPDX-License-Identifier: Apache-2.0
"""Prometheus reads the numbers of a scheduler's answers."""

import urllib.request

import prometheus_client
from prometheus_client import parser
import pytest

from nova_holistic.metrics import exporter, instruments
from tests.functional.claims import (
    create, document, host_of_active, HOSTS, SMALL)
from tools.cloud.ports import free_ports


@pytest.fixture
def url(monkeypatch):
    """The URL of the scheduler's metrics; the server stops with the test."""
    served = []
    serve = prometheus_client.start_http_server

    def noting(*arguments, **options):
        served.append(serve(*arguments, **options))
        return served[-1]

    monkeypatch.setattr(prometheus_client, 'start_http_server', noting)
    (port,) = free_ports(1)
    yield f'http://127.0.0.1:{port}/metrics'
    exporter.unbind()
    monkeypatch.setattr(exporter, '_started', None)
    for server, thread in served:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def cloud(lend_cloud, url):
    port = int(url.split(':')[2].split('/')[0])
    with lend_cloud(HOSTS[:2], options={
            ('holistic_metrics', 'enabled'): True,
            ('holistic_metrics', 'port'): port}) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


def samples(url):
    """Values by name, without the prefix of the project, and label."""
    with urllib.request.urlopen(url) as answer:
        text = answer.read().decode()
    return {(sample.name.removeprefix(instruments.PREFIX),
             sample.labels.get('result')): sample.value
            for family in parser.text_string_to_metric_families(text)
            for sample in family.samples}


def test_lookups_and_claims_are_measured(cloud, url):
    group = cloud.plan(document('a', 'b'), {'a': 'cmp-0', 'b': 'cmp-1'},
                       resources=SMALL)
    assert host_of_active(cloud, create(cloud, group, 'a')) == 'cmp-0'
    assert 'has no member' in cloud.fault_of(create(cloud, group, 'c'))
    stock = cloud.create_server('stock', 'small')
    cloud.wait_for_status(stock, 'ACTIVE')
    found = samples(url)
    assert found['lookups_total', 'answered'] == 1
    assert found['lookups_total', 'refused'] == 1
    assert found['lookup_seconds_count', None] == 2
    assert found['lookup_seconds_sum', None] > 0
    assert sum(value for (name, _), value in found.items()
               if name == 'claims_total') == 1
