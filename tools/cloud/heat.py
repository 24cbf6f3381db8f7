# SPDX-License-Identifier: Apache-2.0
"""Heat: heat-api and one heat-engine, with the plug-ins of nova_holistic.

The engine is ``tools.cloud.heat_engine``. It is not imported here, because
Heat is installed only in the environment ``heat``.
"""

import pathlib
import subprocess
import sys

from tools.cloud import manual
from tools.cloud.layout import merged, Sections, write
from tools.cloud.processes import scripts, shared
from tools.cloud.service import (
    credentials, database, policies, tokens, WebService)

DOMAIN = 'heat'
"""The domain of the users that Heat creates for signals of a stack."""
DOMAIN_ADMIN = 'heat-domain-admin'
ENGINE = 'heat-engine'


class Heat(WebService):
    name = 'heat'
    application = 'heat.wsgi.api'
    threads = 4

    def prepare(self) -> None:
        layout = self.layout
        own = credentials(layout)
        options = merged(_plugin_options(), {
            'DEFAULT': {
                'transport_url': layout.broker, 'num_engine_workers': 1,
                'enable_stack_adopt': 'true', 'enable_stack_abandon': 'true',
                'auth_encryption_key': (layout.password * 2)[:32],
                'region_name_for_services': 'RegionOne',
                'heat_metadata_server_url': layout.url('heat'),
                'stack_user_domain_name': DOMAIN,
                'stack_domain_admin': DOMAIN_ADMIN,
                'stack_domain_admin_password': layout.password},
            'database': database(layout, 'heat'),
            'clients': {'endpoint_type': 'publicURL'},
            'clients_keystone': {'auth_uri': layout.identity},
            'trustee': {name: own[name] for name in (
                'auth_type', 'auth_url', 'username', 'password',
                'user_domain_id')},
            'paste_deploy': {'api_paste_config': shared(
                'etc', 'heat', 'api-paste.ini')},
            'oslo_messaging_rabbit': {
                'kombu_reconnect_delay': 0.5, 'rabbit_interval_max': 2},
            # In memory. The engine remembers for a minute which flavors and
            # images of a template exist.
            'cache': {'enabled': 'true', 'backend': 'dogpile.cache.memory'},
            **policies(layout, self.name), **tokens(layout)})
        write(self._conf, layout.with_options(self._conf.name, options))
        self.processes.run('heat-manage', [
            scripts('heat-manage'), '--config-file', self._conf, 'db_sync'])

    def start(self) -> None:
        super().start()
        self.start_engine()

    def start_engine(self, **options: object) -> None:
        """Start the engine.

        :param options: options of section DEFAULT, in addition to those of the
            cloud
        """
        further = write(self._conf.with_name('engine.conf'),
                        {'DEFAULT': options})
        self.processes.start(ENGINE, [
            sys.executable, '-m', 'tools.cloud.heat_engine',
            '--config-file', self._conf, '--config-file', further])

    def restart_engine(self, **options: object) -> None:
        """Restart the engine while all stacks are complete."""
        self.processes.kill(ENGINE)
        self.start_engine(**options)

    def options(self) -> dict[str, object]:
        # heat-api reads no environment variable with the path of its
        # configuration.
        return {'pyargv': f'--config-file {self._conf}'}

    @property
    def _conf(self) -> pathlib.Path:
        return self.layout.configuration('heat') / 'heat.conf'


def _plugin_options() -> Sections:
    """The options of the manual, with the folder that its command prints."""
    (_, _, *arguments), = manual.commands('$ python')
    folder = subprocess.run([sys.executable, *arguments], check=True,
                            capture_output=True, text=True).stdout.strip()
    return merged(manual.configuration('plugin_dirs', {}),
                  {'DEFAULT': {'plugin_dirs': folder}})
