# SPDX-License-Identifier: Apache-2.0
"""A child answers 404 for a group that it has, because the credentials of the
request are of another project, or because a proxy answers."""

from dataclasses import replace
from datetime import timedelta

from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import noauth
import pytest
import webob

from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.http.traffic import HttpLimits
from nova_holistic.table.records import GroupStatus
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import ADMIN, MEMBER, NOON, refusal, Service
from tests.unit.federation.http_servers import serving
from tests.unit.federation.parent import Parent
from tests.unit.table.builders import members_of

SHOP = {'name': 'shop', 'groups': [{'name': 'db', 'members': [
    {'name': 'node', 'count': 2, 'resources': {'VCPU': 1}}]}]}
RED, BLUE = replace(MEMBER, project='red'), MEMBER
"""The tokens of the user in two projects of the child."""


class Credential(noauth.NoAuth):
    """An application credential. The child trusts its headers."""

    def __init__(self, token):
        super().__init__()
        self.token = token

    def get_headers(self, session, **options):
        return self.token.headers()

    def get_project_id(self, session, **options):
        if self.token.project == 'unavailable':
            raise ks_exceptions.ServiceUnavailable
        return self.token.project


class Child:
    """The API of a child with an engine that places every group.

    :ivar is_behind_proxy: whether only a proxy answers instead of the API
    :ivar before_put: called before the first update
    """

    def __init__(self, table):
        self.is_behind_proxy = False
        self.before_put = None
        self.service = Service(table)
        self.service.engines.acts.update(
            plan=self._plan, plan_group=self._place, extend=self._extend,
            delete=lambda group_uuid, revision: table.delete_group(
                group_uuid))

    def __call__(self, environ, start_response):
        if environ['REQUEST_METHOD'] == 'PUT' and self.before_put:
            self.before_put()
            self.before_put = None
        app = self.service.app
        if self.is_behind_proxy:
            app = webob.Response(status=404, text='<html>no backend</html>')
        return app(environ, start_response)

    def groups(self):
        """Return the UUIDs of the groups that the child has."""
        return [each.uuid for each in self.service.table.list_groups()]

    def _plan(self, plan_uuid):
        self.service.make_plan(
            plan_uuid, group='shop', objective={
                'name': 'spread', 'value': 2.0, 'bound': 2.0, 'gap': 0.0},
            placements=[{'member': f'db/node-{number}', 'host': 'h1',
                         'node': 'h1', 'location': []}
                        for number in range(2)])

    def _place(self, group_uuid):
        self.service.settle(group_uuid)
        self._extend(group_uuid, 3600)
        self.service.table.write_members(group_uuid, members_of(
            self.service.table.get_group(group_uuid), {'node': 2}))

    def _extend(self, group_uuid, seconds, revision=None):
        self.service.table.update_group(
            group_uuid, (GroupStatus.PLANNED,),
            lease_expires_at=NOON + timedelta(seconds=seconds))


class Credentials(UserChildren):
    """The children with one credential for all users.

    :ivar token: the token that the child gets
    """

    def __init__(self, url):
        self.token = BLUE
        super().__init__(
            [ChildEntry('dfw', endpoint=url)],
            HttpLimits(seconds=5.0, per_second=1000.0), None, lambda: NOON)

    def _authentication(self, user, entry):
        return Credential(self.token)


class ParentOverHttp(Parent):
    """A parent with a child over HTTP.

    :ivar children: the child with its current credential
    :ivar group: UUID of a group in the child
    """

    def __init__(self, table, url):
        self.children = Credentials(url)
        super().__init__(table)
        self.group = self.post(SHOP)['id']

    def user_children(self):
        return self.children

    def replan(self):
        assert self.ask('POST', f'/v1/groups/{self.group}/replan',
                        {'replan': {}}).status_int == 202
        return self.settled(self.group)

    def delete(self):
        return self.ask('DELETE', f'/v1/groups/{self.group}')


@pytest.fixture
def child(tmp_path):
    return Child(PlacementTable(new_table(tmp_path, 'child.sqlite')))


@pytest.fixture
def parent(tmp_path, child):
    """A parent that has placed a group in the project ``blue`` of a child."""
    with serving(child) as url:
        found = ParentOverHttp(PlacementTable(new_table(tmp_path)), url)
        yield found
        found.engines.stop()


def test_the_project_of_a_part_is_stored(parent):
    (part,) = parent.table.parts.of_group(parent.group)
    assert (part.state, part.child_project) == ('committed', 'blue')


def test_members_in_another_project_are_not_lost(parent):
    parent.children.token = RED
    assert parent.get(parent.group)['members'] == {'planned': 2}


def test_a_part_in_another_project_is_not_placed_again(parent, child):
    parent.children.token = RED
    after = parent.replan()
    (reason,) = after['reasons']
    assert 'belongs to project blue of this cloud' in reason['message']
    assert 'to project red' in reason['message']
    assert len(child.groups()) == 1
    parent.children.token = BLUE
    assert parent.replan()['reasons'] == []


def test_a_part_in_another_project_is_not_deleted(parent, child):
    parent.children.token = RED
    status, code, detail = refusal(parent.delete())
    assert (status, code) == (503, 'holistic.child_failed')
    assert 'belongs to project blue of this cloud' in detail
    assert len(child.groups()) == 1
    parent.children.token = BLUE
    assert parent.delete().status_int == 204
    assert child.groups() == []


@pytest.mark.parametrize('path, body', [
    ('release', {'release': {}}), ('extend', {'extend': {'seconds': 60}})])
def test_changes_of_a_part_in_another_project_are_refused(parent, path, body):
    parent.children.token = RED
    answer = parent.ask('POST', f'/v1/groups/{parent.group}/{path}', body)
    assert 'belongs to project blue' in refusal(answer)[2]


def test_a_part_is_not_gone_while_its_project_cannot_be_compared(
        parent, child):
    parent.children.token = replace(MEMBER, project='unavailable')
    assert parent.get(parent.group)['members'] == {'planned': 2}
    assert refusal(parent.delete())[1] == 'holistic.child_failed'


def test_an_administrator_deletes_a_group_whose_part_is_gone(parent, child):
    """Administrators see the groups of all projects."""
    child.service.table.delete_group(child.groups()[0])
    parent.children.token = RED
    assert parent.delete().status_int == 503
    parent.children.token = ADMIN
    assert parent.delete().status_int == 204


def test_a_part_that_its_project_no_longer_shows_is_gone(parent, child):
    child.service.table.delete_group(child.groups()[0])
    assert parent.get(parent.group)['members'] == {'lost': 2}
    after = parent.replan()
    assert (after['reasons'], after['members']) == ([], {'planned': 2})
    assert len(child.groups()) == 1


def test_a_proxy_that_answers_for_a_child_hides_no_part(parent, child):
    child.is_behind_proxy = True
    assert parent.get(parent.group)['members'] == {'planned': 2}
    (reason,) = parent.replan()['reasons']
    assert 'does not answer' in reason['message']
    assert refusal(parent.delete())[1] == 'holistic.child_failed'
    child.is_behind_proxy = False
    assert len(child.groups()) == 1
    assert parent.delete().status_int == 204


def test_the_project_of_a_part_of_an_earlier_release_is_read(parent):
    """The parts that an earlier release has written do not have it."""
    with parent.table.database.engine.begin() as link:
        link.exec_driver_sql(
            'update holistic_federation_parts set child_project = null')
    parent.get(parent.group)
    (part,) = parent.table.parts.of_group(parent.group)
    assert part.child_project == 'blue'


def test_an_update_of_a_part_in_another_project_is_refused(parent, child):
    parent.children.token = RED
    document = {**SHOP, 'groups': [{'name': 'db', 'members': [
        {'name': 'node', 'count': 4, 'resources': {'VCPU': 1}}]}]}
    answer = parent.ask('PUT', f'/v1/groups/{parent.group}', {
        'group': document}, headers={'If-Match': '"1"'})
    assert answer.status_int == 202, answer.text
    after = parent.settled(parent.group)
    assert after['revision'] == 1
    first, second = after['reasons']
    assert first['message'] == (
        'no cloud accepts the request with the rights of the user there '
        '(dfw), and so no cloud has decided whether the group fits; the '
        'answer of each cloud follows')
    assert 'belongs to project blue of this cloud' in second['message']
