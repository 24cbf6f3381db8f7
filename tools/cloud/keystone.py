# SPDX-License-Identifier: Apache-2.0
"""Keystone: users, projects, tokens and the catalog."""

from collections.abc import Mapping
import grp
import os
import pwd

from tools.cloud.layout import REGION, write
from tools.cloud.service import database, policies, WebService


class Keystone(WebService):
    name = 'keystone'
    application = 'keystone.wsgi.api'
    # The middleware of Keystone that validates tokens keeps the token of the
    # current request in an attribute of its only instance (its class is
    # AuthContextMiddleware). With several threads, a request can get the scope
    # of the token of another one, and Keystone refuses it with 403.
    workers = 2
    threads = 1
    lifetime = 3600
    """Lifetime of a token in seconds."""

    def prepare(self) -> None:
        self.configure()
        owner = (
            '--keystone-user', pwd.getpwuid(os.geteuid()).pw_name,
            '--keystone-group', grp.getgrgid(os.getegid()).gr_name)
        for kind in ('fernet', 'credential'):
            self._keys(kind).mkdir(mode=0o700)
        conf = self.layout.configuration(self.name) / 'keystone.conf'
        self.manage('keystone.cmd.manage:main', [
            ('--config-file', conf, *command) for command in (
                ('db_sync',), ('fernet_setup', *owner),
                ('credential_setup', *owner),
                ('bootstrap', '--bootstrap-password', self.layout.password,
                 '--bootstrap-region-id', REGION,
                 '--bootstrap-public-url', self.layout.identity,
                 '--bootstrap-internal-url', self.layout.identity))])

    def configure(self) -> None:
        write(self.layout.configuration(self.name) / 'keystone.conf', {
            'database': database(self.layout, 'keystone'),
            'token': {'provider': 'fernet', 'expiration': self.lifetime},
            'fernet_tokens': {'key_repository': self._keys('fernet')},
            'credential': {'key_repository': self._keys('credential')},
            # The passwords are random, so a low number of rounds is enough.
            # Every service sends its password.
            'identity': {'password_hash_rounds': 4},
            'cache': {
                'enabled': 'true', 'backend': 'dogpile.cache.pymemcache',
                'memcache_servers':
                    f'127.0.0.1:{self.layout.ports["memcached"]}'},
            **policies(self.layout, self.name)})

    def environment(self) -> Mapping[str, str]:
        return {'OS_KEYSTONE_CONFIG_DIR':
                str(self.layout.configuration(self.name))}

    def _keys(self, kind: str):
        return self.layout.state('keystone') / f'{kind}-keys'


class ShortKeystone(Keystone):
    """A second process of the same Keystone, whose tokens expire after a
    second.

    Tests start it to observe the expiry of tokens.
    """

    name = 'short-keystone'
    lifetime = 1

    def prepare(self) -> None:
        self.configure()
