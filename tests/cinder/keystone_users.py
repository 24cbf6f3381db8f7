# SPDX-License-Identifier: Apache-2.0
"""Users of a keystone, of the API of groups and of Cinder."""

import uuid

from keystoneauth1.adapter import Adapter
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
import requests

from tests.cinder.planned_cinder import HINTS
from tests.services.background_processes import wait_for

LATEST = {'OpenStack-API-Version': 'holistic 1.7'}


class Person:
    """A user with a project.

    :ivar session: keystoneauth Session with a password
    :ivar url: URL of the API of groups
    """

    def __init__(self, keystone, role='member', project=None):
        """:param project: None means a new project"""
        self.keystone = keystone
        name = uuid.uuid4().hex
        self.project = project or keystone.create(
            'project', name=f'project of {name}', domain_id='default')
        self.user = keystone.user(name, self.project, role)
        self.session = keystone.session(name, project_id=self.project)
        self.url = None

    def ask(self, method, path, body=None, token=None, **headers):
        return requests.request(
            method, f'{self.url}/v1{path}', json=body, timeout=60, headers={
                'X-Auth-Token': token or self.session.get_token(),
                **LATEST, **headers})

    def request(self, document, key=None, **more):
        """Request a group; returns the response."""
        headers = {'Idempotency-Key': key} if key else {}
        return self.ask('POST', '/groups', {
            'group': document, 'lease': 600, **more}, **headers)

    def create(self, document, **more):
        """Request a group; returns its UUID."""
        answer = self.request(document, **more)
        assert answer.status_code == 202, answer.text
        return answer.json()['group']['id']

    def shown(self, group):
        return self.ask('GET', f'/groups/{group}').json()['group']

    def ended(self, group):
        """The creation of the volumes of a group, when it has ended."""
        return wait_for(f'volumes of {group}', lambda: self._ended(group))

    def _ended(self, group):
        shown = self.shown(group)
        assert shown['status'] in ('planning', 'planned'), shown
        creation = shown['volume_creation']
        return creation if creation['status'] != 'creating' else None

    def volumes(self, group):
        """The volumes in the list of members, by path."""
        return {each['member']: each for each in self.ask(
            'GET', f'/groups/{group}/placements').json()['volumes']}

    def states(self, group):
        return {path: each['creation'] and each['creation']['state']
                for path, each in self.volumes(group).items()}

    @property
    def cinder(self):
        """Cinder as the catalog of the user has it."""
        return Adapter(self.session, service_type='block-storage')

    def create_volume(self, group, path, size):
        """Create the volume of a member, as ``openstack volume create``."""
        return self.cinder.post('/volumes', microversion='3.0', json={
            'volume': {'size': size}, HINTS: {
                'holistic_group': group,
                'holistic_member': path}}).json()['volume']['id']

    @property
    def trusts(self):
        return Adapter(
            self.session, endpoint_override=self.keystone.url).get(
                f'/OS-TRUST/trusts?trustor_user_id={self.user}').json()[
                    'trusts']

    def delete_trusts(self):
        for trust in self.trusts:
            Adapter(self.session, endpoint_override=self.keystone.url).delete(
                f'/OS-TRUST/trusts/{trust["id"]}')

    def lose_role(self):
        """An administrator removes the user from the project."""
        admin = Adapter(self.keystone.session(system_scope='all'),
                        endpoint_override=self.keystone.url)
        path = f'/projects/{self.project}/users/{self.user}/roles'
        for role in admin.get(path).json()['roles']:
            admin.delete(f'{path}/{role["id"]}')

    def application_token(self):
        """A token of an application credential of the user."""
        made = Adapter(self.session, endpoint_override=(
            f'{self.keystone.url}/users/{self.user}')).post(
                '/application_credentials', json={'application_credential': {
                    'name': 'script'}}).json()['application_credential']
        return Session(v3.ApplicationCredential(
            self.keystone.url, application_credential_id=made['id'],
            application_credential_secret=made['secret'])).get_token()
