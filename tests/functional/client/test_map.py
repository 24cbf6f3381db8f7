# SPDX-License-Identifier: Apache-2.0
"""The picture of a group, from a running Nova and Placement."""

import json
from xml.etree import ElementTree

import pytest
import sqlalchemy as sa
import webob

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from nova_holistic.table.schema.models import MemberRow
from tests.functional.client.storage import storage
from tests.unit.api.service import ADMIN, Service
from tests.unit.client.cloud import Cloud, Terminal

HOSTS = tuple(
    EmbeddedHost(f'{rack}-{number}', zone='az1', rack=rack, vcpus=8,
                 load={'VCPU': 2})
    for rack in ('r1', 'r2') for number in (1, 2))
PAIR = {'name': 'pair', 'members': [
    {'name': 'node', 'count': 2, 'flavor': 'small'}],
    'policies': [{'type': 'anti-affinity', 'level': 'rack'}]}
VERSIONS = ('OpenStack-API-Version', 'X-OpenStack-Nova-API-Version')


def relay(adapter):
    """An application that forwards requests with the rights of the adapter."""
    def app(environ, start_response):
        request = webob.Request(environ)
        response = adapter.request(
            request.path_qs.removeprefix(request.script_name), request.method,
            headers={name: request.headers[name] for name in VERSIONS
                     if name in request.headers},
            json=request.json if request.body else None, raise_exc=False)
        return webob.Response(
            status=response.status_code, body=response.content,
            content_type='application/json')(environ, start_response)
    return app


@pytest.fixture(scope='module')
def lent(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 1024, 1)
        yield cloud


@pytest.fixture
def running(lent):
    """The cloud, in which the test leaves no group."""
    yield lent
    for group in lent.table.list_groups():
        lent.lifecycle.delete(group.uuid)


@pytest.fixture
def terminal(running, capsys, own_logging):
    """A terminal on the API with an engine on that Nova."""
    service = Service(running.table, DirectEngine(
        running.conf, running.clock, PlanningParts(
            running.table, running.inventory, running.planner,
            running.lifecycle)))
    with Cloud(service.app, others={
            'placement': relay(running.placement),
            'compute': relay(running.compute),
            'volumev3': storage}) as cloud:
        yield Terminal(cloud, capsys)


@pytest.fixture
def drawn(terminal, tmp_path):
    """A function that draws the pair, and returns the texts of the picture."""
    definition = tmp_path / 'pair.json'
    definition.write_text(json.dumps(PAIR))
    output = terminal.openstack('holistic', 'group', 'create', '-f',
                                definition, '--wait', '-f', 'json',
                                user=ADMIN)
    assert output.code == 0, output.err

    def drawn(*words):
        picture = tmp_path / 'pair.svg'
        output = terminal.openstack('holistic', 'group', 'map', 'pair', '-o',
                                    picture, *words, user=ADMIN)
        if output.code:
            return output.err
        return list(ElementTree.parse(picture).getroot().itertext())
    return drawn


def test_the_map_separates_a_groups_load_from_other_load(running, drawn):
    texts = drawn('--levels', 'az,rack,host')
    assert {'az1 · 2', 'r1 · 1', 'r2 · 1', 'node-0', 'node-1',
            *(host.name for host in HOSTS)} <= set(texts)
    assert any(text.startswith('2 members on 2 of 4 hosts')
               for text in texts)
    # The other load takes 2 of 8 VCPUs on each host, and a member takes 2 more
    # on two hosts.
    vcpu_texts = [text for text in texts if 'vCPU: ' in text]
    assert sum('vCPU: 4 / 8 (50%), of which 25% by this plan' in text
               for text in vcpu_texts) == 2
    assert sum('vCPU: 2 / 8 (25%)' in text for text in vcpu_texts) == 2


def test_a_violated_policy_is_marked_and_printed(running, terminal, drawn,
                                                 tmp_path):
    assert not any(text.startswith('violated: ')
                   for text in drawn('--levels', 'az,rack,host'))
    group, = running.table.list_groups()
    first, second = running.table.members(group.uuid)
    rack = first.place.host.rpartition('-')[0]
    other, = {f'{rack}-1', f'{rack}-2'} - {first.place.host}
    with running.table.database.writer() as session:
        session.execute(sa.update(MemberRow).where(
            MemberRow.id == second.id).values(
                host=other, location=[*first.place.location]))
    picture = tmp_path / 'violated.svg'
    output = terminal.openstack('holistic', 'group', 'map', 'pair', '-o',
                                picture, '--levels', 'az,rack,host',
                                user=ADMIN)
    assert output.code == 1
    assert 'anti-affinity' in output.out and 'rack az1/r' in output.out
    texts = [*ElementTree.parse(picture).getroot().itertext()]
    assert any(text.startswith('violated: anti-affinity') for text in texts)


def test_levels_that_differ_from_the_clouds_are_refused(drawn):
    line = drawn('--levels', 'az,host')
    assert 'are not the levels az, host' in line
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize('levels', ['', 'host,rack', 'rack', ',host'])
@pytest.mark.parametrize('command', [
    ('group', 'map', 'pair', '-o', 'pair.svg'), ('inventory', 'export')])
def test_invalid_levels_are_refused(drawn, terminal, command, levels):
    output = terminal.openstack('holistic', *command, '--levels', levels,
                                user=ADMIN)
    assert (output.code, output.out) == (2, '')
    assert output.err.startswith(f'--levels {levels}: ')
    assert len(output.err.splitlines()) == 1
