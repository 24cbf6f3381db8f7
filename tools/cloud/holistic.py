# SPDX-License-Identifier: Apache-2.0
"""nova_holistic: the API and two engines."""

import base64
from collections.abc import Mapping
import hashlib

from tools.cloud import manual
from tools.cloud.layout import Layout, merged, Sections, write
from tools.cloud.processes import scripts
from tools.cloud.service import credentials, database, policies, WebService

ENGINES = ('engine-1', 'engine-2')
LEVELS = ('az', 'room', 'rack', 'host')


class Holistic(WebService):
    name = 'holistic'
    application = 'nova_holistic.api.wsgi'

    def prepare(self) -> None:
        layout = self.layout
        options = merged(_configuration(layout), shared_options(layout),
                         policies(layout, self.name), {
            'keystone_authtoken': {'service_token_roles_required': 'true'},
            'boot': {**credentials(layout), 'encryption_keys': _key(layout),
                     'poll_interval': 0.5},
            # An engine on a busy machine must not count as failed. Tests that
            # kill an engine age its last heartbeat.
            'engine': {'heartbeat': 1, 'stale_after': 60,
                       'pickup_interval': 1, 'shutdown_timeout': 10,
                       'lease_interval': 5},
            'oslo_messaging_rabbit': {
                'kombu_reconnect_delay': 0.5, 'rabbit_interval_max': 2}})
        conf = write(self._conf,
                     layout.with_options(self._conf.name, options))
        (program, *words), = manual.commands('nova-holistic-manage db')
        self.processes.run(program, [
            scripts(program), '--config-file', conf, *words])

    def environment(self) -> Mapping[str, str]:
        return {'OS_NOVA_HOLISTIC_CONFIG_FILES': str(self._conf)}

    def options(self) -> Mapping[str, object]:
        # The number of threads fits the configuration of the manual.
        return {'threads': manual.uwsgi_options()['threads']}

    def start(self) -> None:
        self.start_api()
        for name in ENGINES:
            self.start_engine(name)

    def start_api(self) -> None:
        super().start()

    def start_engine(self, name: str) -> None:
        own = write(self.layout.configuration(name) / 'engine.conf', {
            'engine': {'host': name}})
        (program, *words), = manual.commands('nova-holistic-engine')
        files = {'/etc/nova-holistic/nova-holistic.conf': self._conf}
        self.processes.start(name, [
            scripts(program), *(files.get(word, word) for word in words),
            '--config-file', own])

    @property
    def _conf(self):
        return self.layout.configuration('holistic') / 'nova-holistic.conf'


def _configuration(layout: Layout) -> Sections:
    """The configuration file of the manual, with the values of this cloud."""
    return manual.configuration('transport_url', _values(layout))


def scheduler_options(layout: Layout) -> Sections:
    """The options of the manual for nova.conf, with those of this cloud."""
    return merged(manual.scheduler_configuration(_values(layout)),
                  shared_options(layout))


def _values(layout: Layout) -> dict[str, object]:
    """The values of this cloud for the values in the manual."""
    return {
        'rabbit://openstack:SECRET@controller:5672/': layout.broker,
        'mysql+pymysql://holistic:SECRET@controller/holistic?charset=utf8mb4':
            layout.database('holistic'),
        'http://controller:5000/v3': layout.identity,
        'controller:11211': f'127.0.0.1:{layout.ports["memcached"]}',
        'SECRET': layout.password}


def _key(layout: Layout) -> str:
    """The key that encrypts delegated rights of users.

    It is always the same for one cloud.
    """
    return base64.urlsafe_b64encode(
        hashlib.sha256(layout.password.encode()).digest()).decode()


def shared_options(layout: Layout) -> Sections:
    """Options that the scheduler needs, too, in its nova.conf."""
    return {
        'holistic_database': database(layout, 'holistic'),
        'topology': {'driver': 'aggregates', 'levels': ','.join(LEVELS)}}
