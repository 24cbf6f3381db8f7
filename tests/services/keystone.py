# SPDX-License-Identifier: Apache-2.0
"""A Keystone of the tests, as a process."""

import functools
import sys

from keystoneauth1 import adapter, session
from keystoneauth1.identity import v3

from tests.services.background_processes import answers, Process
from tools.cloud.ports import free_ports

PASSWORD = 'secret'
CONFIGURATION = '''
[database]
connection = sqlite:///{directory}/keystone.sqlite
sqlite_synchronous = false
[token]
provider = fernet
[fernet_tokens]
key_repository = {directory}/fernet-keys
[identity]
password_hash_rounds = 4
[cache]
enabled = false
'''


class KeystoneServer:
    """Keystone over HTTP on loopback, with SQLite in a folder.

    :ivar url: URL of its API with the version
    """

    def __init__(self, directory):
        self._port, = free_ports(1)
        self._directory = directory
        self._process = None
        self.url = f'http://127.0.0.1:{self._port}/v3'

    def __enter__(self):
        (self._directory / 'keystone.conf').write_text(
            CONFIGURATION.format(directory=self._directory))
        (self._directory / 'fernet-keys').mkdir(mode=0o700)
        self._process = Process(
            [sys.executable, '-W', 'ignore', '-m',
             'tests.services.keystone_process', self._port, self._directory,
             PASSWORD], self._directory / 'keystone.log')
        self._process.wait_until(
            'keystone', lambda: answers(self._port), wait_seconds=300)
        return self

    def __exit__(self, *failure):
        self._process.kill()

    def session(self, user='admin', **scope):
        """A session of a user.

        :param scope: scope of its tokens, as options of keystoneauth
        """
        return session.Session(auth=v3.Password(
            self.url, username=user, password=PASSWORD,
            user_domain_id='default', **scope))

    @functools.cached_property
    def _admin(self):
        """Adapter of the administrator, who keeps one token."""
        return adapter.Adapter(
            self.session(system_scope='all'), endpoint_override=self.url)

    def create(self, resource, **fields):
        """Create an object of a kind; returns its ID."""
        several = f'{resource}s'
        # Keystone creates limits in lists, and other objects one at a time.
        many = resource.endswith('limit')
        created = self._admin.post(f'/{several}', json=(
            {several: [fields]} if many else {resource: fields})).json()
        return created[several][0]['id'] if many else created[resource]['id']

    def member(self, project, user):
        """Create a user who is a member of a new project; returns the ID of
        the project."""
        project = self.create('project', name=project, domain_id='default')
        self.user(user, project, 'member')
        return project

    def user(self, name, project, *roles):
        """Create a user with roles in a project; returns the user's ID.

        :param project: ID of the project
        """
        user = self.create('user', name=name, password=PASSWORD,
                           domain_id='default')
        for name in roles:
            (role,) = self._admin.get(f'/roles?name={name}').json()['roles']
            self._admin.put(
                f'/projects/{project}/users/{user}/roles/{role["id"]}')
        return user
