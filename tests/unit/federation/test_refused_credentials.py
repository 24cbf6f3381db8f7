# SPDX-License-Identifier: Apache-2.0
"""A child refuses the credentials of a user for some time: the parent forgets
no group that the child may have."""

from dataclasses import replace

import pytest

from nova_holistic.federation.child import Refusal, RefusalKind
from nova_holistic.federation.http import answers
from nova_holistic.federation.http.exchange import Answer
from nova_holistic.federation.results import Placed, Refused, Unknown
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.federation.clouds import Federation, member, small
from tests.unit.federation.http_servers import exchange, serving
from tests.unit.federation.test_hidden_groups import (
    Child, ParentOverHttp, SHOP)
from tests.unit.federation.test_saga import LIMITS

EXPIRED = Refusal('ams', RefusalKind.FORBIDDEN)


class SlowChild(Child):
    """A child whose engine begins to place a group when the group is shown
    again.

    :ivar expires: whether the token of the user expires after its create
        request
    """

    def __init__(self, table):
        super().__init__(table)
        self.expires = False
        self.expired = False

    def __call__(self, environ, start_response):
        if self.expired and environ['REQUEST_METHOD'] != 'POST':
            start_response('401 Unauthorized', [('Content-Length', '0')])
            return [b'']
        return super().__call__(environ, start_response)

    def _place(self, group_uuid):
        if self.expires:
            self.expired = True
        else:
            super()._place(group_uuid)


@pytest.fixture
def child(tmp_path):
    return SlowChild(PlacementTable(new_table(tmp_path, 'child.sqlite')))


@pytest.fixture
def parent(tmp_path, child):
    with serving(child) as url:
        found = ParentOverHttp(
            PlacementTable(new_table(tmp_path)), url)
        yield found
        found.engines.stop()


def test_a_group_is_deleted_whose_token_expired_while_it_was_planned(
        parent, child):
    parent.delete()
    assert child.groups() == []
    child.expires = True
    group = parent.post(SHOP)
    assert group['status'] == 'error', group
    assert 'cloud dfw' in group['reasons'][0]['message']
    (part,) = parent.table.parts.of_group(group['id'])
    assert (part.state, [part.child_group]) == ('undoing', child.groups())
    # The user sends a request with a new token.
    child.expires = child.expired = False
    (uuid,) = child.groups()
    child.service.settle(uuid)
    parent.get(group['id'])
    assert child.groups() == []
    assert parent.table.parts.of_group(group['id']) == ()


def test_a_refusal_after_a_lost_answer_proves_nothing():
    """The child has created the group, its answer was lost, and the token of
    the user has expired before the repeated request."""
    federation = Federation(limits=LIMITS, ams=small('a1'))
    child = federation.children['ams']
    create = child.create
    answered = []

    def expiring(*words):
        if answered:
            return EXPIRED
        found = create(*words)
        answered.append(found.uuid)
        return Refusal('ams', RefusalKind.UNREACHABLE)

    child.create = expiring
    child.find = lambda key, name: EXPIRED
    federation.place({'name': 'shop', 'members': [member('node')]})
    (record,) = federation.journal.records.values()
    assert (record.state, len(answered)) == ('undoing', 1)


def test_a_group_is_placed_later_if_no_cloud_accepts_the_token(parent, child):
    """The keystone of the clouds refuses every token for some time."""
    parent.delete()
    answer, child.service.app = child.service.app, refusing
    group = parent.post(SHOP)
    messages = [each['message'] for each in group['reasons']]
    assert (group['status'], messages) == ('error', [
        'no cloud accepts the request with the rights of the user there '
        '(dfw), and so no cloud has decided whether the group fits; the '
        'answer of each cloud follows', 'cloud dfw: HTTP status 401'])
    plan = parent.planned(SHOP)
    assert plan['status'] == 'unknown'
    assert 'cloud dfw: HTTP status 401' in plan['message']
    child.service.app = answer
    parent.group = group['id']
    assert parent.replan()['status'] == 'planned'


def test_the_answer_of_each_cloud_that_does_not_accept_the_user_is_named():
    """The token has expired in one cloud; in the other cloud, the group
    belongs to another project."""
    federation = Federation(ams=small('a1'), dfw=small('b1'))
    for name, text in (('ams', 'HTTP status 401'),
                       ('dfw', 'group 5 belongs to project blue')):
        refused = Refusal(name, RefusalKind.FORBIDDEN, (
            answers.reason(name, '', text),))
        federation.children[name].offer = lambda *words, no=refused: no
    found = federation.place({'name': 'shop', 'members': [member('node')]})
    assert isinstance(found, Unknown)
    first, *others = [each.message for each in found.reasons]
    assert '(ams, dfw)' in first and 'credentials' not in first
    assert others == ['cloud ams: HTTP status 401',
                      'cloud dfw: group 5 belongs to project blue']


def test_a_limit_of_the_project_is_no_refusal_of_the_user(parent, child):
    parent.delete()
    child.service.conf.set_override(
        'max_members_per_project', 1, group='holistic_api')
    child.service.renew()
    group = parent.post(SHOP)
    (reason,) = group['reasons']
    assert group['status'] == 'error'
    assert 'cloud dfw: ' in reason['message'] and (
        'holistic_members' in reason['message'])
    assert parent.table.parts.of_group(group['id']) == ()


def test_a_group_is_divided_if_the_whole_exceeds_a_limit():
    """The project may have one more member in each of two clouds."""
    federation = Federation(ams=small('a1'), dfw=small('b1'))
    for child in federation.children.values():
        child.create = _limited(child)
    found = federation.place({'name': 'shop', 'groups': [
        {'name': name, 'members': [member('node')]} for name in 'ab']})
    assert isinstance(found, Placed), found
    assert {each.child for each in found.parts} == {'ams', 'dfw'}


def _limited(child):
    """Return a method that creates groups of one member only."""
    create = child.create
    over_limit = exchange('http://127.0.0.1:9')._refused(Answer(403, {
        'errors': [{'code': 'holistic.over_limit', 'detail': 'too many'}]}))

    def limited(document, *words):
        if len(document['groups']) > 1:
            return replace(over_limit, child=child.name)
        return create(document, *words)
    return limited


def test_a_cloud_that_accepts_the_user_decides_about_the_group():
    """The user has no access to one of two clouds, and the group is too large
    for the other one."""
    federation = Federation(ams=small('a1'), dfw=small('b1'))
    federation.children['ams'].offer = lambda *words: EXPIRED
    found = federation.place({'name': 'shop', 'members': [
        member('node', 17)]})
    assert isinstance(found, Refused)


def refusing(environ, start_response):
    start_response('401 Unauthorized', [('Content-Length', '0')])
    return [b'']
