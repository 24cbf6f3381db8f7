# SPDX-License-Identifier: Apache-2.0
"""Nova: the API, the conductor, our scheduler in place of Nova's, and a
process for each fake compute host."""

from collections.abc import Mapping
import sys

from tools.cloud import holistic
from tools.cloud.layout import merged, Sections, write
from tools.cloud.processes import scripts, shared
from tools.cloud.service import (
    credentials, database, policies, tokens, WebService)

SCHEDULER = 'nova-holistic-scheduler'
UNPATCHED = {'OS_NOVA_DISABLE_EVENTLET_PATCHING': '1'}
"""Environment of services that use threads and not greenlets, as some services
still do by default."""


class Nova(WebService):
    name = 'nova'
    application = 'nova.wsgi.osapi_compute'

    def prepare(self) -> None:
        folder = self.layout.configuration('nova')
        # nova-api requires both files in one folder.
        (folder / 'api-paste.ini').write_text(with_filter(
            shared('etc', 'nova', 'api-paste.ini').read_text()))
        for name, sections in (('nova.conf', self._controller()),
                               ('compute.conf', self._compute())):
            write(folder / name, self.layout.with_options(name, sections))
        self.manage('nova.cmd.manage:main', [
            ('--config-file', folder / 'nova.conf', *command) for command in (
                ('api_db', 'sync'),
                ('cell_v2', 'map_cell0', '--database_connection',
                 self.layout.database('nova_cell0')),
                ('cell_v2', 'create_cell', '--name', 'cell1'),
                # The schemas of both cells.
                ('db', 'sync'))], UNPATCHED)

    def environment(self) -> Mapping[str, str]:
        return UNPATCHED | {'OS_NOVA_CONFIG_DIR':
                            str(self.layout.configuration('nova'))}

    def start(self) -> None:
        super().start()
        for command in ('nova-conductor', SCHEDULER):
            self.start_command(command)
        self.processes.start('computes', [
            sys.executable, '-m', 'tools.cloud.computes',
            self.layout.directory], UNPATCHED)

    def start_command(self, command: str) -> None:
        """Start the conductor or the scheduler."""
        conf = self.layout.configuration('nova') / 'nova.conf'
        self.processes.start(
            command, [scripts(command), '--config-file', conf], UNPATCHED)

    def _controller(self) -> Sections:
        layout, common = self.layout, self._common()
        return merged(common, holistic.scheduler_options(layout), {
            # Without this option, the first search for new hosts is delayed
            # by up to a minute.
            'DEFAULT': {'periodic_fuzzy_delay': 0},
            'api_database': database(layout, 'nova_api'),
            'database': database(layout, 'nova_cell1'),
            'conductor': {'workers': 1},
            'scheduler': {'workers': 1,
                          'discover_hosts_in_cells_interval': 2},
            'filter_scheduler': {'track_instance_changes': 'false'},
            # Otherwise Nova validates its responses against its schemas.
            'api': {'response_validation': 'ignore'},
            'wsgi': {'api_paste_config': layout.configuration('nova')
                     / 'api-paste.ini'},
            'quota': {name: -1 for name in (
                'instances', 'cores', 'ram', 'server_groups',
                'server_group_members')},
            **policies(layout, self.name), **tokens(layout)})

    def _compute(self) -> Sections:
        common = self._common()
        return common | {
            # Periodic tasks of many hosts keep a small machine busy, and a
            # fake hypervisor does not change between two requests.
            'DEFAULT': common['DEFAULT'] | {
                'update_resources_interval': 600,
                'sync_power_state_interval': -1,
                'heal_instance_info_cache_interval': -1,
                'shelved_poll_interval': -1,
                # The cloud has a pool of each kind for each host.
                'executor_thread_pool_size': 4, 'default_thread_pool_size': 4,
                'max_concurrent_builds': 4, 'max_concurrent_snapshots': 4},
            'filter_scheduler': {'track_instance_changes': 'false'},
            'compute': {'resource_provider_association_refresh': 0},
            'vnc': {'enabled': 'false'}}

    def _common(self) -> Sections:
        layout = self.layout
        own = credentials(layout)
        return {
            'DEFAULT': {
                'transport_url': layout.broker, 'my_ip': '127.0.0.1',
                'state_path': layout.state('nova'),
                # Two reports per second, for any number of hosts, are enough
                # load for a small machine.
                'report_interval': max(10, layout.hosts // 2),
                'service_down_time': 180,
                # A pool starts one thread for each call up to this number.
                # Each thread wakes up every second to check whether it must
                # end.
                'executor_thread_pool_size': 16,
                'enabled_apis': 'osapi_compute', 'rpc_response_timeout': 60},
            'notifications': {'notification_format': 'versioned'},
            'oslo_messaging_notifications': {'driver': 'messagingv2'},
            'oslo_concurrency': {'lock_path': layout.state('nova') / 'locks'},
            'placement': own, 'neutron': own,
            'glance': {'endpoint_override': layout.url('glance')},
            'oslo_messaging_rabbit': {
                'kombu_reconnect_delay': 0.5, 'rabbit_interval_max': 2}}


def with_filter(paste: str) -> str:
    """Nova's api-paste.ini with our filter behind ``keystonecontext``, the
    filter that authenticates the user."""
    return paste.replace(' keystonecontext ', ' keystonecontext holistic ') + (
        '\n[filter:holistic]\npaste.filter_factory = '
        'nova_holistic.api.nova_filter:filter_factory\n')
