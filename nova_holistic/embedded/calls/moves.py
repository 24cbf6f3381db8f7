# SPDX-License-Identifier: Apache-2.0
"""Moves servers through Nova's API."""

from nova_holistic.embedded.waiting import EmbeddedCloudError, wait_for

DONE = ('done', 'completed', 'confirmed', 'finished')
FAILED = ('error', 'failed', 'cancelled')


class MoveCalls:
    """Operations of an administrator on servers; a mixin of ``EmbeddedCloud``.

    Operations that wait for their result raise EmbeddedCloudError if they fail
    or exceed the timeout.
    """

    def act(self, server, action, **arguments):
        """Request a server action as the administrator."""
        self.compute.post(f'/servers/{server}/action',
                          json={action: arguments or None})

    def migrate(self, server, host=None):
        """Cold-migrate a server, confirm, and return its new host."""
        arguments = {'host': host} if host is not None else {}
        self.act(server, 'migrate', **arguments)
        return self._confirm(server)

    def resize(self, server, flavor):
        """Resize a server to a flavor, confirm, and return its new host."""
        self.act(server, 'resize', flavorRef=self.flavor_id(flavor))
        return self._confirm(server)

    def _confirm(self, server):
        self.wait_for_status(server, 'VERIFY_RESIZE')
        self.act(server, 'confirmResize')
        return self._settled(server, 'ACTIVE')

    def live_migrate(self, server, host=None):
        """Live-migrate a server, and return its new host.

        :param host: name of the target; None: the scheduler selects a host
        """
        migrations = len(self._migrations(server))
        self.act(server, 'os-migrateLive', host=host, block_migration='auto')
        return self._moved(server, migrations)

    def force_live_migration(self, server, host):
        """Live-migrate a server without the scheduler, and return its host.
        Microversions up to 2.67 allow this."""
        migrations = len(self._migrations(server))
        self.compute.post(
            f'/servers/{server}/action', microversion='2.67',
            json={'os-migrateLive': {'host': host, 'force': True,
                                     'block_migration': 'auto'}})
        return self._moved(server, migrations)

    def evacuate(self, server):
        """Evacuate a server, and return its new host. The compute of the
        current host must be stopped first."""
        migrations = len(self._migrations(server))
        # From microversion 2.95 on, an evacuated server remains stopped.
        self.compute.post(f'/servers/{server}/action', json={'evacuate': {}},
                          microversion='2.94')
        return self._moved(server, migrations)

    def shelve(self, server):
        """Shelve a server, and wait until it is offloaded from its host."""
        self.act(server, 'shelve')
        self.wait_for_status(server, 'SHELVED_OFFLOADED')

    def unshelve(self, server):
        """Unshelve a server, and return the host that the scheduler selected.
        """
        self.act(server, 'unshelve')
        return self._settled(server, 'ACTIVE')

    def _migrations(self, server):
        return self.compute.get(
            f'/os-migrations?instance_uuid={server}').json()['migrations']

    def _moved(self, server, before):
        """Wait for the end of a new migration, and return the server's host.

        :param before: number of earlier migrations of the server
        """
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
        """Raise an error if the latest action of the server has a message of
        failure, for example because the scheduler found no host."""
        actions = self.compute.get(
            f'/servers/{server}/os-instance-actions').json()
        latest = actions['instanceActions'][0]
        if latest['message']:
            raise EmbeddedCloudError(
                f'{latest["action"]} of server {server}: {latest["message"]}')

    def _settled(self, server, status):
        return self.wait_for_status(server, status)['OS-EXT-SRV-ATTR:host']
