# SPDX-License-Identifier: Apache-2.0
"""A list of groups continues without losing or repeating a group if the last
group of a page is deleted or changed before the next page is read."""

import base64
import json

import pytest

from nova_holistic.table.records import GroupStatus
from tests.unit.api.service import ADMIN, refusal
from tests.unit.api.test_groups import names, pages, several
from tests.unit.table import builders

SORTINGS = [f'sort_key={key}&sort_dir={direction}'
            for key in ('name', 'status', 'created_at', 'updated_at')
            for direction in ('asc', 'desc')]


def encoded(value):
    return base64.urlsafe_b64encode(
        json.dumps(value).encode()).decode().rstrip('=')


def first_page(service, query):
    """The response with the first page of a list, and the link to the next."""
    answer = service.ask('GET', f'/v1/groups?{query}')
    (link,) = answer.json['groups_links']
    return answer, link['href'].removeprefix('http://localhost')


@pytest.mark.parametrize('sorting', SORTINGS)
def test_a_list_continues_where_a_deleted_group_was(service, sorting):
    several(service, 'b', 'a', 'd', 'c', 'e')
    complete = pages(service, f'limit=2&{sorting}')
    answer, link = first_page(service, f'limit=2&{sorting}')
    last = answer.json['groups'][-1]['id']
    service.table.delete_group(last)
    assert [names(answer), *pages(service, link.split('?')[1])] == complete
    # The marker of a user must be a group.
    answer = service.ask('GET', f'/v1/groups?marker={last}')
    assert refusal(answer)[:2] == (400, 'holistic.unknown_marker')


def test_a_list_continues_where_a_changed_group_was(service):
    several(service, 'a', 'b', 'c')
    complete = pages(service, 'limit=1&sort_key=status')
    answer, link = first_page(service, 'limit=1&sort_key=status')
    # From now on, the group is the last one in the order.
    builders.force_status(service.table, answer.json['groups'][0]['id'],
                          GroupStatus.UNPLACEABLE)
    found = [names(answer), *pages(service, link.split('?')[1])]
    assert found[:3] == complete


@pytest.mark.parametrize('query', ['sort_key=name', 'all_projects=true'])
def test_a_position_belongs_to_one_list(service, query):
    several(service, 'a', 'b')
    link = first_page(service, 'limit=1')[1]
    answer = service.ask('GET', f'{link}&{query}', token=ADMIN)
    assert refusal(answer)[:2] == (400, 'holistic.unknown_marker')


@pytest.mark.parametrize('position', ['W10', *map(encoded, [
    5, 'abcd', {}, ['blue', 'name', 'a\0'], ['blue', 'name', '\ud800'],
    ['blue', 'name', {}], ['blue', 'name', '']])])
def test_a_position_that_no_link_has_is_refused(service, position):
    marker = service.created()['id']
    answer = service.ask('GET', f'/v1/groups?sort_key=name&marker={marker}'
                                f'&position={position}')
    assert refusal(answer)[:2] == (400, 'holistic.invalid_query')


@pytest.mark.parametrize('time', ['noon', '2030-01-01T12:00:00+00:00', 5])
def test_a_position_at_no_time_is_refused(service, time):
    marker = service.created()['id']
    position = encoded(['blue', 'created_at', time])
    answer = service.ask(
        'GET', f'/v1/groups?marker={marker}&position={position}')
    assert refusal(answer)[:2] == (400, 'holistic.invalid_query')


def test_a_position_needs_its_marker(service):
    several(service, 'a', 'b')
    position = first_page(service, 'limit=1')[1].split('position=')[1]
    answer = service.ask('GET', f'/v1/groups?position={position}')
    assert refusal(answer) == (
        400, 'holistic.invalid_query',
        'position: needs the marker of the same link')
