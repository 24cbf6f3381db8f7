# SPDX-License-Identifier: Apache-2.0
"""Moves of servers through Nova's API; each returns where it ended."""

from nova_holistic.embedded.waiting import EmbeddedCloudError, wait_for

DONE = ('done', 'completed', 'confirmed', 'finished')
FAILED = ('error', 'failed', 'cancelled')


class MoveCalls:
    """Operations of an administrator on servers; mixed into the cloud."""

    def act(self, server, action, **arguments):
        """One server action, as the administrator."""
        self.compute.post(f'/servers/{server}/action',
                          json={action: arguments or None})

    def migrate(self, server, host=None):
        """Cold-migrate and confirm."""
        arguments = {'host': host} if host is not None else {}
        self.act(server, 'migrate', **arguments)
        return self._confirm(server)

    def resize(self, server, flavor):
        """Resize to a flavor and confirm."""
        self.act(server, 'resize', flavorRef=self.flavor_id(flavor))
        return self._confirm(server)

    def _confirm(self, server):
        self.wait_for_status(server, 'VERIFY_RESIZE')
        self.act(server, 'confirmResize')
        return self._settled(server, 'ACTIVE')

    def live_migrate(self, server, host=None):
        """Live-migrate."""
        migrations = len(self._migrations(server))
        self.act(server, 'os-migrateLive', host=host, block_migration='auto')
        return self._moved(server, migrations)

    def force_live_migration(self, server, host):
        """Live-migrate without asking the scheduler, as clients of 2.67 and
        before can."""
        migrations = len(self._migrations(server))
        self.compute.post(
            f'/servers/{server}/action', microversion='2.67',
            json={'os-migrateLive': {'host': host, 'force': True,
                                     'block_migration': 'auto'}})
        return self._moved(server, migrations)

    def evacuate(self, server):
        """Rebuild elsewhere; its compute has to be stopped first."""
        migrations = len(self._migrations(server))
        # From 2.95 on, an evacuated server is left stopped.
        self.compute.post(f'/servers/{server}/action', json={'evacuate': {}},
                          microversion='2.94')
        return self._moved(server, migrations)

    def shelve(self, server):
        """Shelve and offload: the server is on no host then."""
        self.act(server, 'shelve')
        self.wait_for_status(server, 'SHELVED_OFFLOADED')

    def unshelve(self, server):
        """Build it again on a host of the scheduler's choice."""
        self.act(server, 'unshelve')
        return self._settled(server, 'ACTIVE')

    def _migrations(self, server):
        return self.compute.get(
            f'/os-migrations?instance_uuid={server}').json()['migrations']

    def _moved(self, server, before):
        """Wait for one more migration than before to end."""
        def question():
            if self.progress.is_busy(server):
                return None
            migrations = self._migrations(server)
            if len(migrations) <= before:
                self._refuse_failed(server)
                return None
            latest = max(migrations, key=lambda migration: migration['id'])
            if latest['status'] in FAILED:
                raise EmbeddedCloudError(
                    f'{latest["migration_type"]} of server {server}: '
                    f'{latest["status"]}')
            return True if latest['status'] in DONE else None
        wait_for(question, f'server {server} moved')
        return self._settled(server, 'ACTIVE')

    def _refuse_failed(self, server):
        """Raise what the scheduler said when it found no host at all."""
        actions = self.compute.get(
            f'/servers/{server}/os-instance-actions').json()
        latest = actions['instanceActions'][0]
        if latest['message']:
            raise EmbeddedCloudError(
                f'{latest["action"]} of server {server}: {latest["message"]}')

    def _settled(self, server, status):
        return self.wait_for_status(server, status)['OS-EXT-SRV-ATTR:host']
