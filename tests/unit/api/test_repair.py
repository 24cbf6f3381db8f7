# SPDX-License-Identifier: Apache-2.0
"""The repair of a group through the API."""

import pytest

from nova_holistic.table.records import GroupStatus
from tests.unit.api.service import ADMIN, MEMBER, refusal
from tests.unit.table.builders import force_status

MOVE = {'member': 'web', 'source': 'h1', 'destination': 'h2',
        'instance_uuid': '00000000-0000-4000-8000-000000000001'}


def repair(service, group, token=ADMIN, **asked):
    return service.ask('POST', f'/v1/groups/{group}/repair',
                       {'repair': asked}, token)


@pytest.fixture
def group(service):
    """A degraded group."""
    group = service.created()['id']
    service.settle(group, GroupStatus.PLANNED, violations=[
        {'at': '', 'message': 'host h1 is full', 'names': ['h1'],
         'hidden': [[5, 7]]}])
    force_status(service.table, group, GroupStatus.DEGRADED)
    return group


def test_the_proposal_of_an_engine_is_shown(service, group):
    service.engines.acts['repair'] = lambda uuid: {
        'moves': [MOVE], 'planned_again': ['node-0'], 'reasons': []}
    for asked in ({}, {'apply': False}):
        answer = repair(service, group, **asked)
        assert answer.status_int == 200
        assert answer.json['repair'] == {
            'moves': [MOVE], 'planned_again': ['node-0'], 'reasons': []}
    assert service.table.get_group(group).task is None


def test_an_engine_carries_out_the_repair(service, group):
    answer = repair(service, group, apply=True)
    assert answer.status_int == 202
    assert answer.json['group']['task'] == 'repairing'
    assert refusal(repair(service, group, apply=True))[0] == 409


def test_users_may_not_repair_and_read_violations_without_hosts(
        service, group):
    assert refusal(repair(service, group, MEMBER))[0] == 403
    shown = service.ask('GET', f'/v1/groups/{group}').json['group']
    assert shown['status'] == 'degraded'
    assert shown['violations'] == [{'at': '', 'message': 'host … is full'}]


def test_a_group_without_servers_cannot_be_repaired(service):
    group = service.planned()
    assert refusal(repair(service, group, apply=True))[0] == 409


def test_degraded_groups_are_listed_by_their_status(service, group):
    answer = service.ask('GET', '/v1/groups?status=degraded')
    assert [each['id'] for each in answer.json['groups']] == [group]


@pytest.mark.parametrize('body', [
    {'repair': {'apply': 'yes'}}, {'repair': {'force': True}}, {}])
def test_an_invalid_request_is_refused(service, group, body):
    answer = service.ask('POST', f'/v1/groups/{group}/repair', body, ADMIN)
    assert refusal(answer)[0] == 400
