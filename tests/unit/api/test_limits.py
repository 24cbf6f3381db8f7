# SPDX-License-Identifier: Apache-2.0
"""Limits of a project count each member once. A project above a limit may only
reduce its usage."""

from datetime import timedelta

import pytest

from nova_holistic.table.records import GroupStatus, Task
from tests.unit.api.service import (
    MEMBER, NOON, refusal, SHOP, OTHER_PROJECT)
from tests.unit.table.builders import members_of

OVER = (403, 'holistic.over_limit')


@pytest.fixture
def full(start):
    """A service whose project may have four members and has a shop of four."""
    return start(max_members_per_project=4)


def placed(service):
    """A planned shop with its rows."""
    group = service.planned()
    service.table.write_members(group, members_of(
        service.table.get_group(group), {'web': 1, 'node': 3}))
    return group


def release(service, group):
    service.table.release(
        [m.hold for m in service.table.members(group)], NOON)


def revise(service, group, document=SHOP):
    return service.ask('PUT', f'/v1/groups/{group}', {'group': document},
                       headers={'If-Match': '"1"'})


def test_existing_members_are_not_counted_again(full):
    assert revise(full, placed(full)).status_int == 202


def test_released_members_count_when_they_are_planned_again(full):
    first = placed(full)
    release(full, first)
    placed(full)
    assert refusal(revise(full, first))[:2] == OVER
    assert refusal(full.ask('POST', f'/v1/groups/{first}/members', {
        'members': [{'name': 'more', 'resources': {'VCPU': 1}}]}))[:2] == OVER


def test_an_unplaceable_group_counts_when_it_is_replanned(full):
    group = full.created()['id']
    full.settle(group, GroupStatus.UNPLACEABLE)
    other = placed(full)
    path = f'/v1/groups/{group}/replan'
    assert refusal(full.ask('POST', path, {'replan': {}}))[:2] == OVER
    release(full, other)
    assert full.ask('POST', path, {'replan': {}}).status_int == 202
    assert full.table.get_group(group).task == Task.REPLANNING


def test_a_group_waiting_for_an_engine_counts(full):
    full.created()
    assert refusal(full.ask('POST', '/v1/groups', {'group': SHOP}))[:2] == (
        OVER)


def test_a_busy_group_is_not_counted_twice(full):
    group = full.created()['id']
    one_more = {'members': [{'name': 'more', 'resources': {'VCPU': 1}}]}
    path = f'/v1/groups/{group}/members'
    assert revise(full, group).status_int == 409
    assert full.ask('DELETE', path + '/web').status_int == 409
    assert refusal(full.ask('POST', path, one_more))[:2] == OVER


def test_a_requested_revision_counts_before_it_is_planned(start):
    service = start(max_members_per_project=9)
    groups = [placed(service) for _ in range(2)]
    one_more = {'members': [{'name': 'more', 'resources': {'VCPU': 1}}]}
    first, second = (service.ask(
        'POST', f'/v1/groups/{group}/members', one_more) for group in groups)
    assert first.status_int == 202
    assert refusal(second)[:2] == OVER
    # After the update, the members that exist are counted.
    service.settle(groups[0], GroupStatus.PLANNED)
    assert service.ask('POST', f'/v1/groups/{groups[1]}/members',
                       one_more).status_int == 202


@pytest.mark.parametrize('limit', [
    'max_members_per_project', 'max_members_per_group'])
def test_a_project_above_a_lowered_limit_may_remove_members(start, limit):
    group = placed(start())
    service = start(**{limit: 2})
    path = f'/v1/groups/{group}/members'
    assert refusal(service.ask('POST', path, {'members': [
        {'name': 'more', 'resources': {'VCPU': 1}}]}))[:2] == OVER
    assert service.ask('DELETE', path + '/web').status_int == 202


def ask_plan(service, token=MEMBER):
    return service.ask('POST', '/v1/plans', {'group': SHOP}, token)


def test_plans_count_until_they_are_deleted(start):
    service = start(max_plans_per_project=2)
    made = [ask_plan(service).json['plan']['id'] for _ in range(2)]
    service.make_plan(made[0])
    assert refusal(ask_plan(service))[:2] == OVER
    assert 'holistic_plans' in refusal(ask_plan(service))[2]
    assert [word for word, *_ in service.engines.asked] == ['plan', 'plan']
    # Another project has its own plans.
    assert ask_plan(service, OTHER_PROJECT).status_int == 202
    service.table.plans.forget(service.now + timedelta(seconds=1))
    assert ask_plan(service).status_int == 202


@pytest.mark.parametrize('limit, path', [
    ('max_groups_per_project', '/v1/groups'),
    ('max_members_per_project', '/v1/groups'),
    ('max_plans_per_project', '/v1/plans')])
def test_a_limit_of_zero_allows_no_object(start, limit, path):
    service = start(**{limit: 0})
    refused = refusal(service.ask('POST', path, {'group': SHOP}))
    assert refused[:2] == OVER
    assert 'the limit of the project is 0; 0 are in use' in refused[2]
    assert service.engines.asked == []


@pytest.mark.parametrize('limit', [
    'max_groups_per_project', 'max_members_per_project'])
def test_groups_may_be_without_a_limit(start, limit):
    service = start(**{limit: -1})
    assert len({service.created()['id'] for _ in range(3)}) == 3


def test_a_limit_of_minus_1_allows_any_number_of_plans(start):
    service = start(max_plans_per_project=-1)
    assert {ask_plan(service).status_int for _ in range(5)} == {202}


def test_volumes_do_not_count(start):
    """Cinder's quota counts them."""
    service = start(max_members_per_project=4)
    group = {'name': 'db', 'members': [
        {'name': 'server', 'count': 2, 'resources': {'VCPU': 1}},
        {'name': 'data', 'kind': 'volume', 'count': 5, 'size': 10}]}
    latest = {'OpenStack-API-Version': 'holistic 1.6'}
    for status in 202, 202, 403:
        answer = service.ask('POST', '/v1/groups', {'group': group},
                             headers=latest)
        assert answer.status_int == status
    assert refusal(answer)[:2] == OVER


def test_volumes_count_in_the_size_of_a_group(start):
    service = start(max_members_per_group=4)
    group = {'name': 'db', 'members': [
        {'name': 'server', 'resources': {'VCPU': 1}},
        {'name': 'data', 'kind': 'volume', 'count': 4, 'size': 10}]}
    answer = service.ask('POST', '/v1/groups', {'group': group}, headers={
        'OpenStack-API-Version': 'holistic 1.6'})
    assert refusal(answer)[:2] == OVER
    assert '5 members; a group may have 4' in answer.text
