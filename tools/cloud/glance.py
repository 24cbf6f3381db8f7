# SPDX-License-Identifier: Apache-2.0
"""Glance, which stores images as files."""

from collections.abc import Mapping

from tools.cloud.layout import write
from tools.cloud.processes import scripts, shared
from tools.cloud.service import database, policies, tokens, WebService


class Glance(WebService):
    name = 'glance'
    application = 'glance.wsgi.api'
    threads = 4

    def prepare(self) -> None:
        state = self.layout.state('glance')
        folder = {name: {'filesystem_store_datadir': state / kind}
                  for name, kind in (('file', 'images'),
                                     ('os_glance_staging_store', 'staging'),
                                     ('os_glance_tasks_store', 'tasks'))}
        conf = write(
            self.layout.configuration('glance') / 'glance-api.conf', {
                'DEFAULT': {
                    'enabled_backends': 'file:file',
                    'worker_self_reference_url': self.layout.url('glance')},
                'glance_store': {'default_backend': 'file'}, **folder,
                'database': database(self.layout, 'glance'),
                'paste_deploy': {
                    'flavor': 'keystone', 'config_file': shared(
                        'etc', 'glance', 'glance-api-paste.ini')},
                **policies(self.layout, self.name), **tokens(self.layout)})
        self.processes.run('glance-manage', [
            scripts('glance-manage'), '--config-file', conf, 'db_sync'])

    def environment(self) -> Mapping[str, str]:
        return {'OS_GLANCE_CONFIG_DIR':
                str(self.layout.configuration('glance'))}
