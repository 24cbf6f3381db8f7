# SPDX-License-Identifier: Apache-2.0
"""The history of a group over the API."""

from datetime import timedelta
from urllib import parse

import pytest

from nova_holistic.table.records import GroupStatus
from tests.unit.api.service import (
    ADMIN, MEMBER, NOON, READER, refusal, OTHER_PROJECT)
from tests.unit.table import builders

WHY = {'at': 'web', 'message': 'host cmp-1 is full', 'hidden': [[5, 10]],
       'names': ['cmp-1']}


def events(service, group, query='', token=MEMBER):
    answer = service.ask('GET', f'/v1/groups/{group}/events{query}',
                         token=token)
    assert answer.status_int == 200, answer.text
    return answer.json['events']


def refused(service, group, query='', token=MEMBER):
    return refusal(service.ask(
        'GET', f'/v1/groups/{group}/events{query}', token=token))


@pytest.fixture
def group(service):
    """A group with five events. The last two belong to one claim."""
    group = service.created()['id']
    service.settle(group, updated_at=NOON)
    record = service.table.get_group(group)
    service.table.write_members(
        group, builders.members_of(record, {'web': None}))
    service.table.claim(
        group, 'db/web', 'server-1', NOON + timedelta(hours=1))
    return group


def test_the_history_is_shown_from_the_beginning(service, group):
    found = events(service, group)
    assert [(e['kind'], e['member'], e['from_state'], e['to_state'])
            for e in found] == [
        ('group.status', None, None, 'planning'),
        ('group.status', None, 'planning', 'planned'),
        ('plan.written', None, None, None),
        ('member.state', 'db/web', 'planned', 'claimed'),
        ('group.status', None, 'planned', 'building')]
    assert found[0]['at'] == '2030-01-01T12:00:00Z'
    assert found[0]['user_id'] == 'ann'
    assert found[0]['request_id'].startswith('req-')
    assert found[2]['details'] == {'members': 1}


def test_pages_are_linked(service, group):
    everything, found = events(service, group), []
    path = f'/v1/groups/{group}/events?limit=2'
    while path:
        answer = service.ask('GET', path).json
        assert len(answer['events']) <= 2
        found += answer['events']
        links = {link['rel']: link['href']
                 for link in answer.get('events_links', ())}
        path = parse.urlsplit(links['next']) if links else None
        path = path and f'{path.path}?{path.query}'
    assert found == everything
    assert events(service, group, '?sort_dir=desc') == everything[::-1]
    assert events(service, group, '?limit=0') == []


@pytest.mark.parametrize('query, number', [
    ('kind=member.state', 1), ('member=db/web', 1), ('kind=group.status', 3),
    ('since=2030-01-01T13:00:00Z', 2), ('since=2030-01-01T13:00:00', 2),
    ('since=2030-01-01T15:00:00%2B02:00', 2), ('since=2030-01-01', 5),
    ('since=2030-01-02T00:00:00Z', 0), ('member=db/none', 0)])
def test_events_are_selected(service, group, query, number):
    assert len(events(service, group, f'?{query}')) == number


@pytest.mark.parametrize('query, place', [
    ('since=yesterday', 'since'), ('since=2030-02-30T00:00:00Z', 'since'),
    ('since=0001-01-01T00:00:00%2B12:00', 'since'), ('kind=odd', 'kind'),
    ('kind=group.deleted', 'kind'), ('marker=x', 'marker'),
    ('marker=-1', 'marker'), ('limit=-1', 'limit'), ('odd=1', 'odd'),
    ('member=/', 'member'), ('sort_dir=up', 'sort_dir')])
def test_a_bad_query_is_refused(service, group, query, place):
    status, code, detail = refused(service, group, f'?{query}')
    assert (status, code) == (400, 'holistic.invalid_query')
    assert detail.startswith(place)


def test_only_the_project_and_administrators_see_it(service, group):
    assert events(service, group, token=READER)
    assert events(service, group, token=ADMIN)
    assert refused(service, group, token=OTHER_PROJECT)[0] == 404
    assert refused(service, builders.new_uuid())[0] == 404


def test_hosts_are_for_administrators(service, group):
    service.table.update_group(
        group, [GroupStatus.BUILDING], status=GroupStatus.COMPLETE,
        reasons=(WHY, {'at': '', 'message': 'cmp-1 is odd'}))
    for event in events(service, group):
        assert 'host' not in event
        assert 'cmp-' not in str(event)
    assert events(service, group)[-1]['reasons'][0] == {
        'at': 'web', 'message': 'host … is full'}
    *_, claimed, _, last = events(service, group, token=ADMIN)
    assert claimed['host'] == 'cmp-0'
    assert last['reasons'][0]['message'] == 'host cmp-1 is full'
