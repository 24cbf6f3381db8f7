# SPDX-License-Identifier: Apache-2.0
"""The API as clients reach it: through Keystone and HTTP."""

from dataclasses import dataclass
import logging

from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from openstackclient import shell
from osc_lib import clientmanager

from nova_holistic.client.client import Client
from nova_holistic.client.osc import plugin
from tests.unit.api.service import ADMIN, MEMBER, READER, OTHER_PROJECT
from tests.unit.client.keystone import Keystone, PASSWORD
from tests.unit.client.loopback import Loopback

USERS = {token.user: token for token in (MEMBER, READER, ADMIN, OTHER_PROJECT)}


@dataclass(frozen=True)
class Output:
    """The output of a command and its exit code."""

    code: int
    out: str
    err: str


class Cloud(Loopback):
    """:param others: URLs of other services by type"""

    def __init__(self, app, others=()):
        keystone = Keystone(USERS.values())
        apps = {'holistic': keystone.identified(app), **dict(others)}
        super().__init__({'/identity': keystone, **{
            f'/{name}': each for name, each in apps.items()}})
        keystone.catalog.update({
            'identity': f'{self.url}/identity/v3',
            **{name: f'{self.url}/{name}' for name in apps}})

    def client(self, user=MEMBER, **options):
        """The Python client of a user."""
        return Client(Session(auth=v3.Password(
            f'{self.url}/identity/v3', username=user.user, password=PASSWORD,
            user_domain_id='default', project_name=user.project,
            project_domain_id='default')), **options)

    def options(self, user=MEMBER):
        """The environment of a user of ``openstack``."""
        return ['--os-auth-type', 'password',
                '--os-auth-url', f'{self.url}/identity/v3',
                '--os-username', user.user, '--os-password', PASSWORD,
                '--os-project-name', user.project,
                '--os-user-domain-id', 'default',
                '--os-project-domain-id', 'default',
                '--os-identity-api-version', '3']


class Terminal:
    """Runs commands.

    :param capture: pytest's capsys
    """

    def __init__(self, cloud, capture):
        self._cloud = cloud
        self._capture = capture

    def openstack(self, *words, user=MEMBER):
        """Run ``openstack WORD ...`` in this process."""
        # A new process would have neither clients nor handlers.
        clientmanager.ClientManager.holistic = clientmanager.ClientCache(
            plugin.make_client)
        logging.getLogger().handlers.clear()
        self._capture.readouterr()
        try:
            code = shell.main([*self._cloud.options(user), *map(str, words)])
        except SystemExit as left:
            code = left.code
        output = self._capture.readouterr()
        return Output(code, output.out, output.err)
