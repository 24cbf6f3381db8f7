# SPDX-License-Identifier: Apache-2.0
"""A child over HTTP: the real API, and faulty servers."""

import contextlib
from datetime import timedelta
import json
import threading
import time
from urllib.parse import parse_qs, urlsplit
import uuid

from keystoneauth1 import exceptions as ks_exceptions
import pytest

from nova_holistic.federation.child import (
    ChildDefinition, ChildGroup, Offer, Refusal, RefusalKind, UpdateTerms)
from nova_holistic.federation.http.traffic import HttpLimits, Traffic
from nova_holistic.federation.update.part_definition import change_definition
from nova_holistic.table.records import GroupStatus, PlanStatus
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import MEMBER, NOON, OTHER_PROJECT, Service
from tests.unit.federation.http_servers import (
    answering, http_child, serving)
from tests.unit.table.builders import members_of

SHOP = {'name': 'shop', 'members': [
    {'name': 'node', 'count': 2, 'resources': {'VCPU': 1}}]}
UUID = '11111111-2222-3333-4444-555555555555'
PLAN = {'id': UUID, 'status': 'planned', 'placements': [
    {'member': 'node-0'}, {'member': 'node-1'}],
    'objective': {'name': 'spread', 'value': 2.5, 'bound': 2.5, 'gap': 0}}


@pytest.fixture
def service(tmp_path):
    return Service(PlacementTable(new_table(tmp_path)))


@pytest.fixture
def child(service):
    with serving(service.app, MEMBER.headers()) as url:
        yield http_child(url)


def planned(service):
    """Let an engine plan each group immediately."""
    def act(group_uuid):
        record = service.table.get_group(group_uuid)
        service.settle(group_uuid, lease_expires_at=NOON + timedelta(
            seconds=record.pending['lease']))
        service.table.write_members(
            group_uuid, members_of(record, {'node': 2}))
    service.engines.acts['plan_group'] = act


def test_an_offer_of_the_real_api(service, child):
    service.engines.acts['plan'] = lambda uuid: service.make_plan(
        uuid, group='shop', placements=[
            {'member': 'node-0', 'host': 'h1', 'node': 'h1', 'location': []},
            {'member': 'node-1', 'host': 'h1', 'node': 'h1', 'location': []}],
        objective={'name': 'spread', 'value': 2.0, 'bound': 2.0, 'gap': 0.0},
        preference_cost={'value': 3.0, 'bound': 3.0, 'gap': 0.0},
        headroom={'at_least': 4, 'at_most': 5})
    found = child.offer(SHOP, None, 5, ('headroom',))
    assert found == Offer('dfw', 3.0, 'spread', 2.0, 2.0, False, 4,
                          NOON + timedelta(seconds=60), 5)


@pytest.mark.parametrize('status, kind', [
    (PlanStatus.UNPLACEABLE, RefusalKind.UNPLACEABLE),
    (PlanStatus.UNKNOWN, RefusalKind.UNKNOWN),
    (PlanStatus.ERROR, RefusalKind.INVALID)])
def test_a_refusal_of_the_real_api(service, child, status, kind):
    service.engines.acts['plan'] = lambda uuid: service.make_plan(
        uuid, status, reasons=[
            {'at': 'node', 'message': 'no room', 'public': 'no room'}])
    found = child.offer(SHOP, None, 5)
    assert (found.kind, found.child) == (kind, 'dfw')
    (reason,) = found.reasons
    assert (reason.at, reason.message) == ('node', 'cloud dfw: no room')


def test_an_invalid_document_is_refused_by_the_real_api(child):
    found = child.offer({'name': 'shop', 'members': [{'name': 'a b'}]},
                        None, 5)
    assert found.kind is RefusalKind.INVALID
    assert 'members[0].name' in found.reasons[0].message


def test_a_plan_that_is_not_ready_in_time_is_unknown(child):
    assert child.offer(SHOP, None, 0.3).kind is RefusalKind.UNKNOWN


def test_a_group_of_the_real_api_from_begin_to_end(service, child):
    planned(service)
    found = child.create(SHOP, None, 60, 'key-1', 5)
    assert isinstance(found, ChildGroup)
    assert (found.status, found.settled) == ('planned', True)
    assert found.lease_end == NOON + timedelta(seconds=60)
    # The key identifies the group, so the engine plans only once.
    assert child.create(SHOP, None, 60, 'key-1', 5).uuid == found.uuid
    assert [name for name, *_ in service.engines.asked] == ['plan_group']
    shown = child.show(found.uuid)
    assert shown.counts == {'planned': 2}
    assert len(shown.members) == 2
    service.engines.acts['extend'] = lambda uuid, seconds, revision: (
        service.table.update_group(
            uuid, (GroupStatus.PLANNED,),
            lease_expires_at=NOON + timedelta(seconds=seconds)))
    extended = child.extend(found.uuid, 600)
    assert extended.lease_end == NOON + timedelta(seconds=600)
    assert child.release(found.uuid, ['node-0']) is None
    assert ('release', found.uuid, ['node-0'], None) in service.engines.asked
    assert child.delete(found.uuid) is None
    assert ('delete', found.uuid, None) in service.engines.asked


def test_a_key_for_another_document_is_refused(service, child):
    planned(service)
    child.create(SHOP, None, 60, 'key-1', 5)
    found = child.create({**SHOP, 'name': 'other'}, None, 60, 'key-1', 5)
    assert found.kind is RefusalKind.INVALID


def test_a_group_that_cannot_be_placed_has_reasons(service, child):
    service.engines.acts['plan_group'] = lambda uuid: service.settle(
        uuid, GroupStatus.UNPLACEABLE, reasons=[
            {'at': '', 'message': 'full', 'public': 'full'}])
    found = child.create(SHOP, None, 60, 'key-1', 5)
    assert found.status == 'unplaceable'
    assert [each.message for each in found.reasons] == ['cloud dfw: full']


def test_a_missing_group_counts_as_deleted_and_released(child):
    assert child.show(UUID) is None
    assert child.extend(UUID, 60) is None
    assert child.delete(UUID) is None
    assert child.release(UUID, None) is None


def test_a_request_of_a_user_without_the_right_is_denied(service):
    headers = {**OTHER_PROJECT.headers(), 'X-Roles': 'reader'}
    with serving(service.app, headers) as url:
        assert http_child(url).create(
            SHOP, None, 60, 'k', 5).kind is RefusalKind.DENIED


# Faulty servers.

def send(handler, status, body, **headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {'Content-Length': len(body), **headers}.items():
        handler.send_header(name.replace('_', '-'), str(value))
    handler.end_headers()
    handler.wfile.write(body)


def offered(respond, **limits):
    with answering(respond) as url:
        return http_child(url, **limits).offer(SHOP, None, 5)


def test_a_closed_port_is_unreachable():
    with answering(lambda handler: None) as url:
        pass
    assert http_child(url).offer(
        SHOP, None, 1).kind is RefusalKind.UNREACHABLE


@pytest.mark.parametrize('status', [429, 500, 502, 503, 504])
def test_a_service_that_cannot_work_now_is_unreachable(status):
    found = offered(lambda handler: send(handler, status, b'<html>'))
    assert found.kind is RefusalKind.UNREACHABLE


@pytest.mark.parametrize('status', [401, 403])
def test_a_service_in_front_of_the_api_that_refuses_the_user(status):
    found = offered(lambda handler: send(handler, status, b'<html>'))
    assert found.kind is RefusalKind.FORBIDDEN


@pytest.mark.parametrize('answer', [
    b'', b'<html>', b'[' * 100_000, b'{"plan": 1}', [],
    {'plan': {**PLAN, 'status': 'splendid'}},
    {'plan': {**PLAN, 'id': '../groups'}},
    {'plan': {**PLAN, 'placements': PLAN['placements'][:1]}},
    {'plan': {**PLAN, 'placements': [{'member': 'node-0'}] * 2}},
    {'plan': {**PLAN, 'preference_cost': {'value': -5}}},
    b'{"plan": {"id": "%s", "status": "planned", "objective": '
    b'{"name": "spread", "value": NaN}}}' % UUID.encode(),
    {'plan': {**PLAN, 'objective': {'name': 'spread', 'value': 'low'}}},
    {'plan': {**PLAN, 'objective': {'name': 'spread', 'value': 10**400}}},
    {'plan': {**PLAN, 'objective': {
        'name': 'spread', 'value': 2.5, 'bound': -1e308}}},
    {'plan': {**PLAN, 'preference_cost': {'value': 1e308}}},
    {'plan': {**PLAN, 'placements': [{'member': 'x' * 10_000}]}}])
def test_an_answer_that_the_api_does_not_describe_is_invalid(answer):
    found = offered(lambda handler: send(handler, 201, answer))
    assert isinstance(found, Refusal)
    assert found.kind is RefusalKind.INVALID
    assert len(found.reasons[0].message) < 3000


GROUP = {'id': UUID, 'name': 'shop', 'status': 'planned', 'task': None,
         'members': {'planned': 1}, 'lease_expires_at': None}
BELOW = {'member': 'node-0', 'state': 'planned', 'cloud': 'eu/ams',
         'pointer': {'holistic_group': UUID, 'holistic_member': 'node-0'}}


def shown(placement):
    """Return the group that a child with one member shows."""
    def respond(handler):
        send(handler, 200, {'placements': [placement]} if handler.path
             .endswith('/placements') else {'group': GROUP})
    with answering(respond) as url:
        return http_child(url).show(UUID)


def test_the_cloud_of_a_member_below_another_parent():
    assert [each.pointer for each in shown(BELOW).members] == [
        ('eu/ams', UUID)]
    assert [each.pointer for each in shown(
        {'member': 'node-0', 'state': 'planned'}).members] == [None]


@pytest.mark.parametrize('change', [
    {'cloud': '/ams'}, {'cloud': 'ams/'}, {'cloud': 'a/' * 8 + 'a'},
    {'cloud': 5}, {'pointer': None},
    {'pointer': {**BELOW['pointer'], 'holistic_group': '../groups'}},
    {'pointer': {**BELOW['pointer'], 'holistic_member': 'node-1'}}])
def test_a_pointer_that_no_parent_shows_is_invalid(change):
    found = shown({**BELOW, **change})
    assert isinstance(found, Refusal)
    assert found.kind is RefusalKind.INVALID


@pytest.mark.parametrize('time', [
    'tomorrow', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00'])
def test_a_lease_that_ends_at_an_impossible_time_is_invalid(time):
    with answering(lambda handler: send(handler, 201, {'group': {
            **GROUP, 'lease_expires_at': time}})) as url:
        found = http_child(url).create(SHOP, None, 60, 'key', 5)
    assert isinstance(found, Refusal)
    assert found.kind is RefusalKind.INVALID


@pytest.mark.parametrize('text, is_valid', [
    ('\ud800', False), ('a\0', False), ('\\\0', False),
    ('\U0001f600', True), ('\\u0000', True)])
def test_text_that_no_database_stores_is_invalid(text, is_valid):
    """The parent stores the project. JSON can escape each character."""
    with answering(lambda handler: send(handler, 201, {'group': {
            **GROUP, 'project_id': text}})) as url:
        found = http_child(url).create(SHOP, None, 60, 'key', 5)
    if is_valid:
        assert found.project_id == text
    else:
        assert isinstance(found, Refusal)
        assert found.kind is RefusalKind.INVALID


def test_a_body_that_is_not_utf_8_is_invalid():
    body = json.dumps({'plan': {**PLAN, 'message': '#'}}).encode()
    with answering(lambda handler: send(handler, 201, body.replace(
            b'#', b'\xed\xa0\x80'))) as url:
        found = http_child(url).offer(SHOP, None, 5)
    assert isinstance(found, Refusal)
    assert found.kind is RefusalKind.INVALID


def test_a_list_without_an_end_is_invalid():
    seen = []

    def respond(handler):
        seen.append(handler.path)
        send(handler, 200, {
            'groups': [{**GROUP, 'id': str(uuid.UUID(int=len(seen)))}]
            if len(seen) < 500 else [], 'groups_links': [{}]})
    with answering(respond) as url:
        found = http_child(url, per_second=1e6).find('key', 'shop')
    assert isinstance(found, Refusal)
    assert found.kind is RefusalKind.INVALID
    assert len(seen) == 100


def test_a_list_continues_where_the_link_of_the_child_states():
    """The last group of the first page may be deleted in the meantime."""
    queries = []

    def respond(handler):
        queries.append(parse_qs(urlsplit(handler.path).query))
        send(handler, 200, {'groups': [{
            **GROUP, 'idempotency_key': 'key' if queries[1:] else 'other'}],
            'groups_links': [{'rel': 'next', 'href': (
                'http://elsewhere/v1/groups?name=other'
                f'&marker={GROUP["id"]}&position=abc')}]})
    with answering(respond) as url:
        assert http_child(url).find('key', 'shop').uuid == GROUP['id']
    assert queries[1] == {'name': ['shop'], 'marker': [GROUP['id']],
                          'position': ['abc']}


@contextlib.contextmanager
def closing(*answers):
    """Yield a child and the methods of its requests. The child closes a
    kept connection instead of sending a response that is None."""
    left, seen = list(answers), []

    def respond(handler):
        seen.append(handler.command)
        answer = left.pop(0)
        if answer is None:
            handler.close_connection = True
        else:
            send(handler, 200, answer)
    with answering(respond, keep=True) as url:
        yield http_child(url), seen


def test_a_read_on_a_connection_that_the_child_closes_is_repeated():
    with closing({'group': GROUP}, None, {'placements': []}) as (child, seen):
        assert child.show(UUID).uuid == UUID
    assert seen == ['GET'] * 3


def test_a_read_is_repeated_once():
    with closing(None, None, {'group': GROUP}) as (child, seen):
        assert child.show(UUID).kind is RefusalKind.UNREACHABLE
    assert seen == ['GET'] * 2


def test_a_request_that_may_have_been_carried_out_is_not_repeated():
    with closing(None, {'group': GROUP}) as (child, seen):
        assert child.extend(UUID, 60).kind is RefusalKind.UNREACHABLE
    assert seen == ['POST']


def test_a_newer_child_may_add_keys():
    found = offered(lambda handler: send(handler, 201, {
        'plan': {**PLAN, 'mood': 'good'}, 'weather': 1}))
    assert found.perfect


def test_a_large_answer_is_not_read_to_its_end():
    sent = []

    def respond(handler):
        handler.send_response(201)
        handler.end_headers()
        for _ in range(1000):
            handler.wfile.write(b' ' * 2**16)
            sent.append(1)
    assert offered(respond, most_bytes=2**18).kind is RefusalKind.INVALID
    assert len(sent) < 1000


def test_a_compressed_answer_is_refused():
    assert offered(lambda handler: send(
        handler, 201, b'x', Content_Encoding='gzip')
    ).kind is RefusalKind.INVALID


def test_a_slow_answer_ends_at_the_time_limit():
    stop = threading.Event()

    def respond(handler):
        handler.send_response(201)
        handler.end_headers()
        while not stop.wait(0.05):
            handler.wfile.write(b' ')
    with answering(respond) as url:
        found = http_child(url, seconds=0.5)._create(SHOP, None, 60, 'k', 0)
        stop.set()
    assert found.kind in (RefusalKind.UNREACHABLE, RefusalKind.INVALID)


def test_a_redirection_does_not_receive_the_token():
    seen = []
    with answering(lambda handler: seen.append(handler.path)) as other:
        found = offered(lambda handler: send(
            handler, 302, b'', Location=other + '/v1/plans'))
    assert found.kind is RefusalKind.INVALID
    assert seen == []


def test_identical_requests_of_one_user_are_sent_once():
    seen, go = [], threading.Event()

    def respond(handler):
        seen.append(handler.path)
        go.wait(5)
        send(handler, 201, {'plan': PLAN})
    with answering(respond) as url:
        ann = http_child(url)
        bob = http_child(url, 'bob@blue', ann.exchange.traffic)
        found = []
        threads = [threading.Thread(
            target=lambda c=child: found.append(c.offer(SHOP, None, 5)))
            for child in (ann, ann, ann, bob)]
        for thread in threads:
            thread.start()
        while len(seen) < 2:
            time.sleep(0.01)
        time.sleep(0.2)
        go.set()
        for thread in threads:
            thread.join()
    # Users never share a response.
    assert len(seen) == 2
    assert len(found) == 4
    assert all(each.perfect for each in found)


def test_the_rate_of_requests_is_limited():
    waits, now = [], [0.0]

    def sleep(seconds):
        waits.append(seconds)
        now[0] += seconds
    traffic = Traffic(HttpLimits(per_second=10.0), lambda: now[0], sleep)
    for _ in range(30):
        traffic.call(lambda: None, 60)
    # The first ten requests are not delayed. Then ten are sent per second.
    assert now[0] == pytest.approx(2.0, abs=0.11)


@pytest.mark.parametrize('seconds, paused', [(29.0, False), (30.0, True)])
def test_an_error_of_the_connection_after_the_time_limit_pauses_offers(
        seconds, paused):
    """The time limits of the connection and of the call end at about the same
    time. Either of them may be first."""
    now = [0.0]

    def fail():
        now[0] += seconds
        raise ks_exceptions.ConnectTimeout('no answer')
    traffic = Traffic(HttpLimits(), lambda: now[0], time.sleep)
    with pytest.raises(ks_exceptions.ConnectTimeout):
        traffic.call(fail, 30.0)
    assert traffic.is_paused is paused


def test_requests_and_bytes_are_counted():
    with answering(lambda handler: send(
            handler, 201, {'plan': PLAN})) as url:
        child = http_child(url)
        child.offer(SHOP, None, 5)
    counters = child.exchange.traffic.counters
    assert counters.requests == 1
    assert counters.bytes_received == len(json.dumps({'plan': PLAN}))
    assert counters.bytes_sent == len(json.dumps({'group': SHOP}))


def test_a_child_that_exceeded_a_time_limit_does_not_delay_the_next_group():
    stop, seen = threading.Event(), []

    def respond(handler):
        seen.append(handler.path)
        stop.wait(10)
    with answering(respond) as url:
        child = http_child(url, seconds=0.3)
        assert child.offer(SHOP, None, 0).kind is RefusalKind.UNREACHABLE
        assert child.offer(SHOP, None, 0).kind is RefusalKind.UNREACHABLE
        assert len(seen) == 1
        # An existing group can still be shown and deleted.
        assert child.delete(UUID).kind is RefusalKind.UNREACHABLE
        assert len(seen) == 2
        stop.set()


def test_a_definition_that_has_changed_in_the_child_is_read_again(
        service, child):
    """A user of the child updates the group between the request of the parent
    for its definition and the parent's update."""
    planned(service)
    group = child.create(SHOP, None, 60, 'k', 5).uuid
    read, versions = child.definition, []

    def definition(uuid):
        found = read(uuid)
        if not versions:
            service.table.update_group(uuid, [GroupStatus.PLANNED], revision=2)
        versions.append(found.revision)
        return found

    def update(group_uuid):
        record = service.table.get_group(group_uuid)
        service.settle(group_uuid, revision=record.revision + 1,
                       document=record.pending['document'])
    child.definition = definition
    service.engines.acts['plan_group'] = update
    more = {**SHOP, 'members': [{**SHOP['members'][0], 'count': 3}]}
    found = change_definition(child, group, more, UpdateTerms(None, 5))
    assert isinstance(found, ChildDefinition), found
    assert (found.document, found.revision) == (more, 3)
    assert versions == [1, 2, 3]
