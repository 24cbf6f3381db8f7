# SPDX-License-Identifier: Apache-2.0
"""nova_holistic: the API and two engines."""

import base64
from collections.abc import Mapping
import hashlib

from tools.cloud.layout import Layout, Sections, write
from tools.cloud.processes import scripts
from tools.cloud.service import credentials, database, tokens, WebService

ENGINES = ('engine-1', 'engine-2')
LEVELS = ('az', 'room', 'rack', 'host')


class Holistic(WebService):
    name = 'holistic'
    application = 'nova_holistic.api.wsgi'

    def prepare(self) -> None:
        layout = self.layout
        own = credentials(layout)
        common = shared_options(layout)
        conf = write(self._conf, layout.with_options(self._conf.name, {
            'DEFAULT': {'transport_url': layout.broker},
            'placement': own, 'nova': own, 'glance': own,
            'boot': {**own, 'encryption_keys': _key(layout),
                     'poll_interval': 0.5},
            # No engine on a busy machine counts as dead; a test that kills
            # one ages its last sign of life.
            'engine': {'heartbeat': 1, 'stale_after': 60,
                       'pickup_interval': 1, 'shutdown_timeout': 10,
                       'lease_interval': 5},
            'oslo_messaging_rabbit': {
                'kombu_reconnect_delay': 0.5, 'rabbit_interval_max': 2},
            **common, **tokens(layout)}))
        self.processes.run('nova-holistic-manage', [
            scripts('nova-holistic-manage'), '--config-file', conf,
            'db', 'upgrade'])

    def environment(self) -> Mapping[str, str]:
        return {'OS_NOVA_HOLISTIC_CONFIG_FILES': str(self._conf)}

    def start(self) -> None:
        self.start_api()
        for name in ENGINES:
            self.start_engine(name)

    def start_api(self) -> None:
        super().start()

    def start_engine(self, name: str) -> None:
        own = write(self.layout.configuration(name) / 'engine.conf', {
            'engine': {'host': name}})
        self.processes.start(name, [
            scripts('nova-holistic-engine'), '--config-file', self._conf,
            '--config-file', own])

    @property
    def _conf(self):
        return self.layout.configuration('holistic') / 'nova-holistic.conf'


def _key(layout: Layout) -> str:
    """A key for rights of users, always the same for one cloud."""
    return base64.urlsafe_b64encode(
        hashlib.sha256(layout.password.encode()).digest()).decode()


def shared_options(layout: Layout) -> Sections:
    """What has to be the same in nova.conf of the scheduler."""
    return {
        'holistic_database': database(layout, 'holistic'),
        'topology': {'driver': 'aggregates', 'levels': ','.join(LEVELS)}}
