# SPDX-License-Identifier: Apache-2.0
"""A Cinder and this project's services, which all use one keystone."""

from base64 import urlsafe_b64encode
import sqlite3
import time
import uuid

from cinder import context
from cinder import objects
from cinder import policy
from keystoneauth1 import loading
from keystonemiddleware import auth_token  # noqa: F401
from oslo_config import cfg

from nova_holistic.table.store import PlacementTable
from tests.cinder.planned_cinder import PlannedCinder
from tests.services.background_processes import wait_for
from tests.services.keystone import PASSWORD
from tools.cloud import manual

AUTHTOKEN = 'keystone_authtoken'
PROCESS = 'tests.cinder.holistic_process'
"""The module of the processes of ``Services``."""

INVENTORY = '''
levels: [rack, host]
hosts:
  - name: cmp-1
    uuid: {host}
    location: [r1]
    resources: {{VCPU: {{total: 64}}}}
'''
POOLS = '''
pools:
  - {name: storage-1@array, location: [r2]}
  - {name: storage-2, location: [r2]}
'''

CONFIGURATION = '''
[DEFAULT]
transport_url = fake:///
log_file = {log}
[holistic_database]
connection = {table}
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
[nova]
auth_type = admin_token
endpoint = http://127.0.0.1:1
token = admin
[inventory]
driver = file
path = {folder}/inventory.yaml
[topology]
driver = file
path = {folder}/topology.yaml
[keystone_authtoken]
{account}
[cinder]
{account}
[boot]
{boot_account}
encryption_keys = {key}
poll_interval = 0.2
[engine]
heartbeat = 0.2
stale_after = 3
pickup_interval = 0.3
lease_interval = 0.5
reconcile_interval = 0
'''


def account(keystone, user):
    """The options of an account of a service, as in the manual."""
    return {'auth_type': 'password', 'auth_url': keystone.url,
            'username': user, 'password': PASSWORD,
            'user_domain_name': 'Default', 'project_name': 'service',
            'project_domain_name': 'Default'}


class KeystoneCinder(PlannedCinder):
    """A Cinder that checks tokens with keystone, with its default policies.

    Its entry in the catalog is that of Cinder's installation guide.
    """

    def __init__(self, url, keystone):
        """:param url: of the placement table"""
        super().__init__(url)
        self.keystone = keystone

    def setUp(self):
        super().setUp()
        admin = self.keystone.session(
            project_name='admin', project_domain_id='default')
        self.api.auth_result = {
            'x-auth-token': admin.get_token(),
            'x-server-management-url':
                f'{self.auth_url}/{admin.get_project_id()}'}
        service = self.keystone.create(
            'service', name='cinderv3', type='volumev3')
        for interface in 'public', 'internal':
            self.keystone.create(
                'endpoint', service_id=service, interface=interface,
                region_id='RegionOne', url=f'{self.auth_url}/%(project_id)s')

    def _get_flags(self):
        loading.register_auth_conf_options(cfg.CONF, AUTHTOKEN)
        cfg.CONF.register_opts(
            loading.get_auth_plugin_conf_options('password'), AUTHTOKEN)
        # The fixtures have read their own policies.
        policy.reset()
        self.addCleanup(policy.reset)
        return {**super()._get_flags(), 'auth_strategy': {'v': 'keystone'},
                'policy_file': {'v': 'none.yaml', 'g': 'oslo_policy'},
                **{name: {'v': value, 'g': AUTHTOKEN} for name, value
                   in account(self.keystone, 'cinder').items()}}

    def volumes_of(self, group):
        """The volumes of a group, as an administrator sees them, by path."""
        return {volume['metadata']['holistic_member']: volume
                for volume in self.all_volumes()
                if volume['metadata'].get('holistic_group') == group}

    def all_volumes(self):
        """The volumes of all projects."""
        return self.api.api_get('/volumes/detail?all_tenants=1')['volumes']

    def delete_all(self):
        for volume in objects.VolumeList.get_all(context.get_admin_context()):
            self.api.delete_volume(volume.id)
        for record in self.table.list_groups():
            self.table.delete_group(record.uuid)
        wait_for('no volumes', lambda: not objects.VolumeList.get_all(
            context.get_admin_context()))
        self.report_all()


class Services:
    """Processes of the API and of engines, for one table.

    :param forks: Forks of the module PROCESS
    :ivar table: PlacementTable
    """

    def __init__(self, cinder, placement, folder, forks):
        self.cinder = cinder
        self._forks = forks
        self.table = PlacementTable(cinder._url)
        self._folder = folder
        self._running = []
        host = str(uuid.uuid4())
        placement.adapter.post(
            '/resource_providers', json={'uuid': host, 'name': host},
            microversion='1.20')
        placement.adapter.put(
            f'/resource_providers/{host}/inventories', json={
                'resource_provider_generation': 0,
                'inventories': {'VCPU': {'total': 64}}}, microversion='1.20')
        inventory = INVENTORY.format(host=host)
        (folder / 'inventory.yaml').write_text(inventory)
        (folder / 'topology.yaml').write_text(inventory + POOLS)
        self._values = {
            'table': cinder._url, 'placement': placement.endpoint,
            'folder': folder, 'log': folder / 'holistic.log',
            'key': urlsafe_b64encode(b'k' * 32).decode()}

    def start(self, *people, crash_point=None, engine=True,
              trustee='holistic'):
        """Start the API and an engine; the people use this API.

        :param engine: false starts the API only
        :param trustee: the account of [boot]
        """
        file = self._folder / f'{uuid.uuid4().hex}.conf'
        file.write_text(CONFIGURATION.format(
            **self._values, account=self._account('holistic'),
            boot_account=self._account(trustee)))
        process = self._forks.start(
            {'file': str(file), 'engine': engine}, self._folder, crash_point)
        self._running.append(process)
        process.wait_until_ready()
        for each in people:
            each.url = process.url
        return process

    def _account(self, user):
        return '\n'.join(f'{name} = {value}' for name, value in account(
            self.cinder.keystone, user).items())

    def stop(self):
        for process in self._running:
            process.kill()

    def logs(self):
        return self._values['log'].read_text()


def create_accounts(keystone):
    """The users of the services, with the roles of the manual."""
    service = keystone.create(
        'project', name='service', domain_id='default')
    keystone.user('cinder', service, 'service')
    keystone.user('holistic', service, *manual.roles())
    # The account of [boot] can be separate. It needs a token, and no rights.
    keystone.user('trustee', service, 'reader')
    keystone.user('without role', service)


def expire_trusts(folder):
    """Let all trusts expire, in the database of keystone."""
    past = int((time.time() - 60) * 1e6)
    with sqlite3.connect(folder / 'keystone.sqlite') as database:
        database.execute(
            'UPDATE trust SET expires_at_int = ?, expires_at = ?',
            (past, '2020-01-01 00:00:00.000000'))
