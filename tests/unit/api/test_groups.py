# SPDX-License-Identifier: Apache-2.0
"""Requests for groups, and the calls of engines that they cause."""

import threading
from urllib.parse import quote

import pytest

from nova_holistic.messaging.errors import StaleRevision
from nova_holistic.table.changes import detaching
from nova_holistic.table.records import GroupStatus, Task
from tests.unit.api.service import (
    ADMIN, MEMBER, NOON, OTHER_PROJECT, refusal, SHOP)

MORE = {'name': 'more', 'resources': {'VCPU': 4}}


def names(answer):
    return [group['name'] for group in answer.json['groups']]


def several(service, *wanted):
    for name in wanted:
        service.created({**SHOP, 'name': name})
        service.sleep(1)


def pages(service, query):
    """The names on each page, until a page has no next one."""
    found, path = [], f'/v1/groups?{query}'
    while path:
        answer = service.ask('GET', path)
        assert answer.status_int == 200, answer.text
        found.append(names(answer))
        path = next((link['href'] for link
                     in answer.json.get('groups_links', ())), None)
    return found


def test_a_create_is_stored_before_an_engine_is_called(service):
    seen = []
    service.engines.acts['plan_group'] = (
        lambda uuid: seen.append(service.table.get_group(uuid)))
    group = service.created(lease=60, objective='stack')
    (record,) = seen
    assert (record.uuid, record.project_id, record.user_id) == (
        group['id'], 'blue', 'ann')
    assert (record.status, record.task, record.objective) == (
        GroupStatus.PLANNING, Task.PLANNING, 'stack')
    assert record.document == SHOP
    assert record.pending['lease'] == 60
    assert record.pending['request_id'].startswith('req-')


def test_a_wait_ends_when_the_group_is_settled(service):
    service.engines.acts['plan_group'] = service.settle
    answer = service.ask('POST', '/v1/groups?wait=60', {'group': SHOP})
    assert (answer.status_int, answer.json['group']['status']) == (
        201, 'planned')
    assert service.now == NOON


def test_a_wait_ends_after_the_requested_seconds(service):
    answer = service.ask('POST', '/v1/groups?wait=7', {'group': SHOP})
    assert (answer.status_int, answer.json['group']['status']) == (
        202, 'planning')
    assert (service.now - NOON).total_seconds() == pytest.approx(7)


def test_the_number_of_concurrent_waits_is_limited(start):
    service = start(max_waiters=2)
    at_once, sleep = [], service.sleep

    def ask(_=None):
        before = service.now
        answer = service.ask('POST', '/v1/groups?wait=7', {'group': SHOP})
        at_once.append((answer.status_int, service.now == before))

    def others_ask(seconds):
        if len(at_once) < 3:
            ask()
        sleep(seconds)

    service.sleep = others_ask
    service.renew()
    ask()
    # Each request is sent while the previous one waits. So the last request
    # ends first.
    assert at_once[:2] == [(202, True), (202, True)]
    assert (202, False) in at_once[2:]
    # A request that has ended makes room for the next one.
    service.sleep = sleep
    service.renew()
    for _ in range(3):
        ask()
    assert at_once[-3:] == 3 * [(202, False)]


def test_a_settled_group_is_returned_even_if_waiting_is_disabled(start):
    service = start(max_waiters=0)
    headers = {'Idempotency-Key': 'once'}
    first = service.ask('POST', '/v1/groups?wait=7', {'group': SHOP},
                        headers=headers)
    assert (first.status_int, service.now) == (202, NOON)
    service.settle(first.json['group']['id'])
    again = service.ask('POST', '/v1/groups?wait=7', {'group': SHOP},
                        headers=headers)
    assert again.status_int == 201


def test_a_wait_is_limited_by_wait_max(start):
    service = start(wait_max=2)
    service.ask('POST', '/v1/groups?wait=3000', {'group': SHOP})
    assert (service.now - NOON).total_seconds() == pytest.approx(2)


def test_a_list_is_paged_and_sorted(service):
    several(service, 'b', 'a', 'd', 'c', 'e')
    assert pages(service, 'limit=2') == [['b', 'a'], ['d', 'c'], ['e']]
    assert pages(service, 'limit=2&sort_key=name&sort_dir=desc') == [
        ['e', 'd'], ['c', 'b'], ['a']]
    assert pages(service, 'limit=5') == [['b', 'a', 'd', 'c', 'e']]
    assert pages(service, 'limit=0') == [[]]


def test_a_page_is_limited_by_max_limit(start):
    service = start(max_limit=2)
    several(service, 'a', 'b', 'c')
    assert pages(service, 'limit=1000') == [['a', 'b'], ['c']]
    assert pages(service, '') == [['a', 'b'], ['c']]


def test_a_list_keeps_its_filters_from_page_to_page(service):
    several(service, 'shop', 'other', 'shop', 'shop')
    assert pages(service, 'name=shop&limit=2') == [['shop', 'shop'], ['shop']]


def test_a_list_continues_after_a_group_that_no_longer_matches(service):
    several(service, 'a', 'b', 'c')
    path = '/v1/groups?status=planning&limit=1'
    answer = service.ask('GET', path)
    (last,), (link,) = answer.json['groups'], answer.json['groups_links']
    service.settle(last['id'])
    answer = service.ask('GET', link['href'])
    assert answer.status_int == 200, answer.text
    assert names(answer) == ['b']
    answer = service.ask('GET', link['href'], token=OTHER_PROJECT)
    assert refusal(answer)[:2] == (400, 'holistic.unknown_marker')


def test_groups_are_found_by_status(service):
    done = service.planned({**SHOP, 'name': 'done'})
    several(service, 'waiting')
    listed = service.ask('GET', '/v1/groups?status=planned')
    assert [g['id'] for g in listed.json['groups']] == [done]
    listed = service.ask('GET', '/v1/groups?status=planned&status=planning')
    assert len(listed.json['groups']) == 2


@pytest.mark.parametrize('query, place', [
    ('limit=-1', 'limit'), ('limit=ten', 'limit'), ('limit=1&limit=2',
                                                    'limit'),
    ('sort_key=document', 'sort_key'), ('sort_dir=up', 'sort_dir'),
    ('status=gone', 'status[0]'), ('marker=1', 'marker'),
    ('all_projects=2', 'all_projects'), ('name=', 'name'),
    ('name=%00', 'name'), ('nmae=shop', 'nmae')])
def test_an_invalid_query_is_refused(service, query, place):
    status, code, detail = refusal(service.ask('GET', f'/v1/groups?{query}'))
    assert (status, code) == (400, 'holistic.invalid_query')
    assert detail.startswith(f'{place}: ')


@pytest.mark.parametrize('path, detail', [
    ('?limit=' + '9' * 19, "limit: must be a whole number of at most 18 "
                           f"digits, not '{'9' * 19}'"),
    ('?limit=ten', "limit: must be a whole number of at most 18 digits, not "
                   "'ten'"),
    ('/G?limit=1', 'limit: unknown parameter; this request has no '
                   'parameters')])
def test_the_error_of_a_query_states_what_is_allowed(service, path, detail):
    path = path.replace('G', service.created()['id'])
    assert refusal(service.ask('GET', f'/v1/groups{path}'))[2] == detail


def test_an_unknown_or_foreign_marker_is_refused(service):
    others = service.created(token=OTHER_PROJECT)['id']
    for marker in (others, '00000000-0000-4000-8000-000000000000'):
        answer = service.ask('GET', f'/v1/groups?marker={marker}')
        assert refusal(answer)[:2] == (400, 'holistic.unknown_marker')


def test_a_query_that_is_not_utf8_is_refused(service):
    assert service.ask('GET', '/v1/groups?name=%ff').status_int == 400


@pytest.mark.parametrize('name', [
    "Robert'); DROP TABLE holistic_groups;--", '" OR ""="', '%', '_',
    'Ünïcödé ☃ 🛒', 'שלום', '\u202eevil', '../../etc', '<b>'])
def test_a_group_can_be_listed_by_any_name(service, name):
    group = service.created({**SHOP, 'name': name})
    service.created()
    assert group['name'] == name
    listed = service.ask('GET', f'/v1/groups?name={quote(name)}')
    assert [g['id'] for g in listed.json['groups']] == [group['id']]


@pytest.mark.parametrize('document, place', [
    ({'members': [MORE]}, 'group: name is missing'),
    ({**SHOP, 'extra': 1}, 'extra'),
    ({**SHOP, 'name': ''}, 'name'), ({**SHOP, 'name': 'a\nb'}, 'name'),
    ({**SHOP, 'name': 'x' * 256}, 'name'),
    ({'name': 'empty'}, 'group: the group has no members'),
    ([SHOP], 'group: must be a mapping'),
    ({**SHOP, 'group': SHOP}, 'group'),
    ({'name': 'shop', 'groups': [SHOP, {**SHOP, 'name': 'db', 'policies': [
        {'type': 'affinity', 'level': 7}]}]}, 'groups[1].policies[0].level'),
    ({'name': 'shop', 'members': [{**MORE, 'count': 10_001}]},
     'members[0].count')])
def test_an_invalid_document_names_its_position(service, document, place):
    answer = service.ask('POST', '/v1/groups', {'group': document})
    status, code, detail = refusal(answer)
    assert (status, code) == (400, 'holistic.invalid_document')
    assert place in detail
    assert service.table.list_groups() == ()
    assert service.engines.asked == []


def test_an_unknown_objective_is_refused(service):
    answer = service.ask('POST', '/v1/groups', {
        'group': SHOP, 'objective': 'luck'})
    status, code, detail = refusal(answer)
    assert (status, code) == (400, 'holistic.invalid_document')
    assert detail.startswith("objective: unknown objective 'luck'; known are")
    assert service.table.list_groups() == ()


def test_a_revision_is_passed_to_the_engines(service):
    group = service.planned()
    revised = {**SHOP, 'members': [*SHOP['members'], MORE]}
    answer = service.ask('PUT', f'/v1/groups/{group}', {'group': revised},
                         headers={'If-Match': '"1"'})
    assert (answer.status_int, answer.json['group']['task']) == (
        202, 'updating')
    record = service.table.get_group(group)
    assert record.pending['document'] == revised
    assert (record.document, record.revision) == (SHOP, 1)
    assert service.engines.asked[-1] == ('plan_group', group)


def test_a_stale_revision_is_refused(service):
    group = service.created()['id']
    service.settle(group, revision=2)
    answer = service.ask('PUT', f'/v1/groups/{group}', {'group': SHOP},
                         headers={'If-Match': '"1"'})
    assert refusal(answer)[:2] == (412, 'holistic.stale_revision')
    assert service.table.get_group(group).task is None


@pytest.mark.parametrize('method, path, body', [
    ('DELETE', '', None), ('POST', '/extend', {'extend': {'seconds': 60}}),
    ('POST', '/replan', {'replan': {}}), ('POST', '/repair', {'repair': {}}),
    ('POST', '/repair', {'repair': {'apply': True}}),
    ('POST', '/release', {'release': {}}),
    ('POST', '/detach', {'detach': {'member': 'web'}})])
def test_an_operation_on_a_stale_revision_is_refused(
        service, method, path, body):
    group = service.planned()
    before, asked = service.table.get_group(group), len(service.engines.asked)
    headers = {'OpenStack-API-Version': 'holistic latest'}
    answer = service.ask(method, f'/v1/groups/{group}{path}', body, ADMIN,
                         {**headers, 'If-Match': '"77"'})
    assert refusal(answer)[:2] == (412, 'holistic.stale_revision')
    assert service.table.get_group(group) == before
    assert len(service.engines.asked) == asked
    for more in {'If-Match': '"1"'}, {}:
        answer = service.ask(method, f'/v1/groups/{group}{path}', body, ADMIN,
                             {**headers, **more})
        # The state of the group does not allow some of the operations.
        assert answer.status_int not in (412, 428), answer.text


@pytest.mark.parametrize('name, method, path, body', [
    ('delete', 'DELETE', '', None),
    ('extend', 'POST', '/extend', {'extend': {'seconds': 60}}),
    ('release', 'POST', '/release', {'release': {}})])
def test_the_engine_receives_the_revision_of_the_client(
        service, name, method, path, body):
    """The group may be updated while the message waits for an engine."""
    group, seen = service.planned(), []

    def refuse(*arguments):
        seen.append(arguments[-1])
        if arguments[-1] is not None:
            raise StaleRevision(group, 2, arguments[-1])

    service.engines.acts[name] = refuse
    for headers, status in ({'If-Match': '"1"'}, 412), ({}, None):
        answer = service.ask(method, f'/v1/groups/{group}{path}', body, ADMIN,
                             headers)
        if status:
            assert refusal(answer) == (
                412, 'holistic.stale_revision',
                f'group {group} is at revision 2, not 1')
    assert seen == [1, None]


def test_a_detach_of_a_group_that_was_updated_meanwhile_is_refused(
        service, monkeypatch):
    group = service.planned()
    detach = detaching.detach

    def update_first(*arguments):
        assert service.table.update_group(
            group, tuple(GroupStatus), revision=2)
        return detach(*arguments)

    monkeypatch.setattr(detaching, 'detach', update_first)
    answer = service.ask(
        'POST', f'/v1/groups/{group}/detach', {'detach': {'member': 'web'}},
        ADMIN, {'OpenStack-API-Version': 'holistic latest',
                'If-Match': '"1"'})
    assert refusal(answer) == (
        412, 'holistic.stale_revision',
        f'group {group} is at revision 2, not 1')


def test_a_revision_is_required(service):
    group = service.planned()
    answer = service.ask('PUT', f'/v1/groups/{group}', {'group': SHOP})
    assert refusal(answer)[:2] == (428, 'holistic.revision_required')


@pytest.mark.parametrize('proxy', [
    lambda tag: tag, lambda tag: f'W/{tag}', lambda tag: f'{tag[:-1]}-gzip"'],
    ids=['none', 'nginx', 'Apache'])
def test_the_entity_tag_of_an_answer_serves_as_if_match(service, proxy):
    """Proxies that compress responses change their entity tags."""
    group = service.planned()
    tag = proxy(service.ask('GET', f'/v1/groups/{group}').headers['ETag'])
    for status in (202, 412):
        answer = service.ask('PUT', f'/v1/groups/{group}', {'group': SHOP},
                             headers={'If-Match': tag})
        assert answer.status_int == status, answer.text
        if status == 202:
            service.table.update_group(group, list(GroupStatus), revision=2)


def test_different_answers_have_different_entity_tags(service):
    created = service.ask('POST', '/v1/groups', {'group': SHOP})
    group = created.json['group']['id']
    shown = service.ask('GET', f'/v1/groups/{group}')
    service.settle(group)
    settled = service.ask('GET', f'/v1/groups/{group}')
    tags = [each.headers['ETag'] for each in (created, shown, settled)]
    assert len(set(tags)) == 3
    assert all(tag.startswith('"1-') for tag in tags)
    again = service.ask('GET', f'/v1/groups/{group}')
    assert again.headers['ETag'] == tags[-1]


@pytest.mark.parametrize('path', ['', '/placements', '/events'])
def test_a_known_representation_is_not_sent_again(service, path):
    group = service.planned()
    tag = service.ask('GET', f'/v1/groups/{group}{path}').headers['ETag']
    for known in (tag, f'"x", {tag}', f'"x",{tag}', f'W/"x",W/{tag},"y"',
                  f'W/{tag}', '*'):
        answer = service.ask('GET', f'/v1/groups/{group}{path}',
                             headers={'If-None-Match': known})
        assert (answer.status_int, answer.body) == (304, b'')
        assert answer.headers['ETag'] == tag
    for other in ('"x"', '"x","*"', '', f'"x{tag[1:]}'):
        answer = service.ask('GET', f'/v1/groups/{group}{path}',
                             headers={'If-None-Match': other})
        assert answer.status_int == 200


@pytest.mark.parametrize('header', [
    {'If-Match': '*'}, {'If-Match': '1'}, {'If-Match': 'W/"1"'},
    {'If-Match': '"one"'}])
def test_a_revision_requires_a_valid_if_match_header(service, header):
    group = service.planned()
    answer = service.ask('PUT', f'/v1/groups/{group}', {'group': SHOP},
                         headers=header)
    assert refusal(answer)[:2] == (400, 'holistic.invalid_header')


@pytest.mark.parametrize('method, path, body', [
    ('PUT', '', {'group': SHOP}), ('POST', '/replan', {'replan': {}}),
    ('POST', '/members', {'members': [MORE]}), ('DELETE', '/members/web',
                                                None)])
def test_a_group_being_planned_cannot_be_changed(service, method, path, body):
    group = service.created()['id']
    answer = service.ask(method, f'/v1/groups/{group}{path}', body,
                         headers={'If-Match': '"1"'})
    assert refusal(answer)[:2] == (409, 'holistic.conflict')
    assert service.table.get_group(group).task == Task.PLANNING


def test_a_repeated_create_returns_the_same_group(service):
    body, key = {'group': SHOP}, {'Idempotency-Key': 'a key, of mine'}
    first = service.ask('POST', '/v1/groups', body, headers=key)
    service.settle(first.json['group']['id'])
    again = service.ask('POST', '/v1/groups', dict(reversed(body.items())),
                        headers=key)
    assert again.json['group']['id'] == first.json['group']['id']
    assert len(service.table.list_groups()) == 1
    answer = service.ask('POST', '/v1/groups', {**body, 'lease': 1},
                         headers=key)
    assert refusal(answer)[:2] == (409, 'holistic.idempotency_key_used')


def test_an_idempotency_key_belongs_to_one_project(service):
    key = {'Idempotency-Key': 'one'}
    own_group = service.ask('POST', '/v1/groups', {'group': SHOP}, headers=key)
    other_group = service.ask(
        'POST', '/v1/groups', {'group': SHOP}, OTHER_PROJECT, key)
    assert own_group.json['group']['id'] != other_group.json['group']['id']


def test_an_idempotency_key_is_free_after_its_group_is_deleted(service):
    key = {'Idempotency-Key': 'one'}
    first = service.ask('POST', '/v1/groups', {'group': SHOP}, headers=key)
    service.table.delete_group(first.json['group']['id'])
    again = service.ask('POST', '/v1/groups', {'group': {
        **SHOP, 'name': 'other'}}, headers=key)
    assert again.status_int == 202


@pytest.mark.parametrize('key', ['', 'é', 'a\tb', 'x' * 256])
def test_an_invalid_idempotency_key_is_refused(service, key):
    answer = service.ask('POST', '/v1/groups', {'group': SHOP},
                         headers={'Idempotency-Key': key})
    assert refusal(answer)[:2] == (400, 'holistic.invalid_header')


def test_concurrent_creates_with_one_key_make_one_group(service):
    answers, gate = [], threading.Barrier(6)

    def create():
        gate.wait()
        answers.append(service.ask(
            'POST', '/v1/groups', {'group': SHOP},
            headers={'Idempotency-Key': 'one'}))

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_int for answer in answers} == {202}
    assert len({a.json['group']['id'] for a in answers}) == 1
    assert len(service.table.list_groups()) == 1
    assert len(service.engines.asked) == 1


def test_a_project_cannot_exceed_its_group_limit(start):
    service = start(max_groups_per_project=2)
    service.created(), service.created(token=OTHER_PROJECT)
    service.created()
    answer = service.ask('POST', '/v1/groups', {'group': SHOP})
    assert refusal(answer)[:2] == (403, 'holistic.over_limit')
    assert service.created(token=OTHER_PROJECT)


def test_a_group_cannot_exceed_its_member_limit(start):
    service = start(max_members_per_group=3)
    answer = service.ask('POST', '/v1/groups', {'group': SHOP})
    assert refusal(answer)[:2] == (403, 'holistic.over_limit')
    assert service.created({'name': 'three', 'members': [
        {**MORE, 'count': 3}]})


def test_a_repeated_create_does_not_count_as_another_group(start):
    service = start(max_groups_per_project=1)
    for _ in range(2):
        assert service.ask('POST', '/v1/groups', {'group': SHOP}, headers={
            'Idempotency-Key': 'one'}).status_int == 202


def test_an_administrator_deletes_on_behalf_of_a_project(service):
    group = service.planned()
    assert service.ask('DELETE', f'/v1/groups/{group}',
                       token=ADMIN).status_int == 204
    assert service.engines.asked[-1] == ('delete', group, None)


def test_a_change_is_logged_with_its_user(service, caplog):
    caplog.set_level('INFO', 'nova_holistic.api')
    answer = service.ask('POST', '/v1/groups', {'group': SHOP}, MEMBER)
    (line,) = [r.getMessage() for r in caplog.records]
    for part in ('POST', '/v1/groups/' + answer.json['group']['id'], 'ann',
                 'blue', answer.headers['X-Openstack-Request-Id']):
        assert part in line


WITH_VOLUME = {'name': 'g', 'groups': [{'name': 'db', 'members': [
    MORE, {'name': 'data', 'kind': 'volume', 'size': 5}]}]}


def test_earlier_versions_create_no_groups_with_volumes(service):
    answer = service.ask('POST', '/v1/groups', {'group': WITH_VOLUME})
    assert refusal(answer)[:2] == (400, 'holistic.invalid_document')
    assert refusal(answer)[2].startswith('groups[0].members[1].kind: ')


def test_the_limit_of_a_project_counts_no_volumes(start):
    service = start(max_members_per_project=1)
    for expected in 202, 403:
        assert service.ask(
            'POST', '/v1/groups', {'group': WITH_VOLUME}, headers={
                'OpenStack-API-Version': 'holistic 1.6'},
        ).status_int == expected


def test_an_existing_group_gets_no_volumes(service):
    group = service.planned()
    answer = service.ask('PUT', f'/v1/groups/{group}', {'group': WITH_VOLUME},
                         headers={'If-Match': '"1"'})
    assert refusal(answer)[:2] == (400, 'holistic.invalid_document')


def test_a_dry_run_accepts_volumes(service):
    answer = service.ask('POST', '/v1/plans', {'group': WITH_VOLUME})
    assert answer.status_int == 202
    assert service.engines.asked[-1][0] == 'plan'


def test_a_parent_plans_no_volumes(service):
    service.federation = object()
    service.renew()
    for path in '/v1/plans', '/v1/groups':
        answer = service.ask('POST', path, {'group': WITH_VOLUME})
        assert refusal(answer)[:2] == (400, 'holistic.not_offered')
    assert not service.engines.asked
