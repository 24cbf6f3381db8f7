# SPDX-License-Identifier: Apache-2.0
"""Degraded groups whose update ends the violation."""

import pytest

from nova_holistic.inventory.errors import ServiceFailed
from tests.functional.engine.world import SMALL
from tests.unit.api.service import MEMBER

LATEST = {'OpenStack-API-Version': 'holistic latest'}
TOGETHER, APART = ({'type': 'affinity', 'level': 'host'},
                   {'type': 'anti-affinity', 'level': 'host'})


def ask(service, method, path, body=None, **headers):
    return service.ask(method, f'/v1/groups{path}', body, MEMBER,
                       {**LATEST, **headers})


def pair(*policies, names='ab'):
    return {'name': 'pair', 'policies': list(policies), 'members': [
        {'name': name, 'resources': SMALL} for name in names]}


def put(service, group, document, version='latest'):
    """Replace the definition; returns the group after the update."""
    revision = ask(service, 'GET', f'/{group}').json['group']['revision']
    answer = ask(service, 'PUT', f'/{group}?wait=30', {'group': document}, **{
        'If-Match': f'"{revision}"',
        'OpenStack-API-Version': f'holistic {version}'})
    assert answer.status_int == 200, answer.text
    return answer.json['group']


@pytest.fixture
def group(world, service):
    """A group with two servers on one host, which violate a hard policy."""
    created = ask(service, 'POST', '?wait=30', {'group': pair(TOGETHER)})
    uuid = created.json['group']['id']
    for name in 'ab':
        world.build(world.table.get_group(uuid), name)
    updated = put(service, uuid, pair(APART))
    assert (updated['status'], len(updated['violations'])) == ('degraded', 1)
    return uuid


@pytest.mark.parametrize('version', ['1.0', 'latest'])
def test_an_update_without_the_policy_ends_the_status(
        service, group, version):
    updated = put(service, group, pair(), version)
    assert (updated['status'], updated['violations']) == ('complete', [])


def test_the_removal_of_a_server_ends_the_status(world, service, group):
    answer = ask(service, 'DELETE', f'/{group}/members/b?wait=30')
    found = answer.json['group']
    assert (found['status'], found['violations']) == ('complete', [])
    assert world.reconciler.reconcile().get('recovered', 0) == 0


def test_a_refused_update_leaves_the_status(world, service, group):
    updated = put(service, group, pair(APART, names='abc'), '1.0')
    assert (updated['status'], updated['members']) == (
        'degraded', {'built': 2})
    assert [each['at'] for each in updated['violations']] == ['anti-affinity']


def test_the_reconciler_checks_the_group_if_the_update_cannot(
        world, service, group):
    def fail(record):
        raise ServiceFailed('Placement', '/', 'it does not respond')

    world.planner.connect(world.positions.refresh, check_status=fail)
    updated = put(service, group, pair())
    assert (updated['status'], updated['revision']) == ('degraded', 3)
    assert updated['reasons'] == []
    assert world.reconciler.reconcile()['recovered'] == 1
    found = ask(service, 'GET', f'/{group}').json['group']
    assert (found['status'], found['violations']) == ('complete', [])


def test_a_group_without_servers_is_planned(service, group):
    updated = put(service, group, pair(APART, names='cd'))
    assert (updated['status'], updated['violations']) == ('planned', [])
